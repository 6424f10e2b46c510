import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { ChangeEvent } from "../memories/audit/memory-change.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { storedMessage } from "../messages/message-codec.js";
import { withFields } from "../messages/message-text.js";
import type { RankedHit } from "../search/rank-memories.rule.js";
import { clipped } from "../text/storable-text.js";
import { dayIn } from "../text/time-zone.js";
import { shorterTexts } from "../transcript/recent-messages.rule.js";
import type { BlockPart, HandedOn } from "../transcript/shown-turns.js";
import { changeOf, type RecalledChange, type RecalledConsent } from "./find-recall.js";
import type { ShownEpoch, StoredTalk, StoredTurn } from "./find-replay.js";
import {
  asShown,
  type EarlierAdditions,
  inParts,
  type Recalled,
  type ShownMemory,
  standingParts,
} from "./recalled.js";
import { messageCheck } from "./shown-by.js";

/** Something that a replay cannot print as it was handed on. */
export interface ReplayGap {
  readonly what: "memory" | "change" | "consent" | "unread" | "summary" | "message" | "prompt";
  /**
   * "forgotten": it was removed, or the scope may not see it any more. "edited": it says something
   * else now. "redacted": the transcript never had it as it was said, or has a reference for a file.
   * "changed": a date or an earlier value of a line differs. "unrecorded": the turn's caller printed
   * its prompt itself.
   */
  readonly why: "forgotten" | "edited" | "redacted" | "changed" | "unrecorded";
  /** Of the memory, request or message; null for others. */
  readonly id: string | null;
}

/** Notes a gap, and returns what stands in place of words that are not there any more. */
type Mark = (
  what: ReplayGap["what"],
  why: ReplayGap["why"],
  id?: string | null | undefined,
) => string;

export type RebuiltTurn = ReturnType<typeof rebuildTurn>;

/** What a turn was shown, from what is stored of it. A mark stands for what is gone. */
export function rebuildTurn(
  epoch: ShownEpoch,
  own: StoredTurn,
  handed: HandedOn,
  appName: string | undefined,
) {
  const gaps: ReplayGap[] = [];
  const mark: Mark = (what, why, id = null) => {
    gaps.push({ what, why, id });
    return why === "forgotten" ? "[forgotten since]" : "[changed since]";
  };
  if (!own.handed) mark("prompt", "unrecorded");

  // The conversation: what the transcript has at the places that were shown.
  const talk = rebuildTalk(epoch, own, handed, mark);

  // The block of the turn that opened the epoch, and what each turn added.
  const isNew = own.firstSeq !== null;
  const opened = isNew ? own : epoch.turns.find(({ firstSeq }) => firstSeq !== null);
  const block = opened ? memoriesOf(opened, epoch, isStanding, mark) : [];
  const talkIds = new Set(talk.map(({ id }) => id));
  const turns: EarlierAdditions[] = [];
  for (const turn of epoch.turns) {
    if (turn !== own && turn.firstSeq === null && !talkIds.has(turn.messageId)) continue;
    const isListed = turn === opened ? isAdded : () => true;
    const memories = memoriesOf(turn, epoch, isListed, mark);
    turns.push({ messageId: turn.messageId, memories, ...toldOf(turn, epoch, handed, mark) });
  }
  const day = turns.findLast((turn) => turn.day !== null)?.day;
  const added = turns.pop() as EarlierAdditions;
  const memories = added.memories.map((shown) => cutAsShown(shown, handed));
  return {
    talk,
    isNew,
    openedBy: isNew ? undefined : (handed.openedBy ?? opened?.messageId),
    block,
    earlier: turns,
    /** What the turn itself added. */
    own: { ...added, memories } as EarlierAdditions,
    summary: rebuildSummary(own, epoch, mark),
    /** Memories over budget. */
    omitted: own.omitted,
    omittedAtLeast: handed.omittedAtLeast as boolean | undefined,
    appName,
    day: day ?? dayIn(new Date(own.at), handed.timeZone),
    handed,
    gaps,
  };
}

