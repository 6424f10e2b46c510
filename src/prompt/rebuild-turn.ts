import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { MemoryItem } from "../memories/item/memory.js";
import { storedMessage } from "../messages/message-codec.js";
import { withFields } from "../messages/message-text.js";
import type { RankedHit } from "../search/rank-memories.rule.js";
import { clipped } from "../text/storable-text.js";
import { dayIn } from "../text/time-zone.js";
import { shorterTexts } from "../transcript/recent-messages.rule.js";
import type { HandedOn, StoredShown } from "../transcript/shown-turns.js";
import { changeOf, type RecalledChange, type RecalledConsent } from "./find-recall.js";
import { messageCheck } from "./handed-on.js";
import {
  type EarlierAdditions,
  ofPart,
  type Recalled,
  type ShownMemory,
  standingParts,
} from "./recalled.js";
import type { ShownContents, ShownEpoch, StoredTalk } from "./shown-epoch.js";

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

/** What stands in place of words that are not there any more. */
const replayMarks = {
  forgotten: "[forgotten since]",
  edited: "[changed since]",
} as const;

export interface RebuiltTurn {
  readonly recalled: Recalled;
  /** The conversation, the turn's own message last. */
  readonly talk: readonly BaseMessage[];
  readonly gaps: readonly ReplayGap[];
}

interface Gaps {
  readonly found: ReplayGap[];
  /** Notes the gap, and returns its mark. */
  mark(what: ReplayGap["what"], why: keyof typeof replayMarks, id?: string | null): string;
}

function noGaps(): Gaps {
  const found: ReplayGap[] = [];
  return {
    found,
    mark(what, why, id = null) {
      found.push({ what, why, id });
      return replayMarks[why];
    },
  };
}

/** How a turn was printed whose caller made its own prompt: the whole conversation of its epoch. */
export const assumedHanded = (
  { firstSeq, seq }: Pick<StoredShown, "firstSeq" | "seq">,
  timeZone: string,
): HandedOn => ({
  injectAs: "message",
  timeZone,
  talk: [[Math.min(firstSeq ?? seq, seq), seq]],
  check: 0,
});

/**
 * The recall of a turn as it was, from what is stored of it: `turnMessages` prints it again. A mark
 * stands for what is gone.
 */
export function rebuildTurn(
  { turns }: ShownEpoch,
  contents: ShownContents,
  handed: HandedOn,
  appName: string | undefined,
): RebuiltTurn {
  const own = turns.at(-1) as StoredShown;
  const gaps = noGaps();
  if (!own.handed) gaps.found.push({ what: "prompt", why: "unrecorded", id: null });

  // The conversation: what the transcript has at the places that were shown.
  const talk = rebuildTalk(own, handed, contents, gaps);

  // The block of the turn that opened the epoch, and what each turn added since.
  const isNew = own.firstSeq !== null;
  const talkIds = new Set(talk.map(({ id }) => id));
  const before = turns.slice(0, -1).filter(({ messageId, firstSeq }) => {
    return firstSeq !== null || talkIds.has(messageId);
  });
  const opened = isNew ? own : before.find(({ firstSeq }) => firstSeq !== null);
  const block = opened ? memoriesOf(opened, contents, gaps) : [];
  const ownMemories = isNew ? block : memoriesOf(own, contents, gaps);
  const earlier = before.map((turn): EarlierAdditions => {
    const memories = turn === opened ? block.filter(isAdded) : memoriesOf(turn, contents, gaps);
    return { ...toldOf(turn, contents, gaps, handed), memories, messageId: turn.messageId };
  });

  const { day, ...told } = toldOf(own, contents, gaps, handed);
  const namedDay = day ?? earlier.flatMap((turn) => turn.day ?? []).at(-1);
  const hits = (part: "relevant" | "episodes") =>
    ofPart(ownMemories, part).map((memory) => ({ memory: cutOf(memory, handed) }) as RankedHit);
  const recalled: Recalled = {
    mode: "active",
    summary: rebuildSummary(own, contents, gaps),
    processing: null,
    gap: [],
    omitted:
      handed.omittedMessages === undefined
        ? null
        : { messages: handed.omittedMessages, endMessageId: "" },
    recent: [],
    shortened: [],
    lastTurn: [],
    lastSeq: own.seq - 1,
    lastMessageId: null,
    epoch: {
      isNew,
      openedBy: isNew ? undefined : (handed.openedBy ?? opened?.messageId),
      firstSeq: opened?.firstSeq ?? own.seq,
      earlier,
      added: {
        profile: isNew ? [] : ofPart(ownMemories, "profile"),
        notes: isNew ? [] : ofPart(ownMemories, "notes"),
        omitted: told.omitted,
      },
      readable: [],
      prefixes: new Set(),
      // Notes the checksum of what is printed now.
      handed: { seqs: new Map(), hasChecks: false, shortenedTo: 0 },
    },
    memories: {
      profile: ofPart(block, "profile"),
      rest: ofPart(block, "rest"),
      notes: ofPart(block, "notes"),
      relevant: hits("relevant"),
      episodes: hits("episodes"),
      related: ofPart(ownMemories, "related"),
      omitted: own.omitted,
      ...(handed.omittedAtLeast && { omittedAtLeast: true }),
    },
    ...(appName !== undefined && { appName }),
    changes: told.changes,
    consents: told.consents,
    unread: told.unread,
    day: namedDay ?? dayIn(new Date(own.at), handed.timeZone),
    timeZone: handed.timeZone,
  };
  return { recalled, talk, gaps: gaps.found };
}

