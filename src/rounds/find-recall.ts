import type { PendingConsent } from "../consents/consent-lines.rule.js";
import {
  type Conversation,
  type ConversationRow,
  conversationOf,
} from "../conversation/find-conversation.js";
import type { ChangeEvent } from "../memories/changes/change-line.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { type MemoryJson, memoryOf } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { candidatesOf, type FoundMemory, type MemoryCandidate } from "../search/memory-hits.js";
import { type RecallStatement, recallStatement } from "./recall-statement.js";

export interface RecalledChange {
  readonly rev: number;
  readonly event: ChangeEvent;
  readonly line: string;
}

export interface RecallResult {
  /** Undefined for a thread not seen before, null for another scope's: then nothing else was read. */
  readonly conversation: Conversation | null | undefined;
  readonly revision: number;
  /** What the thread was last shown. */
  readonly revSeen: number;
  readonly changeCount: number;
  /** The most important changes since, most important first. */
  readonly changes: readonly RecalledChange[];
  /** Open requests for consent, newest first. */
  readonly consents: readonly PendingConsent[];
  readonly broad: boolean;
  /** What is always shown: pinned memories first, then most important first. */
  readonly profile: readonly MemoryItem[];
  /** Fills the room that is left, most important first. */
  readonly rest: readonly MemoryItem[];
  /** How many memories might be shown unasked. */
  readonly knownCount: number;
  /** Whether counting stopped before the end. */
  readonly knownCut: boolean;
  readonly notes: readonly MemoryItem[];
  readonly candidates: readonly MemoryCandidate[];
}

/** Null where a hit has the memory. */
type ListedMemory = Omit<FoundMemory, "memory"> & { readonly memory: MemoryJson | null };

interface Row extends Pick<RecallResult, "changes" | "consents"> {
  conversation: ConversationRow | null;
  revision: number | null;
  trimmed_to: number | null;
  change_count: number;
  broad: boolean;
  known_count: number;
  known_cut: boolean;
  memories: ListedMemory[];
}

/** One round trip. @throws MemoryError `DATABASE_TIMEOUT` after `timeoutMs` */
export async function findRecall(
  db: Connection,
  input: RecallStatement,
  timeoutMs: number,
): Promise<RecallResult> {
  const [row] = await db.query<Row>(recallStatement(db, input), { prepare: true, timeoutMs });
  const found = row as Row;
  const written = found.memories.filter((row): row is FoundMemory => row.memory !== null);
  const memories = new Map(written.map(({ ref, memory }) => [ref, memoryOf(memory)]));
  const listOf = (name: string) =>
    found.memories
      .filter(({ list }) => list === name)
      .toSorted((first, second) => Number(first.signals) - Number(second.signals))
      .flatMap(({ ref }) => memories.get(ref) ?? []);
  return {
    conversation: conversationOf(found.conversation),
    revision: found.revision ?? 0,
    // A new thread is told of no changes: all that is known is news to it.
    revSeen: Math.max(found.conversation?.rev_seen ?? found.revision ?? 0, found.trimmed_to ?? 0),
    changeCount: found.change_count,
    changes: found.changes,
    consents: found.consents,
    broad: found.broad,
    profile: listOf("profile"),
    rest: listOf("rest"),
    knownCount: found.known_count,
    knownCut: found.known_cut,
    notes: listOf("note"),
    candidates: candidatesOf(written, memories),
  };
}
