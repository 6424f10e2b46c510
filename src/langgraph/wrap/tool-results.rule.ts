import type { BaseMessage } from "@langchain/core/messages";
import { estimateTokens } from "../../text/estimate-tokens.js";
import { withFields } from "../../text/message-text.js";
import { isJsonObject } from "../../text/plain-json.js";

/**
 * `messages`, with a line in place of each older tool result once all together exceed `mostTokens`. All but the newest
 * half of that are replaced at once, so that prompts keep their prefix until the next time. The results of the last calls
 * stay whole. It depends on the messages so far only, so what was replaced stays replaced.
 */
export function withoutOldResults(messages: readonly BaseMessage[], mostTokens: number): BaseMessage[] {
  const shown = [...messages];
  const results = messages.flatMap((message, place) => (isResult(message) ? [asResult(message, place)] : []));
  let [replaced, lastCalls, wholeTokens] = [0, 0, 0];
  for (const [index, { place, tokens }] of results.entries()) {
    wholeTokens += tokens;
    if (isResult(messages[place + 1])) continue;
    // The model was asked here.
    const mostWhole = wholeTokens > mostTokens ? mostTokens / 2 : mostTokens;
    while (wholeTokens > mostWhole && replaced < lastCalls) wholeTokens -= results[replaced++]?.tokens ?? 0;
    lastCalls = index + 1;
  }
  for (const { place, short } of results.slice(0, replaced)) shown[place] = short;
  return shown;
}

function isResult(message: BaseMessage | undefined): boolean {
  return message?.getType() === "tool";
}

/** What is no longer than its line stays, and counts for nothing. */
function asResult(message: BaseMessage, place: number) {
  const tokens = contentTokens(message.content);
  // The one way to read it: results of this run are not in the transcript yet.
  const content =
    `[Result of ${message.name ?? "this call"}, ${tokens.toLocaleString("en-US")} tokens, not shown any more. ` +
    "If you need it, repeat the call, unless that would do something twice.]";
  if (tokens <= estimateTokens(content)) return { place, tokens: 0, short: message };
  return { place, tokens, short: withFields(message, { content }) };
}

/** Anthropic's most for an image; others count less. */
const partTokens = 1_600;

function contentTokens(content: BaseMessage["content"]): number {
  if (typeof content === "string") return estimateTokens(content);
  const tokensOf = (text: unknown) => (typeof text === "string" ? estimateTokens(text) : partTokens);
  return content.reduce((sum, part) => sum + tokensOf(isJsonObject(part) ? part.text : part), 0);
}
