import type { BaseMessage } from "@langchain/core/messages";
import type { MemoryItem } from "../memories/item/memory.js";
import type { RankedHit } from "../search/rank-memories.rule.js";
import type { RecallMode } from "../search/retrieval-options.js";
import type { Conversation } from "../transcript/find-conversation.js";
import type { BlockPart, HandedOn, ShownNews } from "../transcript/shown-turns.js";
import type { RecalledChange, RecalledConsent, UnreadMessage } from "./find-recall.js";

export interface RecalledMemories {
  /** Always shown: pinned memories, then slots and statements, most important first. */
  readonly profile: readonly MemoryItem[];
  /** Matches, best first; insights last, as in all parts. */
  readonly relevant: readonly RankedHit[];
  /** Compressed earlier turns that match, best first. */
  readonly episodes: readonly RankedHit[];
  /** Linked to the best matches. */
  readonly related: readonly MemoryItem[];
  /** Fallback memories within the budget: most important first, then latest. */
  readonly rest: readonly MemoryItem[];
  /** Lessons from ended conversations with the app, latest first. */
  readonly notes: readonly MemoryItem[];
  /** The best match, if only so many of its characters had room. */
  readonly cut?: readonly [id: string, characters: number];
  /**
   * Memories over budget, or over the `rag_length` of their category; episodes and notes only if
   * found.
   */
  readonly omitted: number;
  /**
   * Set if `omitted` is a lower bound: counting stops at some 200 free statements of a category.
   */
  readonly omittedAtLeast?: boolean;
  /** Set if the search was stopped after two seconds, so that there are no matches. */
  readonly timedOut?: boolean;
}

/** A user's message, and its day, on which none before it was said: "tomorrow" is of that day. */
export type DayOf = readonly [messageId: string, day: string];

/** What a turn adds to the prompt, before its user's message. */
export interface Additions {
  readonly memories: readonly ShownMemory[];
  readonly changes: RecalledChanges;
  readonly consents: readonly RecalledConsent[];
  readonly unread: readonly UnreadMessage[];
  /** Memories that are always shown, became known since, and are over budget. */
  readonly omitted: number;
  /** The day that the turn names, as "2026-11-28"; null if the prompt names it already. */
  readonly day: string | null;
  /** See `Recalled`; none where it names no day. */
  readonly days: readonly DayOf[];
}

export interface EarlierAdditions extends Additions {
  readonly messageId: string;
}

/** A memory, and where a prompt shows it. */
export interface ShownMemory {
  readonly part: BlockPart;
  readonly memory: MemoryItem;
}

/** Changes that a thread was not told of. */
export interface RecalledChanges {
  /** The revision that it was told last. */
  readonly since: number;
  readonly revision: number;
  readonly count: number;
  /** The three most important, most important first. */
  readonly top: readonly RecalledChange[];
}

/** What a prompt notes of itself, for a replay. */
interface Handed {
  /** Seqs of stored messages by id. */
  readonly seqs: ReadonlyMap<string, number>;
  /** Whether words may be told apart by checksums: not where redaction takes some out. */
  readonly hasChecks: boolean;
  /** Messages whose texts were cut to so many tokens. */
  readonly shortenedTo: number;
  noted?: HandedOn;
}

/** Turns whose prompts only grow: each begins with the one before. */
interface Epoch {
  /** Whether this turn opens it; profile, `rest`, notes and summary then stay until it ends. */
  readonly isNew: boolean;
  /** The user's message that opened it, and when, in milliseconds; undefined if this turn does. */
  readonly openedBy?: string | undefined;
  readonly openedAt?: number | undefined;
  /** `seq` of the first message shown verbatim. */
  readonly firstSeq: number;
  readonly earlier: readonly EarlierAdditions[];
  /** What changes told earlier turns in full, as it is now. */
  readonly told: readonly ShownMemory[];
  /** Open requests for consent that earlier turns were shown. */
  readonly asked: readonly RecalledConsent[];
  /**
   * What is always shown and became known since the epoch began, unless a turn showed it; `omitted`:
   * how many of these are over budget.
   */
  readonly added: Pick<RecalledMemories, "profile" | "notes" | "omitted">;
  readonly readable: readonly string[];
  /** How long the recall took. */
  readonly recallMs?: number;
  /** What prompts put before a user's words: then these are still what the user said. */
  readonly prefixes: Set<string>;
  /** How the turn's first prompt was printed, noted where it is; undefined in a replay. */
  readonly handed?: Handed;
}