/** The recall of which `printMessages` prints the turn again. */
export function recalledOf(turn: RebuiltTurn): Recalled {
  const { block, own, summary, omitted, omittedAtLeast, appName, handed } = turn;
  const { timeZone, omittedMessages } = handed;
  const { profile, rest, notes } = inParts(block);
  const added = inParts(own.memories);
  return {
    mode: "active",
    summary,
    processing: null,
    gap: [],
    omitted: omittedMessages === undefined ? null : { messages: omittedMessages, endMessageId: "" },
    recent: [],
    shortened: [],
    lastTurn: [],
    lastSeq: -1,
    lastMessageId: null,
    epoch: {
      isNew: turn.isNew,
      openedBy: turn.openedBy,
      firstSeq: 0,
      earlier: turn.earlier,
      told: [],
      asked: [],
      added: { profile: added.profile, notes: added.notes, omitted: own.omitted },
      readable: [],
      prefixes: new Set(),
      // Notes the checksum of what is printed now.
      handed: { seqs: new Map(), hasChecks: false, shortenedTo: 0 },
    },
    memories: {
      profile,
      relevant: added.relevant.map(hitOf),
      episodes: added.episodes.map(hitOf),
      related: added.related,
      rest,
      notes,
      omitted,
      ...(omittedAtLeast && { omittedAtLeast }),
    },
    ...(appName !== undefined && { appName }),
    changes: own.changes,
    consents: own.consents,
    unread: own.unread,
    day: turn.day,
    days: own.days,
    timeZone,
  };
}

/** Its scores are not printed. */
const hitOf = (memory: MemoryItem) => ({ memory }) as RankedHit;

export const isStanding = (part: BlockPart) => standingParts.includes(part);
const isAdded = (part: BlockPart) => !isStanding(part);

function cutAsShown({ part, memory }: ShownMemory, { cut }: HandedOn): ShownMemory {
  if (cut?.[0] !== memory.id) return { part, memory };
  return { part, memory: { ...memory, text: clipped(memory.text, cut[1]) } };
}

/** A memory of which a prompt has `line` alone. */
export function standIn(id: string, line: string): MemoryItem {
  return { id, text: "", scope: {}, inPlace: line } as MemoryItem;
}

/** The memories of some parts that a turn was shown. */
function memoriesOf(
  turn: StoredTurn,
  { memories }: ShownEpoch,
  isListed: (part: BlockPart) => boolean,
  mark: Mark,
): ShownMemory[] {
  const shown: ShownMemory[] = [];
  for (const { id, part, isEdited } of turn.memories) {
    if (part === "told" || !isListed(part)) continue;
    const memory = memories.get(id);
    if (memory && !isEdited) {
      shown.push({ part, memory: asShown(memory, turn.news) });
    } else {
      const line = mark("memory", memory ? "edited" : "forgotten", id);
      shown.push({ part, memory: standIn(id, line) });
    }
  }
  return shown;
}

