import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { errorKind } from "../logger.js";
import { malformed } from "./malformed-output.js";
import { withDeadline } from "./with-deadline.js";

/** A question to the model whose answer must fit a schema. */
export interface StructuredCall<Output extends Record<string, unknown>> {
  readonly model: BaseChatModel;
  /** Name of the schema on the wire. */
  readonly name: string;
  readonly schema: z.ZodType<Output>;
  readonly instructions: string;
  readonly input: string;
  readonly timeoutMs: number;
}

/**
 * Keeps background calls out of a user's run: no tokens in its streams, no callbacks of its. Under an
 * inherited streaming callback ChatOpenAI also parses structured output differently, or not at all.
 */
const apart = { tags: ["nostream", "langsmith:nostream", "mnemograph"], callbacks: [] };

/**
 * The model's answer, checked against the schema; a malformed one is sent back once with what is wrong.
 *
 * @throws MemoryError `MODEL_OUTPUT_INVALID` after the second malformed answer, which `malformedOutput` gives;
 *   `MODEL_TIMEOUT`; `MODEL_FAILED` when the call itself fails.
 */
export async function callStructured<Output extends Record<string, unknown>>(
  call: StructuredCall<Output>,
): Promise<Output> {
  const question = [new SystemMessage(call.instructions), new HumanMessage(call.input)];
  const first = await ask(call, question);
  if (first.valid) return first.output;
  const second = await ask(call, [
    ...question,
    new AIMessage(first.raw),
    new HumanMessage(
      `That answer cannot be used: ${first.problem}. Answer again as ${call.name}, with every field filled in.`,
    ),
  ]);
  if (second.valid) return second.output;
  throw new MemoryError(
    "MODEL_OUTPUT_INVALID",
    `The model twice gave an answer that is not a valid ${call.name}: ${second.fault}.`,
    { cause: malformed(second.output) },
  );
}

type Answer<Output> =
  | { valid: true; output: Output }
  /** `raw` and `problem` are what the model is told, `output` is what is kept of it, `fault` what logs may hold. */
  | { valid: false; raw: string; output: string; problem: string; fault: string };

async function ask<Output extends Record<string, unknown>>(
  call: StructuredCall<Output>,
  messages: BaseMessage[],
): Promise<Answer<Output>> {
  const structured = call.model.withStructuredOutput<Output>(call.schema, {
    name: call.name,
    includeRaw: true,
  });
  let answer: { raw: BaseMessage; parsed: unknown };
  try {
    answer = await withDeadline(call.timeoutMs, (signal) =>
      structured.invoke(messages, { ...apart, signal, runName: `mnemograph.${call.name}` }),
    );
  } catch (cause) {
    if (MemoryError.is(cause)) throw cause;
    if (isParserError(cause)) {
      const problem = "it is not valid JSON";
      return { valid: false, raw: "(unreadable)", output: unparsed(cause), problem, fault: problem };
    }
    throw new MemoryError("MODEL_FAILED", `The model call failed: ${errorKind(cause)}.`, { cause });
  }
  const parsed = call.schema.safeParse(answer.parsed);
  if (parsed.success) return { valid: true, output: parsed.data };
  const raw = rawText(answer.raw);
  const wrong = { valid: false as const, raw, output: raw };
  if (answer.parsed == null) {
    const problem = "it is not the JSON that was asked for";
    return { ...wrong, problem, fault: problem };
  }
  return { ...wrong, problem: z.prettifyError(parsed.error), fault: faultOf(parsed.error) };
}

/** Where an answer does not fit, and in what way; the schema's own messages quote what the model made up. */
function faultOf({ issues }: z.ZodError): string {
  return issues
    .slice(0, 5)
    .map(({ path, code }) => `${path.map(String).join(".") || "it"} (${code})`)
    .join(", ");
}

/** ChatOpenAI throws what its parser says, where other models return `parsed: null`. */
function isParserError(error: unknown): boolean {
  const names = ["SyntaxError", "ZodError", "$ZodError", "OutputParserException"];
  return error instanceof Error && (names.includes(error.name) || names.includes(error.constructor.name));
}

/** What a parser could not read. OpenAI's client keeps it to itself: then the error's words are all there is. */
function unparsed(error: unknown): string {
  const { llmOutput, message } = error as { llmOutput?: unknown; message: string };
  return typeof llmOutput === "string" && llmOutput !== "" ? llmOutput : message;
}

/** The malformed answer as text: it may be prose, or a tool call with wrong arguments. */
function rawText(message: BaseMessage): string {
  const calls = "tool_calls" in message && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  return (
    message.text || JSON.stringify(calls.map((toolCall: { args: unknown }) => toolCall.args)) || "(nothing)"
  );
}
