import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { z } from "zod";
import { withDeadline } from "../deadline.js";
import { MemoryError, UnusableOutput } from "../errors.js";
import { errorKind } from "../logger.js";
import { askForJson } from "./ask-for-json.js";
import { fitAnswers } from "./fit-answer.js";
import { answersIn, cutOffError, cutReason, rawText } from "./model-answer.js";
import { type Charge, tokenUsage } from "./token-usage.js";

export interface Omissions {
  /** Appended to the instructions, and to the input. */
  readonly instruction: string;
  readonly input: string;
  repeats(texts: readonly string[]): Promise<boolean>;
}

/** Who is asked, how long an answer may take, and what is told of its tokens. */
export interface Asking {
  readonly model: BaseChatModel;
  readonly timeoutMs: number;
  readonly charge?: Charge | undefined;
}

export interface StructuredCall<Output extends Record<string, unknown>> extends Asking {
  readonly name: string;
  readonly schema: z.ZodObject & z.ZodType<Output>;
  readonly instructions: string;
  readonly input: string;
  readonly onDropped?: ((items: number) => void) | undefined;
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
  const schema = wireSchema(call.schema);
  const first = await askOnce(call, schema, question);
  if ("value" in first) return first.value;
  const again = `Answer again as ${call.name}, with JSON alone, by this schema: ${JSON.stringify(schema)}`;
  const objection = new HumanMessage(`That answer cannot be used: ${first.problem}. ${again}`);
  const second = await askOnce(call, schema, [...question, new AIMessage(first.raw), objection]);
  if ("value" in second) return second.value;
  const { raw, problem, fault = problem } = second;
  throw new MemoryError(
    "MODEL_OUTPUT_INVALID",
    `The model twice gave an answer that is not a valid ${call.name}: ${fault}.`,
    { cause: new UnusableOutput(raw) },
  );
}

/** `raw` and `problem` go to the model, `raw` into the table, `fault`, or `problem`, into logs. */
interface Rejection {
  readonly raw: string;
  readonly problem: string;
  readonly fault?: string;
}

async function askOnce<Output extends Record<string, unknown>>(
  call: StructuredCall<Output>,
  schema: Record<string, unknown>,
  messages: BaseMessage[],
): Promise<{ readonly value: Output } | Rejection> {
  const { model, name, timeoutMs } = call;
  const reply = await withDeadline(timeoutMs, (signal) =>
    askForJson({ model, messages, name, schema, signal }),
  ).catch((cause: unknown) => {
    if (MemoryError.is(cause)) throw cause;
    throw new MemoryError("MODEL_FAILED", `The model call failed: ${errorKind(cause)}.`, { cause });
  });
  const asked = [...messages.map(({ text }) => text), JSON.stringify(schema)].join("\n");
  await call.charge?.(tokenUsage(reply, asked));
  const cut = cutReason(reply);
  const answers = answersIn(reply, name, cut !== undefined);
  const fitted = fitAnswers(call.schema, answers);
  if (!fitted) {
    if (cut !== undefined) throw cutOffError(cut);
    return { raw: rawText(reply), ...misfitOf(call.schema, answers) };
  }
  if (await call.omissions?.repeats(textsIn(fitted.value)))
    return { raw: "(left out)", problem: "it repeats what <forgotten> says" };
  const dropped = fitted.dropped + (cut === undefined ? 0 : 1);
  if (dropped > 0) call.onDropped?.(dropped);
  return { value: fitted.value as Output };
}

function misfitOf(schema: z.ZodObject, answers: readonly object[]): Omit<Rejection, "raw"> {
  if (answers.length === 0) return { problem: "it is not the whole JSON that was asked for" };
  if (answers.length > 1) return { problem: "it is several answers" };
  const { error = new z.ZodError([]) } = schema.safeParse(answers[0]);
  // Without the schema's messages, which quote the answer.
  const faults = error.issues
    .slice(0, 5)
    .map(({ path, code }) => `${path.map(String).join(".") || "it"} (${code})`);
  return { problem: z.prettifyError(error), fault: faults.join(", ") };
}

/** All texts except the reasoning, which is never stored. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "reasoning" ? [] : textsIn(inner),
  );
}

function wireSchema(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _, ...wire } = z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => void delete jsonSchema.default,
  });
  return wire;
}
