import type { Connection } from "../postgres/connection.js";
import type { HeldMemoryRow } from "../search/held/held-memory-row.js";
import type { HeldMessageRow } from "../search/held/held-message-row.js";
import { type HeldTick, type PulseStatement, pulseStatement } from "./pulse-statement.js";
import { type NewsRow, newsOf, type ToldNews } from "./told-news.js";

/** All that a recall of held owners asks the database. */
export interface PulseResult extends ToldNews {
  /** Whether the question asks for no memory in particular. */
  readonly broad: boolean;
  /** The question's lexemes, in the order in which they are numbered. */
  readonly lexemes: readonly string[];
  /** Those of words that name a speaker. */
  readonly named: ReadonlySet<string>;
  /** The owners that the scope sees, the user first; none for another scope's thread. */
  readonly owners: readonly PulseOwner[];
  /** The time at the database, or the caller's clock, in milliseconds since 1970. */
  readonly now: number;
}

/** An owner as it stands. */
export interface PulseOwner {
  readonly ref: number;
  readonly isUser: boolean;
  /** A copy that has taken in `changed` stands at this tick. */
  readonly tick: number;
  /** Copies older than this are to be read anew. */
  readonly reloadTick: number;
  readonly memoryCount: number;
  readonly memoryLength: number;
  readonly messageCount: number;
  readonly messageLength: number;
  /** Its threads, of the scope's app where it names one; 0 when nothing is asked. */
  readonly threads: number;
  /** What the held copy lacks; null where there is none of this owner, or it is to be read anew. */
  readonly changed: ChangedRows | null;
}

/** Rows that changed since a copy was made: to be taken in all, or none. */
interface ChangedRows {
  /** Active ones, and those that are no longer. */
  readonly memories: readonly HeldMemoryRow[];
  /** The threads with new messages, and those. */
  readonly threads: readonly HeldMessageRow[];
}

interface OwnerRow extends Omit<PulseOwner, "changed"> {
  readonly tooMuch: boolean;
}

/** Rows, each with its owner's ref. */
type OwnedRows<Row> = readonly (readonly [ownerRef: number, row: Row])[] | null;

interface Row extends NewsRow {
  broad: boolean;
  lexemes: string[];
  named: string[];
  owners: OwnerRow[] | null;
  memories: OwnedRows<HeldMemoryRow>;
  threads: OwnedRows<HeldMessageRow>;
  now: number;
}

/**
 * What a round is told and what held owners lack, in one small round trip.
 *
 * @throws MemoryError `DATABASE_TIMEOUT` after `timeoutMs`
 */
export async function findPulse(
  db: Connection,
  input: PulseStatement,
  timeoutMs: number,
): Promise<PulseResult> {
  const [row] = await db.query<Row>(pulseStatement(db, input), { prepare: true, timeoutMs });
  const found = row as Row;
  return {
    ...newsOf(found),
    broad: found.broad,
    lexemes: found.lexemes,
    named: new Set(found.named),
    owners: (found.owners ?? [])
      .toSorted((first, second) => Number(second.isUser) - Number(first.isUser))
      .map(({ tooMuch, ...owner }) => ({
        ...owner,
        changed: tooMuch || !isContinued(owner, input.held) ? null : changedOf(owner.ref, found),
      })),
    now: found.now,
  };
}

/** Whether the held copy of `owner` can be brought up to date by rows. */
function isContinued(
  { ref, tick, reloadTick }: Omit<OwnerRow, "tooMuch">,
  held: readonly HeldTick[],
): boolean {
  const copy = held.find((each) => each.ref === ref);
  // A database that was restored from a backup may stand at an earlier tick than the copy.
  return copy !== undefined && copy.tick >= reloadTick && copy.tick <= tick;
}

function changedOf(ref: number, { memories, threads }: Row): ChangedRows {
  const ofOwner = <Item>(rows: OwnedRows<Item>) =>
    (rows ?? []).flatMap(([owner, row]) => (owner === ref ? [row] : []));
  return { memories: ofOwner(memories), threads: ofOwner(threads) };
}
