import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { errorKind } from "../logger.js";
import { askForJson } from "./ask-for-json.js";
import { type FittedAnswer, fitAnswer } from "./fit-answer.js";
import {
  answersIn,
  cutOff,
  cutReason,
  rawText,
  UnusableOutput,
  withDeadline,
} from "./model-answer.js";
import { type Charge, tokenUsage } from "./token-usage.js";

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
  const first = await ask(call, question);
  if (first.valid) return accepted(first);
  const schema = JSON.stringify(wireSchema(call.schema));
  const again = `Answer again as ${call.name}, with JSON alone, by this schema: ${schema}`;
  const objection = new HumanMessage(`That answer cannot be used: ${first.problem}. ${again}`);
  const second = await ask(call, [...question, new AIMessage(first.raw), objection]);
  if (second.valid) return accepted(second);
  const problem = `The model twice gave an answer that is not a valid ${call.name}: ${second.fault}.`;
  throw new MemoryError("MODEL_OUTPUT_INVALID", problem, { cause: new UnusableOutput(second.raw) });
}

type Answer<Output> =
  | ({ valid: true } & FittedAnswer<Output>)
  /** `raw` and `problem` go to the model, `raw` into the table, `fault` into logs. */
  | { valid: false; raw: string; problem: string; fault: string };

const rejected = (raw: string, problem: string, fault = problem) => ({
  valid: false as const,
  raw,
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

async function ask<Output extends Record<string, unknown>>(
  call: StructuredCall<Output>,
  messages: BaseMessage[],
): Promise<Answer<Output>> {
  const { model, name, timeoutMs } = call;
  const schema = wireSchema(call.schema);
  let reply: BaseMessage;
  try {
    reply = await withDeadline(timeoutMs, (signal) =>
      askForJson({ model, messages, name, schema, signal }),
    );
  } catch (cause) {
    if (MemoryError.is(cause)) throw cause;
    throw new MemoryError("MODEL_FAILED", `The model call failed: ${errorKind(cause)}.`, { cause });
  }
  const asked = [...messages.map(({ text }) => text), JSON.stringify(schema)].join("\n");
  await call.charge?.(tokenUsage(reply, asked));
  const cut = cutReason(reply);
  const answer = readAnswers(call, reply, cut !== undefined);
  if (!answer.valid) {
    if (cut !== undefined) throw cutOff(cut);
    return answer;
  }
  if (await call.omissions?.repeats(textsIn(answer.value)))
    return rejected("(left out)", "it repeats what <forgotten> says");
  return cut === undefined ? answer : { ...answer, dropped: answer.dropped + 1 };
}

function readAnswers<Output extends Record<string, unknown>>(
  { schema, name }: StructuredCall<Output>,
  reply: BaseMessage,
  isCut: boolean,
): Answer<Output> {
  const answers = answersIn(reply, name, isCut);
  const [first = null, ...others] = answers.map((one) => fitAnswer<Output>(schema, one));
  const answer = others.reduce(joining<Output>(schema), first);
  if (answer) return { valid: true, ...answer };
  const raw = rawText(reply);
  if (answers.length === 0) return rejected(raw, "it is not the whole JSON that was asked for");
  if (answers.length > 1) return rejected(raw, "it is several answers");
  const { error = new z.ZodError([]) } = schema.safeParse(answers[0]);
  return rejected(raw, z.prettifyError(error), faultOf(error));
}

type Fitted<Output> = FittedAnswer<Output> | null;

/** Joins lists; null where other values differ. */
const joining =
  <Output extends Record<string, unknown>>({ shape }: z.ZodObject) =>
  (all: Fitted<Output>, other: Fitted<Output>): Fitted<Output> => {
    if (!all || !other) return null;
    const value: Record<string, unknown> = { ...all.value };
    for (const [name, field] of Object.entries(shape)) {
      const [mine, its] = [value[name], other.value[name]];
      if (Array.isArray(mine) && Array.isArray(its)) value[name] = [...mine, ...its];
      else if (mine !== its && !(field instanceof z.ZodDefault)) return null;
    }
    return { value: value as Output, dropped: all.dropped + other.dropped };
  };

function wireSchema(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _, ...wire } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => void delete jsonSchema.default,
  });
  return wire;
}

/** Omits the schema's messages, which quote the answer. */
function faultOf({ issues }: z.ZodError): string {
  return issues
    .slice(0, 5)
    .map(({ path, code }) => `${path.map(String).join(".") || "it"} (${code})`)
    .join(", ");
}
