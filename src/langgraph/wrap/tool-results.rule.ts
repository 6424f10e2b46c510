import type { BaseMessage } from "@langchain/core/messages";
import { estimateTokens } from "../../text/estimate-tokens.js";
import { withFields } from "../../text/message-text.js";
import { isJsonObject } from "../../text/plain-json.js";

/**
 * `messages`, with a line in place of each older tool result once all together exceed `mostTokens`. All but the newest
 * half of that are replaced at once, so that prompts keep their prefix until the next time. The results of the last calls
 * stay whole. It depends on the messages so far only, so what was replaced stays replaced.
 * @param tools those that the agent can call
 */
export function withoutOldResults(
  messages: readonly BaseMessage[],
  mostTokens: number,
  tools: readonly unknown[],
): BaseMessage[] {
  const results = resultsIn(messages, new Set(tools.map((tool) => isJsonObject(tool) && tool.name)));
  let [replaced, lastCalls, wholeTokens] = [0, 0, 0];
  for (const [index, { place, tokens }] of results.entries()) {
    wholeTokens += tokens;
    if (isResult(messages[place + 1])) continue;
    // The model was asked here.
    const mostWhole = wholeTokens > mostTokens ? mostTokens / 2 : mostTokens;
    while (wholeTokens > mostWhole && replaced < lastCalls) wholeTokens -= results[replaced++]?.tokens ?? 0;
    lastCalls = index + 1;
  }
  const lines = new Map<BaseMessage, string | undefined>(
    results.slice(0, replaced).map(({ message, line }) => [message, line]),
  );
  return messages.map((message) => {
    const content = lines.get(message);
    return content === undefined ? message : withFields(message, { content });
  });
}

/** What is no longer than its line has none, and counts for nothing. */
function resultsIn(messages: readonly BaseMessage[], callable: ReadonlySet<unknown>) {
  const names = namesOfCalls(messages);
  return messages.flatMap((message, place) => {
    if (!isResult(message)) return [];
    const name = message.name ?? names.get(message.tool_call_id);
    const tokens = contentTokens(message.content);
    const line = lineOf(name ?? "a tool", tokens, callable.has(name));
    const isLong = tokens > estimateTokens(line);
    return [{ message, place, tokens: isLong ? tokens : 0, line: isLong ? line : undefined }];
  });
}

/** Calling again is the only way: results of this run are not in the transcript yet. */
function lineOf(name: string, tokens: number, isCallable: boolean): string {
  const again = isCallable ? " If you need it, repeat the call, unless that would do something twice." : "";
  return `[Result of ${name}, ${tokens.toLocaleString("en-US")} tokens, not shown any more.${again}]`;
}

/** Anthropic's most for an image; others count less. */
const partTokens = 1_600;

function contentTokens(content: BaseMessage["content"]): number {
  if (typeof content === "string") return estimateTokens(content);
  const textOf = (part: unknown) => (isJsonObject(part) ? part.text : part);
  const tokensOf = (text: unknown) => (typeof text === "string" ? estimateTokens(text) : partTokens);
  return content.reduce((sum, part) => sum + tokensOf(textOf(part)), 0);
}

function isResult(message: BaseMessage | undefined): message is BaseMessage & { tool_call_id: string } {
  return message?.getType() === "tool";
}

function namesOfCalls(messages: readonly BaseMessage[]): ReadonlyMap<string | undefined, string> {
  type Calls = { readonly tool_calls?: readonly { readonly id?: string; readonly name: string }[] };
  const calls = messages.flatMap((message) => (message as Calls).tool_calls ?? []);
  return new Map(calls.map(({ id, name }) => [id, name]));
}
