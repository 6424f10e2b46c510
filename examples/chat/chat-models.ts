import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { OfflineChatModel } from "mnemograph/testing";

/** What the chat talks with. */
export interface ChatModels {
  /** Says what it is, before anything else is printed. */
  readonly about: string;
  /** Answers. */
  readonly model: BaseChatModel;
  /** Summarises in the background. */
  readonly summaryModel: BaseChatModel;
}

const defaultModel = "gpt-4.1-mini";

/**
 * Models of the OpenAI-compatible endpoint that `env` describes, or stand-ins when it has no key.
 */
export async function chatModels(env: NodeJS.ProcessEnv): Promise<ChatModels> {
  const apiKey = env.OPENAI_API_KEY;
  if (!apiKey) {
    return {
      about:
        "This is an offline stand-in, not a language model: it follows rules, since OPENAI_API_KEY is not set.",
      model: new OfflineChatModel(),
      summaryModel: new OfflineChatModel(),
    };
  }
  const { ChatOpenAI } = await import("@langchain/openai");
  const name = env.MNEMOGRAPH_CHAT_MODEL || defaultModel;
  const summaryName = env.MNEMOGRAPH_SUMMARY_MODEL || defaultModel;
  const baseURL = env.OPENAI_BASE_URL || "https://api.openai.com/v1";
  const open = (model: string) =>
    new ChatOpenAI({ model, apiKey, maxRetries: 2, configuration: { baseURL } });
  return {
    about: `You are talking to ${name} at ${new URL(baseURL).host}; ${summaryName} summarises.`,
    model: open(name),
    summaryModel: open(summaryName),
  };
}
