import { type BaseMessage, SystemMessage } from "@langchain/core/messages";
import { z } from "zod";
import { answeredCalls } from "../messages/answered-calls.js";
import { isOthersSummary, opensTurn } from "../messages/inserted-message.js";
import { contentParts, messageText, withFields } from "../messages/message-text.js";
import {
  asRecalled,
  hasMark,
  isMemoryMessage,
  memoryBlockId,
  memoryMessage,
  saidMessage,
} from "../messages/recalled-mark.js";
import { conversationContext } from "../transcript/conversation-context.rule.js";
import { countOf, memoryBlock, planPrompt, printPrompt } from "./memory-block.js";
import { memoryParts, ofPart, type Recalled } from "./recalled.js";
import { noteHanded } from "./shown-by.js";

/**
 * Where memory goes. "message": messages of their own before the user's. "system": the block ends
 * the system message, and only what a turn adds is a message of its own. "text": both begin the
 * user's text.
 */
export type InjectAs = "message" | "system" | "text";

export const injectAsSchema: z.ZodType<InjectAs> = z.enum(["message", "system", "text"]);

/**
 * The whole prompt of a turn: at most one system message, the conversation, in which each call has
 * its result, the epoch's block before the message that opened it, and what each turn added before
 * its own.
 */
export function turnMessages(
  state: readonly BaseMessage[],
  recalled: Recalled,
  injectAs: InjectAs = "message",
): BaseMessage[] {
  const known = withoutCovered(state, recalled);
  return printMessages(shownMessages(state, known), known, injectAs);
}

interface ChosenMessages {
  readonly instructions: readonly BaseMessage[];
  readonly talk: readonly BaseMessage[];
  readonly isSaid: (message: BaseMessage) => boolean;
}

/** The prompt that shows these messages, with memory among them. Notes how it did, for a replay. */
export function printMessages(
  { instructions, talk: found, isSaid }: ChosenMessages,
  known: Recalled,
  injectAs: InjectAs,
): BaseMessage[] {
  const talk = answeredCalls(found, injectAs === "text");
  const current = talk.findLastIndex(opensTurn);
  // Without a user's message, everything goes into the system message.
  if (current < 0) return [...withBlock(instructions, memoryBlock(known), talk), ...talk];

  const { block, context, additions } = printPrompt(known);
  const inSystem = injectAs === "system" ? block : null;
  const blockPlace = block === inSystem ? -1 : openingPlace(talk, current, known);
  const shown: BaseMessage[] = [];
  const printed = [inSystem ?? ""];
  for (const [place, message] of talk.entries()) {
    const texts: string[] = [];
    if (place === blockPlace) texts.push(context);
    const added = additions.get(place === current ? undefined : message.id);
    if (added !== undefined && opensTurn(message)) texts.push(added);
    printed.push(...texts);
    if (injectAs === "text") shown.push(withTexts(message, texts, known, isSaid(message)));
    else
      shown.push(
        ...texts.map((text, at) => memoryMessage(text.trimEnd(), message.id, at)),
        message,
      );
  }
  noteHanded(known, { talk: found, isSaid, injectAs, printed });
  return [...withBlock(instructions, inSystem, talk), ...shown];
}

/** The message that opened the epoch, else the first that opens a turn. */
function openingPlace(talk: readonly BaseMessage[], current: number, { epoch }: Recalled): number {
  const opening = talk.findIndex(({ id }) => id !== undefined && id === epoch.openedBy);
  if (opening >= 0) return opening;
  return epoch.isNew ? current : talk.findIndex(opensTurn);
}

/** LangChain's summary covers what is omitted. */
function withoutCovered(state: readonly BaseMessage[], recalled: Recalled): Recalled {
  return state.some(isOthersSummary) ? { ...recalled, omitted: null } : recalled;
}

/** How much of what `turnMessages` shows is from memory. */
export function shownCounts(state: readonly BaseMessage[], recalled: Recalled) {
  const known = withoutCovered(state, recalled);
  const { instructions, talk } = shownMessages(state, known);
  const heldIds = new Set(state.map(({ id }) => id));
  const shownIds = new Set(talk.map(({ id }) => id));
  const { block, earlier, own } = planPrompt(known);
  const counts: Record<string, number> = {};
  for (const part of memoryParts)
    counts[part] = ofPart([...block.memories, ...own.memories], part).length;
  counts.earlier = 0;
  for (const turn of earlier) if (shownIds.has(turn.messageId)) counts.earlier += countOf(turn);
  return {
    summaryId: known.summary?.id ?? null,
    memories: counts,
    omittedMemories: known.memories.omitted,
    changes: known.changes.count,
    consents: known.consents.length,
    unread: known.unread.length,
    recentMessages: known.recent.length,
    gapMessages: known.gap.length,
    omittedMessages: known.omitted?.messages ?? 0,
    databaseMessages: [...instructions, ...talk].filter(({ id }) => !heldIds.has(id)).length,
  };
}

