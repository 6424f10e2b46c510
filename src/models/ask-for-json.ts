import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { LLMResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";
import { jsonReader, propertyOf } from "../input/plain-json.js";
import { modelWith } from "./limited-model.js";
import { argumentsText } from "./model-answer.js";
import { refusesForm } from "./provider-error.js";

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
      if (way === "words" || !refusesForm(error)) throw error;
    }
  }
}

async function askBy(way: Way, question: JsonQuestion): Promise<BaseMessage> {
  const { model, messages, name, signal } = question;
  let answer: BaseMessage | undefined;
  // Parsers that come after the model may throw its answer away.
  const witness = {
    awaitHandlers: true,
    handleLLMEnd({ generations }: LLMResult) {
      answer = (generations[0]?.[0] as { message?: BaseMessage } | undefined)?.message;
    },
  };
  // Keeps tokens out of users' streams and callbacks; a streaming callback changes how clients ask.
  const tags = ["nostream", "langsmith:nostream", "mnemograph"];
  const runName = `mnemograph.${name}`;
  // A client that waits by itself hides how long its provider asks to be left alone.
  const options = { tags, callbacks: [witness], signal, runName, maxRetries: 0 };
  try {
    const reply: unknown =
      way === "words"
        ? await model.invoke(inWords(question), options)
        : await bound(way, question).invoke(messages, options);
    if (BaseMessage.isInstance(reply)) return reply;
    return answer ?? new AIMessage(argumentsText(jsonReader()(reply)));
  } catch (error) {
    if (answer) return answer;
    throw error;
  }
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

/** ChatOpenAI leaves out a refusal, unless it keeps the response; those of streams may not merge. */
const withRefusals = (model: BaseChatModel): BaseChatModel =>
  "__includeRawResponse" in model && !propertyOf(model, "streaming")
    ? modelWith(model, { __includeRawResponse: true })
    : model;

function inWords({ messages: [system, ...others], schema }: JsonQuestion): BaseMessage[] {
  const wish = `Answer with JSON alone, by this schema: ${JSON.stringify(schema)}`;
  return [new SystemMessage(`${system?.text}\n${wish}`), ...others];
}
