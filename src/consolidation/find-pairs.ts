import sql from "sql-template-tag";
import { dayMs } from "../clock.js";
import { MemoryError } from "../errors.js";
import { consentRule } from "../memories/guard/consent-policy.rule.js";
import { zoneOfSource } from "../memories/item/index-rows.js";
import { type MemoryJson, memoryJson, memoryOf, unexpired } from "../memories/item/memory-row.js";
import { sourceRank } from "../memories/slot/slot-timeline.rule.js";
import type { EmbeddingSpace } from "../models/embedding-space.js";
import { leastSimilarity } from "../models/unrelated-similarity.rule.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import {
  choosePairs,
  fingerprintOf,
  type StoredMemory,
  type StoredPair,
} from "./choose-pairs.rule.js";
import {
  type ConsolidationRuntime,
  fingerprintsForMs,
  mostPairs,
} from "./consolidation-options.js";
import { findNearMemories } from "./near-memories.js";
import { findCompared } from "./pair-statements.js";

/** Per run: those that changed last. */
const maxSearched = 500;
/** Searched in any case: a process that was off for a weekend misses nothing. */
const freshMs = 3 * dayMs;
/** Older memories were compared when they were new. */
const recentMs = 90 * dayMs;
/** Of 1 to 5: unrated memories have 3. */
const importantFrom = 3;
const mostUsedRank = 0.9;

/**
 * Finds an owner's pairs for the model, most similar first, at most `mostPairs`, without recently
 * compared ones. Searches neighbours of fresh, important, and the most used tenth of memories.
 */
export async function findPairs(
  deps: ConsolidationRuntime,
  ownerRef: OwnerRef,
): Promise<{ readonly pairs: readonly StoredPair[]; readonly more: boolean }> {
  const { db, config } = deps;
  const refs = await findSearched(db, ownerRef);
  if (refs.length === 0) return { pairs: [], more: false };
  const space = await currentSpace(deps);
  const asked = leastSimilarity(space, "asked");
  const least = (space && config.memories.askSimilarity) ?? asked;
  // A wrong merge of what needs consent is worse.
  const guarded = space ? (1 + least) / 2 : least;
  const since = new Date(deps.clock().getTime() - recentMs);
  const near = await findNear(db, { ownerRef, refs, space, least });
  const open = choosePairs(near, {
    policy: config.policy,
    leastSimilarity: (memory) => (consentRule(config.consent, memory) ? guarded : least),
    since,
  });
  const fingerprints = open.map(fingerprintOf);
  const compared = await findCompared(db, { ownerRef, fingerprints, withinMs: fingerprintsForMs });
  const pairs = open.filter((_, index) => !compared.has(fingerprints[index] ?? ""));
  return { pairs: pairs.slice(0, mostPairs), more: pairs.length > mostPairs };
}

async function findNear(
  db: Connection,
  search: Parameters<typeof findNearMemories>[1],
): Promise<StoredPair[]> {
  const found = await findNearMemories(db, search);
  const refs = found.flatMap(({ first, second }) => [first, second]);
  const stored = await findStored(db, { ownerRef: search.ownerRef, refs });
  const byRef = new Map([...stored.values()].map((memory) => [memory.ref, memory]));
  return found.flatMap((pair): StoredPair[] => {
    const [first, second] = [byRef.get(pair.first), byRef.get(pair.second)];
    return first && second ? [{ first, second, similarity: pair.similarity }] : [];
  });
}

/** With its figures, which only questions measure; null without embeddings, and in an outage. */
async function currentSpace({
  embedder,
  config,
}: ConsolidationRuntime): Promise<EmbeddingSpace | null> {
  try {
    const asked = await embedder?.query("What does the user like?", config.upkeep.timeoutMs);
    return asked?.space ?? null;
  } catch (error) {
    if (MemoryError.is(error, "EMBEDDING_FAILED")) return null;
    throw error;
  }
}

async function findSearched(db: Connection, ownerRef: OwnerRef): Promise<number[]> {
  const { schema } = db;
  const ago = (ms: number) => sql`${db.now()} - ${ms}::float8 * interval '1 millisecond'`;
  const rows = await db.query<{ ref: number }>(sql`
    select m.ref::float8 as ref
    from (
      select m.ref, m.updated_at, m.importance, m.access_count, percent_rank() over (order by m.access_count) as used
      from ${schema}.memory m
      where m.owner_ref = ${ownerRef} and m.kind in ('fact', 'insight') and m.state = 'active' and ${unexpired(db)}
    ) m
    where m.updated_at > ${ago(recentMs)} and (
      m.updated_at > ${ago(freshMs)} or m.importance >= ${importantFrom}
        or (m.access_count > 0 and m.used >= ${mostUsedRank})
    )
    order by m.updated_at desc, m.ref desc limit ${maxSearched}`);
  return rows.map(({ ref }) => ref);
}

/** Active, unexpired memories of an owner, by id. */
export async function findStored(
  db: Connection,
  input: { ownerRef: OwnerRef } & ({ ids: readonly string[] } | { refs: readonly number[] }),
): Promise<ReadonlyMap<string, StoredMemory>> {
  const { schema } = db;
  const requested =
    "ids" in input
      ? sql`unnest(${input.ids}::uuid[]) wanted cross join lateral (select * from ${schema}.memory where id = wanted limit 1) m`
      : sql`unnest(${input.refs}::bigint[]) wanted cross join lateral (select * from ${schema}.memory where ref = wanted limit 1) m`;
  const rows = await db.query<{
    memory: MemoryJson;
    ref: string;
    turn: number;
    asserted_at: Date;
    time_zone: string | null;
  }>(sql`
    select distinct on (m.ref) ${memoryJson(db)} as memory, m.ref, m.asserted_turn::float8 as turn,
      coalesce(m.asserted_at, m.valid_from) as asserted_at, ${zoneOfSource(db)} as time_zone
    from ${requested}
    where m.owner_ref = ${input.ownerRef} and m.state = 'active' and ${unexpired(db)}
    order by m.ref`);
  return new Map(
    rows.map(({ memory, ref, turn, asserted_at: assertedAt, time_zone: timeZone }) => {
      const item = memoryOf(memory);
      const rank = sourceRank(item);
      return [item.id, { ...item, ref: Number(ref), turn, assertedAt, timeZone, rank }];
    }),
  );
}
