import type { MemoryItem } from "../memories/item/memory.js";
import { type MemoryJson, memoryOf } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { candidatesOf, type FoundMemory, type MemoryCandidate } from "../search/memory-hits.js";
import { type RecallStatement, recallStatement } from "./recall-statement.js";
import { type NewsRow, newsOf, type ToldNews } from "./told-news.js";

/** All that one recall found. */
export interface RecallResult extends ToldNews {
  /** Whether the question asks for no memory in particular. */
  readonly broad: boolean;
  /** What is always shown: pinned memories first, then most important first. */
  readonly profile: readonly MemoryItem[];
  /** What is shown while there is room, most important first. */
  readonly rest: readonly MemoryItem[];
  /** How many memories might be shown unasked. */
  readonly knownCount: number;
  /** Whether there are more than were counted. */
  readonly knownCut: boolean;
  /** The app's notes, latest first. */
  readonly notes: readonly MemoryItem[];
  readonly candidates: readonly MemoryCandidate[];
}

/** A row of a list; without its memory where a hit has that. */
type ListedMemory = Omit<FoundMemory, "memory"> & { readonly memory: MemoryJson | null };

interface Row extends NewsRow {
  broad: boolean;
  known_count: number;
  known_cut: boolean;
  memories: ListedMemory[];
}

/** Everything the prompt of a turn needs, in one round trip. @throws MemoryError `DATABASE_TIMEOUT` after `timeoutMs` */
export async function findRecall(
  db: Connection,
  input: RecallStatement,
  timeoutMs: number,
): Promise<RecallResult> {
  const [row] = await db.query<Row>(recallStatement(db, input), { prepare: true, timeoutMs });
  const found = row as Row;
  const written = found.memories.filter(isWritten);
  const memories = new Map(written.map(({ ref, memory }) => [ref, memoryOf(memory)]));
  const listOf = (name: string) => listed(found.memories, name, memories);
  return {
    ...newsOf(found),
    broad: found.broad,
    profile: listOf("profile"),
    rest: listOf("rest"),
    knownCount: found.known_count,
    knownCut: found.known_cut,
    notes: listOf("note"),
    candidates: candidatesOf(written, memories),
  };
}

function isWritten(row: ListedMemory): row is FoundMemory {
  return row.memory !== null;
}

/** The memories of one list, in its order. */
function listed(
  rows: readonly ListedMemory[],
  name: string,
  memories: ReadonlyMap<number, MemoryItem>,
): MemoryItem[] {
  return rows
    .filter(({ list }) => list === name)
    .toSorted((first, second) => Number(first.signals) - Number(second.signals))
    .flatMap(({ ref }) => memories.get(ref) ?? []);
}