/** Memory at the start of a turn, within the token budget. */
export interface Recalled {
  readonly epoch: Epoch;
  /** "passive": without memories, changes and consents. */
  readonly mode: RecallMode;
  readonly summary: Conversation["summary"];
  /** A newer summary in progress: then the gap is larger. */
  readonly processing: Conversation["processing"];
  /** Recorded messages after the summary's end, in order. */
  readonly gap: readonly BaseMessage[];
  /** The oldest of them, omitted if there are more than some 400. */
  readonly omitted: Conversation["omitted"];
  /** The last messages that the summary covers, shown verbatim beside it: whole turns, in order. */
  readonly recent: readonly BaseMessage[];
  /** Ids of recent messages with cut texts: a single turn exceeded 2,000 tokens. */
  readonly shortened: readonly string[];
  /** The turn at the summary's end, if the gap has no user's message. */
  readonly lastTurn: readonly BaseMessage[];
  /** Ids that the graph's state lacked when the run began; only recall nodes set them. */
  readonly brought?: readonly string[];
  /** Messages of `state` that were edited since they were recorded. */
  readonly edited?: readonly BaseMessage[];
  /** What users and assistants say in `state`, by message id. */
  readonly words?: ReadonlyMap<string, string>;
  readonly lastSeq: number;
  readonly lastMessageId: string | null;
  readonly memories: RecalledMemories;
  /** The name of the notes' app (`notes.apps`). @default its id */
  readonly appName?: string;
  readonly changes: RecalledChanges;
  /** Unextracted messages of the user's other threads, oldest first, in a thread's first turn. */
  readonly unread: readonly UnreadMessage[];
  /** Open requests that the agent may ask about, newest first, unless the epoch shows them. */
  readonly consents: readonly RecalledConsent[];
  /** Today in the user's time zone, as "2026-11-28". */
  readonly day: string;
  /**
   * Until an epoch names a day: those of the messages before, unless all are of today; of an open one
   * the last, since what was shown stays.
   */
  readonly days: readonly DayOf[];
  /** The user's, as "Europe/Lisbon". */
  readonly timeZone: string;
}

/** `recalled` with those of its messages that `isKept`. */
export function withMessages(
  recalled: Recalled,
  isKept: (message: BaseMessage) => boolean,
): Recalled {
  const { gap, recent, lastTurn } = recalled;
  return {
    ...recalled,
    gap: gap.filter(isKept),
    recent: recent.filter(isKept),
    lastTurn: lastTurn.filter(isKept),
  };
}

/** By priority in the budget. */
export const memoryParts: readonly BlockPart[] = [
  "profile",
  "relevant",
  "episodes",
  "notes",
  "related",
  "rest",
];

/**
 * Of these parts, an epoch's block shows what its opening turn found; a later turn adds what is new.
 */
export const standingParts: readonly BlockPart[] = ["profile", "rest", "notes"];

/** `memories` with their parts, by priority in the budget, without scores. */
export function shownIn(memories: Partial<RecalledMemories>): ShownMemory[] {
  return memoryParts.flatMap((part) =>
    (memories[part] ?? []).map((found) => ({
      part,
      memory: "memory" in found ? found.memory : found,
    })),
  );
}

export function ofPart(shown: readonly ShownMemory[], part: BlockPart): MemoryItem[] {
  return shown.filter((each) => each.part === part).map(({ memory }) => memory);
}

/** `memory` as a turn with such news was shown it: whether it is in doubt today is another matter. */
export function asShown(memory: MemoryItem, news: ShownNews | null | undefined): MemoryItem {
  const doubt = news?.doubts?.find(([doubted]) => doubted === memory.id);
  return { ...memory, doubtedAt: doubt ? new Date(doubt[1]) : null };
}

/** `shown` by part. */
export const inParts = (shown: readonly ShownMemory[]) =>
  Object.fromEntries(memoryParts.map((part) => [part, ofPart(shown, part)])) as Record<
    BlockPart,
    MemoryItem[]
  >;
