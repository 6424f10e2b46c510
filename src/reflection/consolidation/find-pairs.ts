import sql from "sql-template-tag";
import { dayMs } from "../../clock.js";
import { MemoryError } from "../../errors.js";
import { consentRule } from "../../memories/consent/consent-policy.rule.js";
import { zoneOfSource } from "../../memories/item/index-rows.js";
import { isActive, type MemoryJson, memoryJson, memoryOf } from "../../memories/item/memory-row.js";
import { sourceRank } from "../../memories/slot/slot-timeline.rule.js";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import { minSimilarity } from "../../models/unrelated-similarity.rule.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import {
  choosePairs,
  fingerprintOf,
  refsOf,
  type StoredMemory,
  type StoredPair,
  type VotedPair,
} from "./choose-pairs.rule.js";
import { type ConsolidationRuntime, maxPairs } from "./consolidation-options.js";
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
const maxUsedRank = 0.9;

/**
 * Finds an owner's pairs for the model, most similar first, at most `maxPairs`, without recently
 * compared ones. Searches neighbours of fresh, important, and the most used tenth of memories.
 */
export async function findPairs(
  deps: ConsolidationRuntime,
  ownerRef: OwnerRef,
): Promise<{ readonly pairs: readonly VotedPair[]; readonly more: boolean }> {
  const { db, config } = deps;
  // Choose whose neighbours to search.
  const refs = await findSearched(db, ownerRef);
  if (refs.length === 0) return { pairs: [], more: false };

  // Find them, by vector or by words.
  const space = await currentSpace(deps);
  const asked = minSimilarity(space, "asked");
  const least = (space && config.memories.askSimilarity) ?? asked;
  const found = await findNearMemories(db, { ownerRef, refs, space, least });
  const stored = await findStored(db, ownerRef, found);
  const near: StoredPair[] = [];
  for (const pair of found) {
    const [first, second] = [stored.get(pair.first), stored.get(pair.second)];
    if (first && second) near.push({ first, second, similarity: pair.similarity });
  }

  // Keep those that may be one; a wrong merge of what needs consent is worse.
  const guarded = space ? (1 + least) / 2 : least;
  const open = choosePairs(near, {
    policy: config.policy,
    minSimilarity: (memory) => (consentRule(config.consent, memory) ? guarded : least),
    since: new Date(deps.clock().getTime() - recentMs),
  });

  // Leave out those that were compared lately.
  const fingerprints = open.map(fingerprintOf);
  const compared = await findCompared(db, ownerRef, fingerprints);
  const pairs = open.filter((_, index) => !compared.has(fingerprints[index] ?? ""));
  const first = pairs.slice(0, maxPairs).map((pair): VotedPair => ({ ...pair, votes: [] }));
  return { pairs: first, more: pairs.length > maxPairs };
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
      where m.owner_ref = ${ownerRef} and m.kind in ('fact', 'insight') and ${isActive(db)}
    ) m
    where m.updated_at > ${ago(recentMs)} and (
      m.updated_at > ${ago(freshMs)} or m.importance >= ${importantFrom}
        or (m.access_count > 0 and m.used >= ${maxUsedRank})
    )
    order by m.updated_at desc, m.ref desc limit ${maxSearched}`);
  return rows.map(({ ref }) => ref);
}

/** Those of `pairs` whose memories are as they were. */
export async function findUnchanged<
  Pair extends Record<"first" | "second", Pick<StoredMemory, "ref" | "revision">>,
>(db: Connection, ownerRef: OwnerRef, pairs: readonly Pair[]) {
  const stored = await findStored(db, ownerRef, refsOf(pairs));
  const unchanged: (Pair & Pick<StoredPair, "first" | "second">)[] = [];
  for (const pair of pairs) {
    const [first, second] = [stored.get(pair.first.ref), stored.get(pair.second.ref)];
    if (first?.revision === pair.first.revision && second?.revision === pair.second.revision)
      unchanged.push({ ...pair, first, second });
  }
  return unchanged;
}

/** The active, unexpired memories of an owner's `pairs`, by ref. */
export async function findStored(
  db: Connection,
  ownerRef: OwnerRef,
  pairs: readonly { readonly first: number; readonly second: number }[],
): Promise<ReadonlyMap<number, StoredMemory>> {
  const refs = new Set(pairs.flatMap(({ first, second }) => [first, second]));
  const rows = await db.query<{
    memory: MemoryJson;
    ref: number;
    turn: number;
    assertedAt: Date;
    timeZone: string | null;
  }>(sql`
    select ${memoryJson(db)} as memory, m.ref::float8 as ref, m.asserted_turn::float8 as turn,
      coalesce(m.asserted_at, m.valid_from) as "assertedAt", ${zoneOfSource(db)} as "timeZone"
    from unnest(${[...refs]}::bigint[]) wanted
    cross join lateral (select * from ${db.schema}.memory where ref = wanted limit 1) m
    where m.owner_ref = ${ownerRef} and ${isActive(db)}`);
  return new Map(
    rows.map(({ memory, ...row }) => {
      const item = memoryOf(memory);
      return [row.ref, { ...item, ...row, rank: sourceRank(item) }];
    }),
  );
}
