import type { BaseMessage } from "@langchain/core/messages";
import { estimateTokens } from "../text/estimate-tokens.js";
import { otherTokens } from "./attachments.js";
import { textOfParts, withFields } from "./message-text.js";

/**
 * Replaces older tool results by a line each once all together exceed `maxTokens`: all but the
 * newest half of that at a time, so that prompts keep their prefix. The last calls' results stay
 * whole. Depends on earlier messages only, so what was replaced stays replaced.
 */
export function withoutOldResults(
  messages: readonly BaseMessage[],
  maxTokens: number,
): BaseMessage[] {
  const shown = [...messages];
  const results = messages.flatMap((message, place) =>
    isResult(message) ? [asResult(message, place)] : [],
  );
  let [replaced, lastCalls, wholeTokens] = [0, 0, 0];
  for (const [index, { place, tokens }] of results.entries()) {
    wholeTokens += tokens;
    if (isResult(messages[place + 1])) continue;
    // The model was called here.
    const maxWhole = wholeTokens > maxTokens ? maxTokens / 2 : maxTokens;
    while (wholeTokens > maxWhole && replaced < lastCalls)
      wholeTokens -= results[replaced++]?.tokens ?? 0;
    lastCalls = index + 1;
  }
  for (const { place, short } of results.slice(0, replaced)) shown[place] = short;
  return shown;
}

function isResult(message: BaseMessage | undefined): boolean {
  return message?.getType() === "tool";
}

/** A result that is no longer than its line stays, and counts for nothing. */
function asResult(message: BaseMessage, place: number) {
  const tokens = estimateTokens(textOfParts(message.content)) + otherTokens(message.content);
  // Results of this run are not in the transcript yet, so only a repeated call returns them.
  const content =
    `[Result of ${message.name ?? "this call"}, ${tokens.toLocaleString("en-US")} tokens, not shown any more. ` +
    "If you need it, repeat the call, unless that would do something twice.]";
  if (tokens <= estimateTokens(content)) return { place, tokens: 0, short: message };
  return { place, tokens, short: withFields(message, { content }) };
}
