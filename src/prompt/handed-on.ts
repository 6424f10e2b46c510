import type { AIMessage, BaseMessage, MessageContent, ToolMessage } from "@langchain/core/messages";
import { opensTurn } from "../messages/inserted-message.js";
import { redactedCheck } from "../transcript/message-words.js";
import { withStorableId } from "../transcript/record.js";
import { type HandedOn, maxTalk } from "../transcript/shown-turns.js";
import type { Recalled } from "./recalled.js";

/** A message of a prompt, as chat models take it. */
export interface HandedMessage {
  readonly role: "system" | "user" | "assistant" | "tool" | "other";
  readonly content: MessageContent;
  readonly name?: string;
  readonly tool_calls?: readonly {
    readonly id?: string | undefined;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  }[];
  readonly tool_call_id?: string;
}

const roles: Readonly<Record<string, HandedMessage["role"]>> = {
  system: "system",
  human: "user",
  ai: "assistant",
  tool: "tool",
};

/** What a model is given of `message`. */
export function handedForm(message: BaseMessage): HandedMessage {
  const { tool_calls: calls = [] } = message as Partial<AIMessage>;
  const { tool_call_id } = message as Partial<ToolMessage>;
  return {
    role: roles[message.getType()] ?? "other",
    content: message.content,
    ...(message.name !== undefined && { name: message.name }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, args }) => ({ id, name, args })),
    }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  };
}

/** Two hexadecimal digits: a checksum of 8 bits shows most changes, and reveals no words. */
export const messageCheck = (message: BaseMessage): string =>
  (folded(JSON.stringify(handedForm(message))) & 0xff).toString(16).padStart(2, "0");

/** 15 bits, of what memory adds to a conversation. */
const textsCheck = (texts: readonly string[]): number =>
  folded(JSON.stringify(texts.map((text) => text.trimEnd()))) & 0x7fff;

/** The last bits of FNV-1a alone are those of a weaker sum. */
function folded(text: string): number {
  const check = redactedCheck(text);
  return check ^ (check >>> 15);
}

interface Printed {
  /** The conversation, before calls without a result got one. */
  readonly talk: readonly BaseMessage[];
  readonly isSaid: (message: BaseMessage) => boolean;
  readonly injectAs: HandedOn["injectAs"];
  /** What memory added to it, in order. */
  readonly printed: readonly string[];
}

/** A run calls its model several times: the first prompt counts. */
export function noteHanded({ epoch, recent, shortened }: Recalled, printing: Printed): void {
  const { handed } = epoch;
  if (!handed || handed.noted) return;
  const talk = printing.talk.slice(0, printing.talk.findLastIndex(opensTurn) + 1);
  if (talk.length > maxTalk) return;
  const ids = new Set(shortened.length === 0 ? [] : recent.map(({ id }) => id));
  const cut = talk.flatMap(({ id }, place) => (ids.has(id) ? place : []));
  handed.noted = {
    injectAs: printing.injectAs,
    talk: talkPlaces(talk, handed.seqs, printing.isSaid),
    ...(handed.hasChecks && { checks: talk.map(messageCheck).join("") }),
    check: textsCheck(printing.printed),
    ...(cut.length > 0 && {
      shortened: [cut[0] as number, Number(cut.at(-1)) - Number(cut[0]) + 1, handed.shortenedTo],
    }),
  };
}

/** Runs of seqs; ids of messages that the transcript lacks; null for one without an id. */
function talkPlaces(
  talk: readonly BaseMessage[],
  seqs: ReadonlyMap<string, number>,
  isSaid: Printed["isSaid"],
): HandedOn["talk"] {
  const places: HandedOn["talk"] = [];
  for (const message of talk) {
    const { id = "" } = message;
    const seq = seqs.get(id);
    // As it will be recorded: clients choose the ids in a graph's state.
    const recordedId = withStorableId(message).id ?? null;
    const last = places.at(-1);
    if (seq === undefined) places.push(id === "" ? null : recordedId);
    else if (Array.isArray(last) && last[1] === seq - 1 && (last.length === 3) === isSaid(message))
      last[1] = seq;
    else places.push(isSaid(message) ? [seq, seq, "held"] : [seq, seq]);
  }
  return places;
}
