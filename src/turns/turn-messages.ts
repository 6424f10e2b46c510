import { type BaseMessage, SystemMessage } from "@langchain/core/messages";
import { z } from "zod";
import { answeredCalls } from "../conversation/answered-calls.js";
import { conversationContext } from "../conversation/conversation-context.rule.js";
import { asRecalled, memoryBlockId, memoryMessage } from "../conversation/recalled-mark.js";
import { isOthersSummary, opensTurn } from "../text/inserted-message.js";
import { contentParts, messageText, withFields } from "../text/message-text.js";
import {
  additionsOf,
  contextPrefix,
  memoryBlock,
  saidInState,
  standingBlock,
} from "./memory-block.js";
import { memoryParts, partOf, type Recalled, withoutTold } from "./recalled.js";

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
  const { instructions, talk: found, isSaid } = shownMessages(state, known);
  const talk = answeredCalls(found, injectAs === "text");
  const current = talk.findLastIndex(opensTurn);
  // Without a user's message, the additions go into the block.
  const block = current < 0 ? memoryBlock(known) : standingBlock(known);
  const inSystem = injectAs === "system" || current < 0;
  const inserted = insertedTexts(talk, known, { current, block, inSystem });
  const shown = talk.flatMap((message, place) => {
    const texts = inserted.get(place) ?? [];
    if (texts.length === 0) return message;
    if (injectAs === "text") return withPrefix(message, texts.join(""), isSaid(message));
    const messages = texts.map((text, at) =>
      memoryMessage(text.trimEnd(), message.id, at === 0 ? "" : `.${at}`),
    );
    return [...messages, message];
  });
  if (block === null || !inSystem) return [...instructions, ...shown];
  return [systemMessage(instructions, block, blockId(talk)), ...shown];
}

/** LangChain's summary covers what is omitted. */
function withoutCovered(state: readonly BaseMessage[], recalled: Recalled): Recalled {
  return state.some(isOthersSummary) ? { ...recalled, omitted: null } : recalled;
}

/** How much of what `turnMessages` shows is from memory. */
export function shownCounts(state: readonly BaseMessage[], recalled: Recalled) {
  const known = withoutCovered(state, recalled);
  const { instructions, talk } = shownMessages(state, known);
  const held = new Set(state.map(({ id }) => id));
  const shown = new Set(talk.map(({ id }) => id));
  const { recent, gap, omitted, changes, consents, unread, summary, epoch } = known;
  const memories = withoutTold(known.memories, changes);
  const earlier = epoch.earlier.filter(({ messageId }) => shown.has(messageId));
  return {
    summaryId: summary?.id ?? null,
    memories: {
      ...Object.fromEntries(
        memoryParts.map((part) => [
          part,
          partOf(memories, part).length + partOf(epoch.added, part).length,
        ]),
      ),
      earlier: earlier.flatMap((turn) => [
        ...Object.values(turn.memories).flat(),
        ...[turn.changes.top, turn.consents, turn.unread].flat(),
      ]).length,
    },
    omittedMemories: memories.omitted,
    changes: changes.count,
    consents: consents.length,
    unread: unread.length,
    recentMessages: recent.length,
    gapMessages: gap.length,
    omittedMessages: omitted?.messages ?? 0,
    databaseMessages: [...instructions, ...talk].filter(({ id }) => !held.has(id)).length,
  };
}

/**
 * One message, since some providers refuse several. The block is a part of its own, for their
 * caches.
 */
function systemMessage(
  instructions: readonly BaseMessage[],
  block: string,
  id: string,
): SystemMessage {
  const parts = instructions.flatMap(({ content }) => contentParts(content));
  const content = parts.length === 0 ? block : [...parts, ...contentParts(block)];
  return asRecalled(new SystemMessage({ content, id }));
}

/** What goes before each place of `talk`: the block, and what the turn adds. */
function insertedTexts(
  talk: readonly BaseMessage[],
  recalled: Recalled,
  { current, block, inSystem }: { current: number; block: string | null; inSystem: boolean },
): ReadonlyMap<number, readonly string[]> {
  const texts = new Map<number, readonly string[]>();
  if (current < 0) return texts;
  const additions = additionsOf(recalled, block);
  for (const [place, message] of talk.entries()) {
    const added = additions.get(place === current ? undefined : message.id);
    if (added !== undefined && opensTurn(message)) texts.set(place, [added]);
  }
  if (inSystem || block === null) return texts;
  const opening = talk.findIndex(({ id }) => id !== undefined && id === recalled.epoch.openedBy);
  const place =
    opening < 0 ? (recalled.epoch.isNew ? current : talk.findIndex(opensTurn)) : opening;
  return texts.set(place, [contextPrefix(recalled), ...(texts.get(place) ?? [])]);
}

/** Agents merge messages by id, so the block must not replace a client's message. */
function blockId(talk: readonly BaseMessage[]): string {
  const taken = talk.some((message) => message.id === memoryBlockId);
  return taken ? `${memoryBlockId}.${talk.length}.block` : memoryBlockId;
}

function withPrefix(message: BaseMessage, prefix: string, isSaid: boolean): BaseMessage {
  const content =
    typeof message.content === "string"
      ? `${prefix}${message.content}`
      : [{ type: "text" as const, text: prefix }, ...message.content];
  return asRecalled(withFields(message, { content }), isSaid ? { from: prefix.length } : {});
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
          idOf: (message) => message.id,
          opensTurn: (message) => message.getType() === "human",
        });
  const shortened = new Map(recalled.recent.map((message) => [message.id, message]));
  for (const id of shortened.keys())
    if (!recalled.shortened.includes(id ?? "")) shortened.delete(id);
  const saidMessages = new Set(said);
  const own = said.filter(isSystem);
  // A caller without a checkpointer repeats the instructions with every message.
  const known = new Set(own.map((message) => messageText(message)));
  const recorded = new Map(
    recalled.gap.filter(isSystem).map((message) => [messageText(message), message]),
  );
  const others = [...recorded.values()].filter((message) => !known.has(messageText(message)));
  return {
    isSaid: (message: BaseMessage) => saidMessages.has(message),
    // A summary never replaces instructions.
    instructions: [...own, ...others.map((message) => asRecalled(message))],
    talk: talk
      .map((message) => shortened.get(message.id) ?? message)
      .map((message) => (saidMessages.has(message) ? message : asRecalled(message))),
  };
}

function isSystem(message: BaseMessage): boolean {
  return message.getType() === "system";
}
