import type { BaseMessage } from "@langchain/core/messages";
import { otherTokens, withReferences } from "../messages/attachments.js";
import { spokenText, withFields } from "../messages/message-text.js";
import { answeredCall, callsOf } from "../messages/tool-calls.rule.js";
import { readTokens } from "../text/estimate-tokens.js";
import { withinBounds } from "../text/text-pieces.js";

export type RecentMessages = {
  readonly messages: readonly BaseMessage[];
  readonly shortened: readonly string[];
};

/**
 * The last whole turns that fit. A single longer one loses its first tool calls, then the middle of
 * its texts.
 */
export function recentMessages(covered: readonly BaseMessage[], maxTokens: number): RecentMessages {
  const turns = turnsOf(covered);
  let left = maxTokens;
  const first = turns.findLastIndex((turn) => {
    left -= tokensOf(turn);
    return left < 0;
  });
  const fitting = turns.slice(first + 1);
  const last = turns.at(-1);
  if (fitting.length > 0 || last === undefined) return { messages: fitting.flat(), shortened: [] };
  return shorterTurn(last, maxTokens);
}

function turnsOf(messages: readonly BaseMessage[]): BaseMessage[][] {
  const turns: BaseMessage[][] = [];
  for (const message of messages) {
    if (turns.length === 0 || message.getType() === "human") turns.push([]);
    turns.at(-1)?.push(message);
  }
  return turns;
}

function shorterTurn(turn: readonly BaseMessage[], maxTokens: number): RecentMessages {
  let kept = [...turn];
  while (tokensOf(kept) > maxTokens) {
    const call = kept.find((message) => callsOf(message).length > 0);
    if (call === undefined) return shorterTexts(kept, maxTokens);
    const ids = new Set(callsOf(call).map(({ id }) => id));
    kept = kept.filter((message) => message !== call && !ids.has(answeredCall(message)));
  }
  return { messages: kept, shortened: [] };
}

export function shorterTexts(messages: readonly BaseMessage[], maxTokens: number): RecentMessages {
  const texts = messages.map((message) => ({ message, text: spokenText(withReferences(message)) }));
  const { items } = withinBounds(texts, { inputBudgetTokens: maxTokens, maxPieces: 1 });
  const shorter = items.map(({ message, text }) =>
    text === message.content ? message : withFields(message, { content: text }),
  );
  const whole = new Set(messages);
  const shortened = shorter.flatMap((message) => (whole.has(message) ? [] : (message.id ?? [])));
  return { messages: shorter, shortened };
}

function tokensOf(messages: readonly BaseMessage[]): number {
  const tokens = (message: BaseMessage) =>
    readTokens(spokenText(message)).tokens + otherTokens(message.content);
  return messages.reduce((sum, message) => sum + tokens(message), 0);
}
