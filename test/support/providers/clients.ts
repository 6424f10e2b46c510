import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatAnthropic } from "@langchain/anthropic";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { ChatGoogle } from "@langchain/google";
import { ChatOpenAI } from "@langchain/openai";
import { afterEach } from "vitest";
import { anthropic } from "./anthropic.js";
import { google } from "./google.js";
import { openAIChat } from "./openai-chat.js";
import { openAIResponses } from "./openai-responses.js";
import type { Script } from "./provider.js";
import { type RunningProvider, startProvider } from "./provider-server.js";
import { strictCompatible } from "./strict-compatible.js";

const common = { apiKey: "none", maxRetries: 0 };

const openAI =
  (model: string, useResponsesApi: boolean, fetched = fetch) =>
  (origin: string, options: object) =>
    new ChatOpenAI({
      ...common,
      model,
      useResponsesApi,
      configuration: { baseURL: `${origin}/v1`, fetch: fetched },
      ...options,
    });

/**
 * `createAgent` names its answers, which such a server refuses without memory too: who uses both
 * takes the names out, as here.
 */
const withoutNamesOfAnswers: typeof fetch = (url, init) => {
  const body = JSON.parse(String(init?.body), (_, value) => {
    if (value?.role === "assistant") delete value.name;
    return value;
  });
  return fetch(url, { ...init, body: JSON.stringify(body) });
};

/** Each provider, and the LangChain model that calls it. */
const providers = {
  "chat completions": {
    start: (script: Script, limit?: number) => startProvider(openAIChat, script, limit),
    model: openAI("gpt-4.1-mini", false),
  },
  responses: {
    start: (script: Script, limit?: number) => startProvider(openAIResponses, script, limit),
    model: openAI("gpt-5-mini", true),
  },
  anthropic: {
    start: (script: Script, limit?: number) => startProvider(anthropic, script, limit),
    model: (origin: string, options: object) =>
      new ChatAnthropic({
        ...common,
        model: "claude-sonnet-4-5",
        clientOptions: { baseURL: origin },
        ...options,
      }),
  },
  google: {
    start: (script: Script, limit?: number) => startProvider(google, script, limit),
    model: (origin: string, options: object) =>
      new ChatGoogle({ ...common, model: "gemini-3-flash-preview", endpoint: origin, ...options }),
  },
  "strict compatible": {
    start: (script: Script, limit?: number) => startProvider(strictCompatible, script, limit),
    model: openAI("mistral-small", false, withoutNamesOfAnswers),
  },
};

export type ProviderName = keyof typeof providers;
export const providerNames = Object.keys(providers) as ProviderName[];

/** Options of a model with which its provider demands the reasoning back. */
export const reasoningOptions: Partial<Record<ProviderName, Record<string, unknown>>> = {
  anthropic: { thinking: { type: "enabled", budget_tokens: 1_024 }, maxTokens: 2_048 },
};

/** A server that demands alternating roles is given memory in the user's text. */
export const injectAsOf = (name: ProviderName) =>
  name === "strict compatible" ? ("text" as const) : undefined;

/** Starts providers that end with the test. `options` are those of the LangChain model. */
export function useProviders() {
  const running: RunningProvider[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((provider) => provider.close()));
  });
  return async (
    name: ProviderName,
    script: Script,
    { contextTokens, ...options }: { contextTokens?: number; [option: string]: unknown } = {},
  ) => {
    const provider = await providers[name].start(script, contextTokens);
    running.push(provider);
    const model: BaseChatModel = providers[name].model(provider.origin, options);
    return { ...provider, model };
  };
}

/** The AI SDK's model of an OpenAI-compatible provider. */
export const aiSDKModel = (origin: string) =>
  createOpenAICompatible({ name: "stub", baseURL: `${origin}/v1`, includeUsage: true }).chatModel(
    "gpt-4.1-mini",
  );
