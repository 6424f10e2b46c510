import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { errorKind } from "../logger.js";
import { jsonReader } from "../text/plain-json.js";
import { type FittedAnswer, fitAnswer } from "./fit-answer.js";
import {
  answersIn,
  type GivenAnswers,
  malformed,
  rawText,
  requireWhole,
  stopError,
  withDeadline,
} from "./model-answer.js";
import { type Charge, type CountedCall, tokensUntilCut, tokenUsage } from "./token-usage.js";

export interface Omissions {
  /** Appended to the instructions, and to the input. */
  readonly instruction: string;
  readonly input: string;
  repeats(texts: readonly string[]): Promise<boolean>;
}

export interface StructuredCall<Output extends Record<string, unknown>> {
  readonly model: BaseChatModel;
  readonly name: string;
  readonly schema: z.ZodObject & z.ZodType<Output>;
  readonly instructions: string;
  readonly input: string;
  readonly timeoutMs: number;
  readonly onDropped?: (items: number) => void;
  readonly charge?: Charge | undefined;
  readonly omissions?: Omissions | undefined;
}

// Keeps tokens out of users' streams and callbacks; a streaming callback changes how ChatOpenAI
// parses.
const hidden = { tags: ["nostream", "langsmith:nostream", "mnemograph"], callbacks: [] };

/**
 * Returns a malformed answer to the model once.
 * @throws MemoryError `MODEL_OUTPUT_INVALID`, `MODEL_FAILED`
 */
export async function callStructured<Output extends Record<string, unknown>>(
  call: StructuredCall<Output>,
): Promise<Output> {
  const { instruction = "", input = "" } = call.omissions ?? {};
  const question = [
    new SystemMessage(call.instructions + instruction),
    new HumanMessage(input === "" ? call.input : `${call.input}\n${input}`),
  ];
  const accepted = ({ value, dropped }: FittedAnswer<Output>) => {
    if (dropped > 0) call.onDropped?.(dropped);
    return value;
  };
  const first = await askChecked(call, question);
  if (first.valid) return accepted(first.answer);
  const again = `Answer again as ${call.name}, with every field filled in.`;
  const objection = new HumanMessage(`That answer cannot be used: ${first.problem}. ${again}`);
  const second = await askChecked(call, [...question, new AIMessage(first.raw), objection]);
  if (second.valid) return accepted(second.answer);
  const problem = `The model twice gave an answer that is not a valid ${call.name}: ${second.fault}.`;
  throw new MemoryError("MODEL_OUTPUT_INVALID", problem, { cause: malformed(second.output) });
}

type Answer<Output> =
  | { valid: true; answer: FittedAnswer<Output> }
  /** `raw` and `problem` go to the model, `output` into the table, `fault` into logs. */
  | { valid: false; raw: string; output: string; problem: string; fault: string };

const rejected = (given: { raw: string; output: string }, problem: string, fault = problem) => ({
  valid: false as const,
  ...given,
  problem,
  fault,
});