/** What a turn was told beside memories. */
function toldOf(
  { news, told }: StoredTurn,
  { memories, consents: requests, unread: unreadNow }: ShownEpoch,
  { timeZone }: HandedOn,
  mark: Mark,
): Omit<EarlierAdditions, "messageId" | "memories"> {
  const { since = 0, count = 0, omitted = 0, day = null, days = [] } = news ?? {};
  const isThere = (id: string | null) => id === null || memories.has(id);

  const top = (news?.changes ?? []).map(([rev, name, insteadId]): RecalledChange => {
    const event = name as ChangeEvent;
    const words = told?.changes.find((each) => each.rev === rev);
    const isWordless = event === "deleted" || event === "soft_deleted";
    if (words && (isWordless || isThere(words.memoryId)) && isThere(insteadId))
      return changeOf({ ...words, event }, timeZone);
    const line = mark("change", "forgotten", words?.memoryId);
    return { rev, event, insteadId, memoryId: words?.memoryId ?? "", line, isDoubted: false };
  });
  const consents = (news?.consents ?? []).map(([id, currentId]): RecalledConsent => {
    const words = told?.consents.find((each) => each.id === id);
    if (words && requests.includes(id) && isThere(currentId))
      return { ...words, text: words.text ?? "", currentId };
    const text = mark("consent", "forgotten", id);
    return { id, category: "", key: null, value: null, text, current: null, currentId };
  });
  const unread = (news?.unread ?? []).map(([ref, seq]) => {
    const place = [ref, seq] as const;
    const words = told?.unread.find((each) => each.place[0] === ref && each.place[1] === seq);
    const now = unreadNow[`${ref} ${seq}`];
    if (words && words.text === now) return { ...words, place };
    const text = mark("unread", now === undefined ? "forgotten" : "edited");
    return { text, saidAt: null, place };
  });
  return {
    changes: { since, revision: since, count, top },
    consents,
    unread,
    omitted,
    day,
    days,
  };
}

function rebuildSummary(
  { summaryId }: StoredTurn,
  { summary }: ShownEpoch,
  mark: Mark,
): Recalled["summary"] {
  if (summaryId === null) return null;
  const text = summary?.text ?? mark("summary", "forgotten");
  const turns = { startSeq: 0, endSeq: 0, endMessageId: "", startTurn: 1, endTurn: 1 };
  return { ...turns, ...summary, id: summaryId, text };
}

function rebuildTalk(
  { talk: stored }: ShownEpoch,
  own: StoredTurn,
  { edited = [], shortened, checks }: HandedOn,
  mark: Mark,
): BaseMessage[] {
  const talk: BaseMessage[] = [];
  /** Places of what is not as it was shown. */
  const marked = new Set<number>();
  for (const [place, { isHeld, message }] of stored.entries()) {
    const why = goneBecause(message, own, edited);
    if (message === null || why !== null) {
      const content = mark("message", why ?? "forgotten", message?.messageId);
      talk.push(markedMessage(message, content, talk.at(-1)));
    } else {
      talk.push(storedMessage(message));
      if (!message.altered || !isHeld) continue;
      mark("message", "redacted", message.messageId);
    }
    marked.add(place);
  }

  // Cut the texts of a long turn as the prompt did.
  if (shortened) {
    const [first, count, tokens] = shortened;
    const isWhole = ![...marked].some((place) => place >= first && place < first + count);
    const { messages } = shorterTexts(talk.slice(first, first + count), tokens);
    if (isWhole) talk.splice(first, count, ...messages);
  }

  // Mark what differs from what was shown, for whatever reason.
  if (checks?.length !== 2 * talk.length) return talk;
  return talk.map((message, place) => {
    const isSame = messageCheck(message) === checks.slice(2 * place, 2 * place + 2);
    if (isSame || marked.has(place)) return message;
    return withFields(message, { content: mark("message", "edited", message.id) });
  });
}

/** Null if the message says what it said in the turn. */
function goneBecause(message: StoredTalk["message"], own: StoredTurn, edited: readonly string[]) {
  if (message === null || (message.role === "system" && message.text === "")) return "forgotten";
  const { editedAtSeq, messageId } = message;
  // The turn itself was shown an edit that it then recorded.
  const isEdited = editedAtSeq !== null && editedAtSeq >= own.seq && !edited.includes(messageId);
  return isEdited ? "edited" : null;
}

/** What was removed left no role: it follows a question, or is one. */
function markedMessage(
  stored: StoredTalk["message"],
  content: string,
  before: BaseMessage | undefined,
): BaseMessage {
  const id = stored?.messageId;
  if (stored && stored.role !== "system") return withFields(storedMessage(stored), { content });
  const fields = { content, ...(id !== undefined && { id }) };
  return before?.getType() === "human" ? new AIMessage(fields) : new HumanMessage(fields);
}