/**
 * One message, since some providers refuse several. The block is a part of its own, for their
 * caches.
 */
function withBlock(
  instructions: readonly BaseMessage[],
  block: string | null,
  talk: readonly BaseMessage[],
): readonly BaseMessage[] {
  if (block === null) return instructions;
  const parts = instructions.flatMap(({ content }) => contentParts(content));
  const content = parts.length === 0 ? block : [...parts, ...contentParts(block)];
  // Agents merge messages by id, so the block must not replace a client's message.
  const isTaken = talk.some(({ id }) => id === memoryBlockId);
  const id = isTaken ? `${memoryBlockId}.${talk.length}.block` : memoryBlockId;
  return [asRecalled(new SystemMessage({ content, id }))];
}

function withTexts(
  message: BaseMessage,
  texts: readonly string[],
  { epoch }: Recalled,
  isSaid: boolean,
): BaseMessage {
  if (texts.length === 0) return message;
  const prefix = texts.join("");
  epoch.prefixes.add(prefix);
  const content =
    typeof message.content === "string"
      ? `${prefix}${message.content}`
      : [{ type: "text" as const, text: prefix }, ...message.content];
  return asRecalled(withFields(message, { content }), isSaid ? prefix.length : null);
}

/** Omits what an earlier turn was shown and a node returned. */
function shownMessages(state: readonly BaseMessage[], recalled: Recalled) {
  const said = state.flatMap((message) => saidInState(message, recalled) ?? []);
  const end = (recalled.omitted ?? recalled.summary)?.endMessageId ?? null;
  // A bounded state keeps all system messages, however old.
  const talkOf = (all: readonly BaseMessage[]) =>
    all.filter((message) => !isSystem(message) || message.id === end);
  const othersSummary = said.findLastIndex(isOthersSummary);
  const talk =
    othersSummary >= 0
      ? talkOf(said.slice(othersSummary))
      : conversationContext({
          gap: talkOf(recalled.gap),
          endId: end,
          recent: recalled.recent,
          lastTurn: talkOf(recalled.lastTurn),
          state: talkOf(said),
        });
  const isShortened = ({ id }: BaseMessage) => recalled.shortened.includes(id ?? "");
  const shortened = new Map(recalled.recent.filter(isShortened).map((each) => [each.id, each]));
  const saidMessages = new Set(said);
  const isSaid = (message: BaseMessage) => saidMessages.has(message);
  return {
    isSaid,
    instructions: instructionsOf(said, recalled),
    talk: talk.map((found) => {
      const message = shortened.get(found.id) ?? found;
      return isSaid(message) ? message : asRecalled(message);
    }),
  };
}

/** A summary never replaces instructions. */
function instructionsOf(said: readonly BaseMessage[], { gap }: Recalled): BaseMessage[] {
  const instructions = said.filter(isSystem);
  // A caller without a checkpointer repeats them with every message: the last one counts.
  const recorded = new Map(gap.filter(isSystem).map((message) => [messageText(message), message]));
  for (const message of instructions) recorded.delete(messageText(message));
  for (const message of recorded.values()) instructions.push(asRecalled(message));
  return instructions;
}

function isSystem(message: BaseMessage): boolean {
  return message.getType() === "system";
}

/**
 * Null for recalled messages. Changes a user's words only after a mark, or after what this turn put
 * before them.
 */
export function saidInState(
  message: BaseMessage,
  recalled: Recalled | null | undefined,
): BaseMessage | null {
  if (message.id !== undefined && recalled?.brought?.includes(message.id)) return null;
  const isPlain = message.getType() === "human" && !hasMark(message) && !isMemoryMessage(message);
  const hasPrefix = (prefix: string) => messageText(message).startsWith(prefix);
  const prefixes = [...(recalled?.epoch.prefixes ?? [])];
  return isPlain && !prefixes.some(hasPrefix) ? message : saidMessage(message);
}
