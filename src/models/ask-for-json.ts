import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { jsonReader, propertyOf } from "../text/plain-json.js";
import { modelWith } from "./limited-model.js";

export interface JsonQuestion {
  readonly model: BaseChatModel;
  readonly messages: BaseMessage[];
  readonly name: string;
  /** JSON Schema, not zod: with zod, clients discard a whole answer for one wrong field. */
  readonly schema: Record<string, unknown>;
  readonly signal: AbortSignal;
}

/**
 * By a tool, in the client's own way, by words alone. The tool comes first, since ChatOpenAI's own
 * way parses the answer, and throws it away where anything is around its JSON.
 */
const ways = ["tool", "own", "words"] as const;
type Way = (typeof ways)[number];

/** The way that worked for a client, from which it is asked again. */
const wayOf = new WeakMap<object, number>();

/** The model's message, as it wrote it, asked for in the first way that the client takes. */
export async function askForJson(question: JsonQuestion): Promise<BaseMessage> {
  // Copies of a model share its caller.
  const client = question.model.caller ?? question.model;
  for (let at = wayOf.get(client) ?? 0; ; at++) {
    const way = ways[at] ?? "words";
    try {
      const message = await askBy(way, question);
      wayOf.set(client, at);
      return message;
    } catch (error) {
      if (way === "words" || !isUnable(error, way)) throw error;
    }
  }
}

/** Errors of clients without structured output, and of servers whose models lack tools. */
function isUnable(error: unknown, way: Way): boolean {
  if (!(error instanceof Error)) return false;
  const isParser = error.name === "SyntaxError" && way === "own";
  return isParser || /tool|function|schema|structured|response_?format/i.test(error.message);
}

async function askBy(way: Way, question: JsonQuestion): Promise<BaseMessage> {
  const { model, name, signal } = question;
  let answer: BaseMessage | undefined;
  // Parsers that come after the model may throw its answer away.
  const witness = {
    awaitHandlers: true,
    handleLLMEnd({ generations }: LLMResult) {
      answer = messageIn(generations[0]?.[0]);
    },
  };
  const [runnable, messages] =
    way === "words" ? [model, inWords(question)] : [bound(way, question), question.messages];
  try {
    const reply: unknown = await runnable.invoke(messages, {
      // Keeps tokens out of users' streams and callbacks; a streaming callback changes how clients
      // ask.
      tags: ["nostream", "langsmith:nostream", "mnemograph"],
      callbacks: [witness],
      signal,
      runName: `mnemograph.${name}`,
    });
    const text = () => (typeof reply === "string" ? reply : JSON.stringify(jsonReader()(reply)));
    return messageIn(reply) ?? answer ?? new AIMessage(text() ?? "");
  } catch (error) {
    if (answer) return answer;
    throw error;
  }
}

/** `value` itself, or the message within: `raw` of a structured output, or of a generation. */
function messageIn(value: unknown): BaseMessage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return [value, propertyOf(value, "raw"), propertyOf(value, "message")].find((one) =>
    BaseMessage.isInstance(one),
  ) as BaseMessage | undefined;
}

function bound(way: Way, { model, name, schema }: JsonQuestion): Runnable {
  return withRefusals(model).withStructuredOutput(schema, {
    name,
    includeRaw: true,
    ...(way === "tool" && { method: "functionCalling" }),
    ...(isOpenAI(model) && { strict: true }),
  });
}

/** Models with strict decoding; elsewhere `strict` is an error or changes the endpoint. */
const isOpenAI = (model: BaseChatModel): boolean =>
  ["openai", "azure_openai"].includes(model._llmType?.());

/** ChatOpenAI leaves out a refusal, unless it keeps the whole response. */
function withRefusals(model: BaseChatModel): BaseChatModel {
  const isAble = "__includeRawResponse" in model && "fields" in model;
  // The responses of a stream cannot always be merged.
  const isStreaming = "streaming" in model && model.streaming === true;
  return isAble && !isStreaming ? modelWith(model, { __includeRawResponse: true }) : model;
}

function inWords({ messages: [system, ...others], schema }: JsonQuestion): BaseMessage[] {
  const wish = `Answer with JSON alone, by this schema: ${JSON.stringify(schema)}`;
  return [new SystemMessage(`${system?.text}\n${wish}`), ...others];
}
