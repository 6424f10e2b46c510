import type { BaseMessage } from "@langchain/core/messages";
import { ScriptedChatModel, type ScriptedReplyFunction } from "../../src/testing/index.js";

/**
 * The prompts of one conversation, in the order of the calls; `turn` is the current one, from 1.
 */
export interface PromptLog {
  turn: number;
  /** How often a prompt lacked a memory that is shown whatever is asked. */
  believedMissing: number;
  readonly calls: { readonly turn: number; readonly kind: string; readonly prompt: string }[];
}

const charactersPerToken = 4;

/** What a cached token costs, of one that is not. */
const cachedShare = 0.1;

/** Begins each message. It is in no text, so that a shared prefix ends where the roles differ. */
const separator = "\u001e";

/** A prompt as its model receives it, without the tools' definitions. */
function promptText(messages: readonly BaseMessage[]): string {
  return messages
    .map((message) => `${separator}${message.type}\n${message.text}${callsOf(message)}`)
    .join("");
}

function callsOf(message: BaseMessage): string {
  const calls =
    (message as { tool_calls?: readonly { name: string; args: object }[] }).tool_calls ?? [];
  return calls.map(({ name, args }) => `\n${name} ${JSON.stringify(args)}`).join("");
}

/** The texts of a recorded prompt's messages. */
export const textsIn = (prompt: string): string[] =>
  prompt.split(separator).map((message) => message.slice(message.indexOf("\n") + 1));

/** A recorded prompt, for people to read. */
export const readable = (prompt: string) => prompt.replaceAll(separator, "\n────── ").trim();

export const tokensIn = (prompt: string) => prompt.length / charactersPerToken;

/**
 * A stand-in whose prompts are recorded as `kind`.
 * @default the name of the structured output asked for
 */
export function recordingModel(
  log: PromptLog,
  reply: ScriptedReplyFunction,
  kind?: string,
): ScriptedChatModel {
  const model: ScriptedChatModel = new ScriptedChatModel({
    replies: (messages, call, options) => {
      const asked = kind ?? model.calls[call]?.toolNames[0] ?? "text";
      log.calls.push({ turn: log.turn, kind: asked, prompt: promptText(messages) });
      return reply(messages, call, options);
    },
  });
  return model;
}

/**
 * What a conversation's calls of some kinds took until a turn. `cost`: tokens, of which those that
 * the previous prompt of the same kind begins with count a tenth; `sharedPrefix`: their share of
 * all prompts after the first, 0 to 1.
 */
export function costOf(
  { calls }: PromptLog,
  untilTurn: number,
  isCounted: (kind: string) => boolean,
) {
  const previous = new Map<string, string>();
  const sum = { calls: 0, tokens: 0, shared: 0, first: 0, lastTokens: 0 };
  for (const { turn, kind, prompt } of calls) {
    if (turn > untilTurn || !isCounted(kind)) continue;
    const before = previous.get(kind);
    sum.calls++;
    sum.tokens += tokensIn(prompt);
    if (before === undefined) sum.first += tokensIn(prompt);
    else sum.shared += sharedCharacters(before, prompt) / charactersPerToken;
    sum.lastTokens = tokensIn(prompt);
    previous.set(kind, prompt);
  }
  return {
    calls: sum.calls,
    tokens: sum.tokens,
    lastTokens: sum.lastTokens,
    cost: sum.tokens - (1 - cachedShare) * sum.shared,
    sharedPrefix: sum.shared / (sum.tokens - sum.first) || 0,
  };
}

function sharedCharacters(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}
