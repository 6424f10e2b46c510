import type { BaseMessage } from "@langchain/core/messages";
import { inTime } from "../deadline.js";
import { MemoryError } from "../errors.js";
import { jsonIn } from "./fit-answer.js";

export function malformed(output: string): Error {
  // Not in the message: logs must not contain texts of users and models.
  return Object.assign(new Error("The model's output cannot be used."), { output });
}

export function malformedOutput(error: unknown): string | null {
  const cause =
    error instanceof Error ? (error.cause as { output?: unknown } | undefined) : undefined;
  return typeof cause?.output === "string" ? cause.output : null;
}

/** Rejects with `MODEL_FAILED` after `timeoutMs`, also for models that ignore the signal. */
export async function withDeadline<Result>(
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  return answerInTime(timeoutMs, call(controller.signal)).catch((error: unknown) => {
    controller.abort();
    throw error;
  });
}

/** The same without a signal. */
export function answerInTime<Result>(timeoutMs: number, answer: Promise<Result>): Promise<Result> {
  const message = `The model did not answer within ${timeoutMs} ms.`;
  return inTime(timeoutMs, answer, () => new MemoryError("MODEL_FAILED", message));
}

const cutShort =
  /(?:^|_)(?:length)+(?:$|_)|context_?(?:window|length)|max_?(?:\w{1,20}_)?tokens?|tokens?_?limit|(?:max|token)_?length|insufficient_system_resource/i;
const withheld =
  /content_?filter|refusal|safety|recitation|blocklist|prohibited|spii|guardrail|toxic|blocked|moderation/i;

const reasonName = /^(?:(?:finish|stop|done|completion|block|incomplete)_?reason|reason)$/i;

/**
 * @throws MemoryError `MODEL_FAILED` if the token limit cut it; `MODEL_OUTPUT_INVALID` for refusals
 * and filters
 */
export function requireWhole(message: BaseMessage): void {
  const reasons = reasonsIn(message.response_metadata, 2);
  const cut = reasons.find((reason) => cutShort.test(reason));
  if (cut !== undefined) throw cutOff(cut);
  const refused = hasRefusal(message) ? "refusal" : undefined;
  const filtered = reasons.find((reason) => withheld.test(reason)) ?? refused;
  if (filtered !== undefined) throw refusal(filtered, malformed(rawText(message)));
}

/** Converts errors of clients for a token limit or filter; null for others. */
export function stopError(error: unknown): MemoryError | null {
  const name = error instanceof Error ? error.constructor.name : "";
  if (name === "LengthFinishReasonError") return cutOff("length", error);
  return name === "ContentFilterFinishReasonError" ? refusal("content_filter", error) : null;
}

function cutOff(reason: string, cause?: unknown): MemoryError {
  const problem = `The model's answer was cut by its token limit (${reason})`;
  const advice = "raise maxTokens of the model given to createMemory.";
  return new MemoryError("MODEL_FAILED", `${problem}: ${advice}`, { cause });
}

function refusal(reason: string, cause: unknown): MemoryError {
  const message = `The model did not answer, it was stopped by a filter or refused (${reason}).`;
  return new MemoryError("MODEL_OUTPUT_INVALID", message, { cause });
}

/** Single words only: errors must not quote a conversation. */
function reasonsIn(metadata: unknown, depth: number): string[] {
  if (typeof metadata !== "object" || metadata === null) return [];
  const entries = Array.isArray(metadata) ? [["", metadata[0]] as const] : Object.entries(metadata);
  return entries.flatMap(([name, value]) => {
    if (typeof value === "string")
      return reasonName.test(name) && /^\w{1,60}$/.test(value) ? [value] : [];
    return depth > 0 ? reasonsIn(value, depth - 1) : [];
  });
}

function hasRefusal({ content, additional_kwargs: given }: BaseMessage): boolean {
  if (typeof given?.refusal === "string" && given.refusal !== "") return true;
  return Array.isArray(content) && content.some((part) => part.type === "refusal");
}

export interface GivenAnswers {
  readonly values: readonly unknown[];
  readonly broken: boolean;
}

export function answersIn(message: BaseMessage, name: string): GivenAnswers {
  // Raw text first: LangChain closes interrupted streams, so that a cut list would seem empty.
  const calls = callsIn(message);
  const named = calls.filter((call) => call.name === name);
  const asked = named.length > 0 ? named : calls.slice(0, calls.length === 1 ? 1 : 0);
  if (asked.length === 0) {
    const value = jsonIn(message.text);
    return { values: value === undefined ? [] : [value], broken: false };
  }
  const values = asked.map(({ args }) => (typeof args === "string" ? jsonIn(args) : args));
  const given = values.filter((value) => value !== undefined);
  return { values: given, broken: given.length < values.length };
}

interface GivenCall {
  readonly name?: string | undefined;
  readonly args?: unknown;
}

function callsIn(message: BaseMessage): readonly GivenCall[] {
  type Lists = "tool_call_chunks" | "tool_calls" | "invalid_tool_calls";
  const lists = message as Partial<Record<Lists, GivenCall[]>>;
  type RawCall = { readonly function?: { readonly name?: string; readonly arguments?: unknown } };
  const raw = (message.additional_kwargs?.tool_calls ?? []) as readonly RawCall[];
  const written = raw.map((call) => ({
    name: call.function?.name,
    args: call.function?.arguments,
  }));
  const parsed = [...(lists.tool_calls ?? []), ...(lists.invalid_tool_calls ?? [])];
  return [lists.tool_call_chunks ?? [], written, parsed].find((list) => list.length > 0) ?? [];
}

export function rawText(message: BaseMessage): string {
  const calls =
    "tool_calls" in message && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  return (
    message.text || JSON.stringify(calls.map(({ args }: { args: unknown }) => args)) || "(nothing)"
  );
}