const isAdded = ({ part }: ShownMemory) => !standingParts.includes(part);

function cutOf(memory: MemoryItem, { cut }: HandedOn): MemoryItem {
  return cut?.[0] === memory.id ? { ...memory, text: clipped(memory.text, cut[1]) } : memory;
}

/** A memory of which a prompt has `line` alone. */
export function standIn(id: string, line: string): MemoryItem {
  const at = new Date(0);
  const blank = { kind: "fact", category: "", key: null, value: null, text: "", pinned: false };
  const source = { origin: "user", trust: "user", turns: null, scope: {} };
  const times = { validFrom: at, createdAt: at, doubtedAt: null };
  return { ...blank, ...source, ...times, id, inPlace: line } as unknown as MemoryItem;
}

function memoriesOf(turn: StoredShown, contents: ShownContents, gaps: Gaps): ShownMemory[] {
  return turn.memoryIds.flatMap((id, place) => {
    const part = turn.parts[place];
    if (part === undefined || part === "told") return [];
    const memory = contents.memories.get(id);
    const check = turn.checks?.[place] ?? null;
    if (memory === undefined)
      return { part, memory: standIn(id, gaps.mark("memory", "forgotten", id)) };
    const isSame = check === null || contents.checks[id] === check;
    const doubt = turn.news?.doubts?.find(([doubted]) => doubted === id);
    const shown = { ...memory, doubtedAt: doubt ? new Date(doubt[1]) : null };
    return { part, memory: isSame ? shown : standIn(id, gaps.mark("memory", "edited", id)) };
  });
}

/** What a turn was told beside memories. */
function toldOf(turn: StoredShown, contents: ShownContents, gaps: Gaps, { timeZone }: HandedOn) {
  const { since = 0, count = 0, omitted = 0, day = null, ...news } = turn.news ?? {};
  const isThere = (id: string | null) => id === null || contents.memories.has(id);

  const top = (news.changes ?? []).map(([rev, event, insteadId]): RecalledChange => {
    const told = turn.told?.changes.find((each) => each.rev === rev);
    const isWordless = event === "deleted" || event === "soft_deleted";
    if (told && (isWordless || isThere(told.memoryId)) && isThere(insteadId))
      return changeOf({ ...told, event: event as RecalledChange["event"] }, timeZone);
    const memoryId = told?.memoryId ?? "";
    const line = gaps.mark("change", "forgotten", told?.memoryId);
    return {
      ...{ rev, memoryId, line, insteadId, isDoubted: false },
      event: event as RecalledChange["event"],
    };
  });
  const consents = (news.consents ?? []).map(([id, currentId]): RecalledConsent => {
    const told = turn.told?.consents.find((each) => each.id === id);
    if (told && contents.consents.includes(id) && isThere(currentId))
      return { ...told, text: told.text ?? "", currentId };
    const text = gaps.mark("consent", "forgotten", id);
    return { id, category: "", key: null, value: null, text, current: null, currentId };
  });
  const unread = (news.unread ?? []).map(([ref, seq]) => {
    const place = [ref, seq] as const;
    const told = turn.told?.unread.find((each) => each.place[0] === ref && each.place[1] === seq);
    const now = contents.unread[`${ref} ${seq}`];
    if (told && told.text === now) return { text: told.text, place };
    return { text: gaps.mark("unread", now !== undefined ? "edited" : "forgotten"), place };
  });
  return { changes: { since, revision: since, count, top }, consents, unread, omitted, day };
}

