import type { AIMessageChunk, BaseMessage } from "@langchain/core/messages";
import { MemoryError, UnusableOutput } from "../errors.js";
import { jsonIn } from "./read-json.js";

const cutShort =
  /(?:^|_)(?:length)+(?:$|_)|context_?(?:window|length)|max_?(?:\w{1,20}_)?tokens?|tokens?_?limit|(?:max|token)_?length|insufficient_system_resource/i;
const withheld =
  /content_?filter|refusal|safety|recitation|blocklist|prohibited|spii|guardrail|toxic|blocked|moderation/i;

const reasonName = /^(?:(?:finish|stop|done|completion|block|incomplete)_?reason|reason)$/i;

/**
 * Why the answer ends too early, by the token limit; undefined for others.
 * @throws MemoryError `MODEL_OUTPUT_INVALID` for refusals and filters
 */
export function cutReason(message: BaseMessage): string | undefined {
  const reasons = reasonsIn(message.response_metadata, 2);
  const refused = hasRefusal(message) ? "refusal" : undefined;
  const filtered = reasons.find((reason) => withheld.test(reason)) ?? refused;
  if (filtered === undefined) return reasons.find((reason) => cutShort.test(reason));
  const problem = `The model refused to answer, or a filter stopped it (${filtered}).`;
  const cause = new UnusableOutput(rawText(message), true);
  throw new MemoryError("MODEL_OUTPUT_INVALID", problem, { cause });
}

export function cutOffError(reason: string): MemoryError {
  const problem = `The model's answer was cut by its token limit (${reason})`;
  const advice = "raise maxTokens of the model given to createMemory.";
  return new MemoryError("MODEL_FAILED", `${problem}: ${advice}`);
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

/** In a field, a part of the content, or the raw response. Quotes within texts are escaped. */
const hasRefusal = ({ content, additional_kwargs: given }: BaseMessage): boolean =>
  /"refusal":"[^"]/.test(JSON.stringify([content, given]));

/** What the model answered: by calls, or in its text. Empty if a call cannot be read. */
export function answersIn(message: BaseMessage, name: string, isCut: boolean): object[] {
  const calls = callsIn(message);
  const named = calls.filter((call) => call.name === name);
  const asked = named.length > 0 ? named : calls.slice(0, calls.length === 1 ? 1 : 0);
  const given = asked.length > 0 ? asked.map(({ args }) => args) : [message.text];
  const found: object[] = [];
  for (const [at, args] of given.entries()) {
    const answer = jsonOf(args, isCut && at === given.length - 1);
    if (answer) found.push(answer);
    else if (!isCut) return [];
  }
  return found;
}

function jsonOf(args: unknown, isCut: boolean): object | undefined {
  const json = argumentsText(args);
  // The client closed what was cut.
  const isClosed = isCut && typeof args !== "string";
  return jsonIn(isClosed ? json.replace(/["\]}]+$/, "") : json, isCut);
}

export const argumentsText = (args: unknown): string =>
  typeof args === "string" ? args : (JSON.stringify(args) ?? "");

/** Raw text first: LangChain closes interrupted streams, so that a cut list would seem empty. */
function callsIn(message: BaseMessage): readonly { name?: string; args?: unknown }[] {
  const {
    tool_call_chunks = [],
    tool_calls = [],
    invalid_tool_calls = [],
  } = message as Partial<AIMessageChunk>;
  if (tool_call_chunks.length > 0) return tool_call_chunks;
  const { tool_calls: written = [] } = message.additional_kwargs ?? {};
  if (written.length === 0) return [...tool_calls, ...invalid_tool_calls];
  return written.map((call) => ({ name: call.function?.name, args: call.function?.arguments }));
}

/** What the model wrote: its text and the arguments of its calls. */
export function rawText(message: BaseMessage): string {
  const calls = callsIn(message).map(({ args }) => argumentsText(args));
  return [message.text, ...calls].filter(Boolean).join("\n") || "(nothing)";
}