/** All texts except the reasoning, which is never stored. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "reasoning" ? [] : textsIn(inner),
  );
}

async function askChecked<Output extends Record<string, unknown>>(
  call: StructuredCall<Output>,
  messages: BaseMessage[],
): Promise<Answer<Output>> {
  const answer = await ask(call, messages);
  if (!answer.valid || !(await call.omissions?.repeats(textsIn(answer.answer.value))))
    return answer;
  return rejected({ raw: "(left out)", output: "" }, "it repeats what <forgotten> says");
}

async function ask<Output extends Record<string, unknown>>(
  call: StructuredCall<Output>,
  messages: BaseMessage[],
): Promise<Answer<Output>> {
  let reply: { raw: BaseMessage; parsed: unknown };
  const wire = wireSchema(call.schema);
  const charge = async (message: BaseMessage | null, answered: CountedCall["answered"]) => {
    const asked = () => [...messages.map(({ text }) => text), JSON.stringify(wire)].join("\n");
    await call.charge?.(tokenUsage(message, { asked, answered }));
  };
  try {
    const structured = call.model.withStructuredOutput(wire, {
      name: call.name,
      includeRaw: true,
      ...(isOpenAI(call.model) && { strict: true }),
    });
    reply = await withDeadline(call.timeoutMs, (signal) =>
      structured.invoke(messages, { ...hidden, signal, runName: `mnemograph.${call.name}` }),
    );
  } catch (cause) {
    if (MemoryError.is(cause)) throw cause;
    const stopped = stopError(cause);
    if (stopped) {
      await charge(null, () => (stopped.code === "MODEL_FAILED" ? tokensUntilCut(call.model) : ""));
      throw stopped;
    }
    if (isParserError(cause)) {
      const output = unparsed(cause);
      await charge(null, () => output);
      return rejected({ raw: "(unreadable)", output }, "it is not valid JSON");
    }
    throw new MemoryError("MODEL_FAILED", `The model call failed: ${errorKind(cause)}.`, { cause });
  }
  const { raw, parsed } = reply;
  if (!BaseMessage.isInstance(raw)) {
    await charge(null, () => JSON.stringify(jsonReader()(parsed)) ?? "");
    return readAnswers(call, { values: [parsed], broken: false }, "(unreadable)");
  }
  await charge(raw, () => rawText(raw));
  requireWhole(raw);
  return readAnswers(call, answersIn(raw, call.name), rawText(raw));
}

function readAnswers<Output extends Record<string, unknown>>(
  { schema }: StructuredCall<Output>,
  { values, broken }: GivenAnswers,
  raw: string,
): Answer<Output> {
  const given = { raw, output: raw };
  if (broken) return rejected(given, "it is not complete JSON");
  const fitted = values.map((value) => fitAnswer<Output>(schema, value));
  const answer = merged<Output>(schema, fitted);
  if (answer) return { valid: true, answer };
  if (values.length === 0) return rejected(given, "it is not the JSON that was asked for");
  if (values.length > 1) return rejected(given, "it is several answers");
  const { error = new z.ZodError([]) } = schema.safeParse(values[0]);
  return rejected(given, z.prettifyError(error), faultOf(error));
}

function merged<Output extends Record<string, unknown>>(
  schema: z.ZodObject,
  answers: readonly (FittedAnswer<Output> | null)[],
): FittedAnswer<Output> | null {
  const [first, ...others] = answers;
  if (!first) return null;
  return others.reduce<FittedAnswer<Output> | null>((all, other) => {
    if (!all || !other) return null;
    const value: Record<string, unknown> = { ...all.value };
    for (const [name, field] of Object.entries(schema.shape)) {
      const [mine, its] = [value[name], other.value[name]];
      if (Array.isArray(mine) && Array.isArray(its)) value[name] = [...mine, ...its];
      else if (mine !== its && !(field instanceof z.ZodDefault)) return null;
    }
    return { value: value as Output, dropped: all.dropped + other.dropped };
  }, first);
}

/** JSON Schema, not zod: with zod, clients discard a whole answer for one wrong field. */
function wireSchema(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _, ...wire } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => void delete jsonSchema.default,
  });
  return wire;
}

/** Models with strict decoding; elsewhere `strict` is an error or changes the endpoint. */
const isOpenAI = (model: BaseChatModel): boolean =>
  ["openai", "azure_openai"].includes(model._llmType());

/** Omits the schema's messages, which quote the answer. */
function faultOf({ issues }: z.ZodError): string {
  return issues
    .slice(0, 5)
    .map(({ path, code }) => `${path.map(String).join(".") || "it"} (${code})`)
    .join(", ");
}

/** ChatOpenAI throws its parser's error; other models return `parsed: null`. */
function isParserError(error: unknown): boolean {
  const names = ["SyntaxError", "ZodError", "$ZodError", "OutputParserException"];
  return (
    error instanceof Error && (names.includes(error.name) || names.includes(error.constructor.name))
  );
}

/** OpenAI's client omits the text; then the error's message remains. */
function unparsed(error: unknown): string {
  const { llmOutput, message } = error as { llmOutput?: unknown; message: string };
  return typeof llmOutput === "string" && llmOutput !== "" ? llmOutput : message;
}
