import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { errorKind } from "../logger.js";
import { askForJson } from "./ask-for-json.js";
import { type FittedAnswer, fitAnswer } from "./fit-answer.js";
import { answersIn, cutOff, cutReason, malformed, rawText, withDeadline } from "./model-answer.js";
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
  const first = await askChecked(call, question);
  if (first.valid) return accepted(first.answer);
  const schema = JSON.stringify(wireSchema(call.schema));
  const again = `Answer again as ${call.name}, with JSON alone, by this schema: ${schema}`;
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
  const asked = () => [...messages.map(({ text }) => text), JSON.stringify(schema)].join("\n");
  await call.charge?.(tokenUsage(reply, { asked, answered: () => rawText(reply) }));
  const cut = cutReason(reply);
  const answer = readAnswers(call, reply, cut !== undefined);
  if (cut === undefined) return answer;
  if (!answer.valid) throw cutOff(cut);
  const { value, dropped } = answer.answer;
  return { valid: true, answer: { value, dropped: dropped + 1 } };
}

function readAnswers<Output extends Record<string, unknown>>(
  { schema, name }: StructuredCall<Output>,
  reply: BaseMessage,
  isCut: boolean,
): Answer<Output> {
  const answers = answersIn(reply, name, isCut);
  const answer = merged<Output>(
    schema,
    answers.map((one) => fitAnswer<Output>(schema, one)),
  );
  if (answer) return { valid: true, answer };
  const raw = rawText(reply);
  const given = { raw, output: raw };
  if (answers.length === 0) return rejected(given, "it is not the whole JSON that was asked for");
  if (answers.length > 1) return rejected(given, "it is several answers");
  const { error = new z.ZodError([]) } = schema.safeParse(answers[0]);
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