function rebuildSummary(
  { summaryId }: StoredShown,
  { summary }: ShownContents,
  gaps: Gaps,
): Recalled["summary"] {
  if (summaryId === null) return null;
  if (summary !== null && summary.text !== null) return { ...summary, text: summary.text };
  const text = gaps.mark("summary", "forgotten");
  const turns = { startSeq: 0, endSeq: 0, endMessageId: "", startTurn: 1, endTurn: 1 };
  return { ...turns, ...summary, id: summaryId, text };
}

/** Seqs and ids of the messages at `talk`. */
export function placesOf({ talk }: HandedOn, ownSeq: number): (number | string)[] {
  return talk.flatMap((place) => {
    if (place === null) return ownSeq;
    if (typeof place === "string") return place;
    const [first, last] = place;
    return Array.from({ length: Math.min(last - first + 1, maxRun) }, (_, at) => first + at);
  });
}

/** No prompt shows more; a caller may have given any numbers. */
const maxRun = 10_000;

function rebuildTalk(
  own: StoredShown,
  handed: HandedOn,
  { messages }: ShownContents,
  gaps: Gaps,
): BaseMessage[] {
  const bySeq = new Map(messages.map((message) => [message.seq, message]));
  const byId = new Map(messages.map((message) => [message.messageId, message]));
  const held = new Set(
    handed.talk.flatMap((place) =>
      Array.isArray(place) && place.length === 2
        ? []
        : placesOf({ ...handed, talk: [place] }, own.seq),
    ),
  );
  const talk: BaseMessage[] = [];
  const marked = new Set<number>();
  for (const [at, place] of placesOf(handed, own.seq).entries()) {
    const stored = typeof place === "number" ? bySeq.get(place) : byId.get(place);
    const why = stored ? reasonOf(stored, own, handed) : "forgotten";
    const id = stored?.messageId ?? null;
    if (stored && why === null) {
      talk.push(storedMessage(stored));
      if (!stored.altered || !held.has(place)) continue;
      gaps.found.push({ what: "message", why: "redacted", id });
    } else {
      const content = gaps.mark("message", why ?? "forgotten", id);
      talk.push(markedMessage(stored, content, talk.at(-1)));
    }
    marked.add(at);
  }
  shorten(talk, handed, marked);
  return checked(talk, handed, marked, gaps);
}

/** Null if the message says what it said in the turn. */
function reasonOf(
  { role, text, messageId, editedAtSeq }: StoredTalk,
  own: StoredShown,
  { edited = [] }: HandedOn,
): "forgotten" | "edited" | null {
  if (role === "system" && text === "") return "forgotten";
  // The turn itself was shown an edit that it then recorded.
  const isEdited = editedAtSeq !== null && editedAtSeq >= own.seq && !edited.includes(messageId);
  return isEdited ? "edited" : null;
}

/** What was removed left no role: it follows a question, or is one. */
function markedMessage(
  stored: StoredTalk | undefined,
  content: string,
  before: BaseMessage | undefined,
): BaseMessage {
  const id = stored?.messageId;
  if (stored && stored.role !== "system") return withFields(storedMessage(stored), { content });
  const fields = { content, ...(id !== undefined && { id }) };
  return before?.getType() === "human" ? new AIMessage(fields) : new HumanMessage(fields);
}

/** Cuts the texts of a long turn as the prompt did. */
function shorten(talk: BaseMessage[], { shortened }: HandedOn, marked: ReadonlySet<number>): void {
  if (!shortened) return;
  const [first, count, tokens] = shortened;
  const places = Array.from({ length: count }, (_, at) => first + at);
  if (places.some((place) => marked.has(place))) return;
  const cut = shorterTexts(talk.slice(first, first + count), tokens).messages;
  talk.splice(first, count, ...cut);
}

/** Marks what differs from what was shown, for whatever reason. */
function checked(
  talk: readonly BaseMessage[],
  { checks }: HandedOn,
  marked: ReadonlySet<number>,
  gaps: Gaps,
): BaseMessage[] {
  if (checks === undefined || checks.length !== 2 * talk.length) return [...talk];
  return talk.map((message, at) => {
    const isSame = messageCheck(message) === checks.slice(2 * at, 2 * at + 2);
    if (isSame || marked.has(at)) return message;
    return withFields(message, { content: gaps.mark("message", "edited", message.id ?? null) });
  });
}
