import sql, { type Sql } from "sql-template-tag";
import type { Database } from "../../src/postgres/database.js";
import { findPulse, type PulseOwner, type PulseResult } from "../../src/rounds/find-pulse.js";
import type { PulseStatement } from "../../src/rounds/pulse-statement.js";
import type { Scope } from "../../src/scope/scope.js";
import { type HeldMemoryRow, heldMemoryJson } from "../../src/search/held/held-memory-row.js";
import { type HeldMessageRow, heldThreadJson } from "../../src/search/held/held-message-row.js";
import { readQuestion } from "../../src/search/read-question.js";

/** What news is told of, and how much of a thread is read. */
export const categories = ["profile", "preference", "preferences", "knowledge", "event"];
export const limits = { recentMessages: 4, recentBytes: 1_000, gapMessages: 400, gapBytes: 100_000 };

/** The pulse of a round of `scope`. */
export function asking(
  scope: Scope,
  threadId: string,
  query: string | null = null,
): Omit<PulseStatement, "held"> {
  return {
    ...{
      address: { scope, threadId },
      limits,
      speakers: [],
      space: null,
      categories,
      changes: 3,
      consents: 3,
    },
    question: query === null ? null : readQuestion(query, "english", new Date()),
  };
}

/** What is held of an owner: what its active memories and its threads are, by their refs. */
export interface Copy {
  readonly tick: number;
  readonly memories: Map<number, HeldMemoryRow>;
  readonly threads: Map<number, HeldMessageRow>;
}

/** The owner as the tables have it. */
export async function readCopy(db: Database, ref: number): Promise<Copy> {
  const { schema } = db;
  const list = (json: Sql, from: Sql) => sql`coalesce((select json_agg(${json}) from ${from}), '[]')`;
  const [row] = await db.query<{ tick: number; memories: HeldMemoryRow[]; threads: HeldMessageRow[] }>(sql`
    select o.tick::float8 as tick,
      ${list(heldMemoryJson(db, null), sql`${schema}.memory m where m.owner_ref = o.id and m.state = 'active'`)} as memories,
      ${list(heldThreadJson(db, sql`0`), sql`${schema}.thread t where t.owner_ref = o.id`)} as threads
    from ${schema}.owner o where o.id = ${ref}`);
  return {
    tick: row!.tick,
    memories: new Map(row!.memories.map((memory) => [memory.ref, memory])),
    // A thread without messages is not held.
    threads: new Map(row!.threads.flatMap((thread) => (thread.size > 0 ? [[thread.thread, thread]] : []))),
  };
}

/** `copy` with what changed since. */
function brought(copy: Copy, { tick, changed }: PulseOwner): Copy {
  const memories = new Map(copy.memories);
  for (const memory of changed!.memories) {
    if (memory.active) memories.set(memory.ref, memory);
    else memories.delete(memory.ref);
  }
  const threads = new Map(copy.threads);
  for (const thread of changed!.threads) {
    const known = threads.get(thread.thread)?.messages ?? [];
    threads.set(thread.thread, { ...thread, messages: [...known, ...thread.messages] });
  }
  return { tick, memories, threads };
}

/** Copies of owners as a process keeps them, by their refs. */
export function pulseCopies(db: Database) {
  const held = new Map<number, Copy>();
  const counts = { reloads: 0, rows: 0 };
  return {
    held,
    counts,
    /** The pulse of a round, after which the copies of the owners that it sees are up to date. */
    async pulse(input: Omit<PulseStatement, "held">): Promise<PulseResult> {
      const asked = [...held].map(([ref, { tick }]) => ({ ref, tick }));
      const found = await findPulse(db, { ...input, held: asked }, 60_000);
      for (const owner of found.owners) {
        const copy = held.get(owner.ref);
        if (!owner.changed || !copy) {
          counts.reloads++;
          held.set(owner.ref, await readCopy(db, owner.ref));
        } else {
          counts.rows += owner.changed.memories.length + owner.changed.threads.length;
          held.set(owner.ref, brought(copy, owner));
        }
      }
      return found;
    },
  };
}

/** A copy to be compared: rows in one order, lists without one in the same, and each link once, as whoever holds both ends has it. */
export function comparable({ tick, memories, threads }: Copy) {
  const byRef = <Row>(rows: Map<number, Row>) => [...rows].sort(([first], [second]) => first - second);
  const words = (lexemes: readonly string[], frequencies: readonly number[]) =>
    lexemes.map((lexeme, index) => `${lexeme} ${frequencies[index]}`).sort();
  const links = [...memories.values()].flatMap(({ ref, links: linked }) =>
    linked
      .filter(([other]) => memories.has(other))
      .map(([other, strength]) => `${Math.min(ref, other)} ${Math.max(ref, other)} ${strength}`),
  );
  return {
    tick,
    links: [...new Set(links)].sort(),
    memories: byRef(memories).map(([, { lexemes, frequencies, speakers, links: _, ...memory }]) => ({
      ...memory,
      words: words(lexemes, frequencies),
      speakers: [...speakers].sort(),
    })),
    threads: byRef(threads).map(([, { messages, ...thread }]) => ({
      ...thread,
      messages: messages.map(([seq, length, lexemes, frequencies, speakers]) => [
        seq,
        length,
        words(lexemes, frequencies),
        [...speakers].sort(),
      ]),
    })),
  };
}
