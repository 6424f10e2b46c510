import type { BaseMessage } from "@langchain/core/messages";
import { OfflineChatModel, ScriptedChatModel, type ScriptedReply } from "../../src/testing/index.js";

/** The prompts of one conversation, in the order of the calls; whoever runs it counts the turns, from 1. */
export interface PromptLog {
  turn: number;
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
  const calls = (message as { tool_calls?: readonly { name: string; args: object }[] }).tool_calls ?? [];
  return calls.map(({ name, args }) => `\n${name} ${JSON.stringify(args)}`).join("");
}

/** A recorded prompt, for people to read. */
export function readable(prompt: string): string {
  return prompt.replaceAll(separator, "\n────── ").trim();
}

export function tokensIn(prompt: string): number {
  return prompt.length / charactersPerToken;
}

/** A stand-in whose prompts are recorded as `kind`. */
export function recordingModel(
  log: PromptLog,
  kind: string,
  reply: (call: number) => ScriptedReply,
): ScriptedChatModel {
  return new ScriptedChatModel({
    replies: (messages, call) => {
      log.calls.push({ turn: log.turn, kind, prompt: promptText(messages) });
      return reply(call);
    },
  });
}

/** The offline model, each prompt recorded by the name of its structured output. */
export function recordingOfflineModel(log: PromptLog): ScriptedChatModel {
  const offline = new OfflineChatModel();
  const model: ScriptedChatModel = new ScriptedChatModel({
    replies: (messages, call, { tools = [] }) => {
      const kind = model.calls[call]?.toolNames[0] ?? "text";
      log.calls.push({ turn: log.turn, kind, prompt: promptText(messages) });
      return offline.invoke([...messages], { tools });
    },
  });
  return model;
}

/** What a conversation's calls of some kinds took until a turn. */
export interface PromptCost {
  readonly calls: number;
  readonly tokens: number;
  /** Tokens not cached, and a tenth of those that the previous prompt of the same kind begins with. */
  readonly cost: number;
  /** Cached tokens of all but the first call's, 0 to 1. */
  readonly sharedPrefix: number;
  readonly lastTokens: number;
}

export function costOf(
  { calls }: PromptLog,
  untilTurn: number,
  isCounted: (kind: string) => boolean,
): PromptCost {
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
    ...{ calls: sum.calls, tokens: sum.tokens, lastTokens: sum.lastTokens },
    cost: sum.tokens - (1 - cachedShare) * sum.shared,
    sharedPrefix: sum.shared / (sum.tokens - sum.first) || 0,
  };
}

function sharedCharacters(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}
