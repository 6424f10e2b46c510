import sql, { empty } from "sql-template-tag";
import { hasVectors } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { changeLine, wordlessLine } from "../changes/change-line.js";
import type { MemoryChange } from "../changes/record-changes.js";
import type { MemoryItem, MemoryLifecycle, MemoryOrigin, MemoryTrust } from "../item/memory.js";
import { learnedFrom, versionOf } from "../item/memory-fields.js";
import type { Noted } from "../item/memory-metadata.rule.js";
import { ownTargets } from "../slot/slot-intervals.js";

export interface Deactivation {
  readonly id: string;
  readonly state: Exclude<MemoryLifecycle, "active">;
  readonly supersededBy: string | null;
  /** End of its validity; null: only hidden. */
  readonly validTo: string | null;
  readonly purgeAfterMs: number | null;
}

/** Removes memories from every search. `vectors`: whether there are certainly some. */
export async function deactivateMemories(
  tx: Connection,
  input: { ownerRef: OwnerRef; changes: readonly Deactivation[]; vectors: boolean },
): Promise<void> {
  if (input.changes.length === 0) return;
  const vectors = input.vectors || (await hasVectors(tx));
  await tx.query(
    sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input.changes)}::json) as i (
        id uuid, state text, "supersededBy" uuid, "validTo" timestamptz, "purgeAfterMs" float8
      )
    ),
    ${ownTargets(tx, input.ownerRef, sql`and state = 'active'`)},
    closed as (
      update ${tx.schema}.memory m
      set state = i.state, superseded_by = i."supersededBy", valid_to = greatest(i."validTo", case when i."validTo" is not null then m.valid_from end),
        purge_at = ${tx.now()} + i."purgeAfterMs" * interval '1 millisecond', updated_at = ${tx.now()}
      from target i where m.ref = i.ref
      returning m.ref
    ),
    ${vectors ? sql`vector as (update ${tx.schema}.memory_embedding e set active = false from closed where e.memory_ref = closed.ref),` : empty}
    term as (
      delete from ${tx.schema}.memory_term t using closed where t.memory_ref = closed.ref
      returning t.memory_ref, t.length
    )
    update ${tx.schema}.owner o
    set memory_count = o.memory_count - (select count(*) from closed),
      memory_length = o.memory_length
        - coalesce((select sum(length) from (select max(length) as length from term group by memory_ref) d), 0)
    where o.id = ${input.ownerRef}`,
    { prepare: true },
  );
}

/** Soft-deletes active memories of a locked owner. Returns entries for the audit trail. */
export async function hideMemories(
  tx: Connection,
  input: {
    ownerRef: OwnerRef;
    vectors: boolean;
    purgeAfterMs: number;
    event: "DELETE" | "TTL" | "UPDATE";
  },
  memories: readonly MemoryItem[],
  detailsOf: (memory: MemoryItem) => object,
): Promise<MemoryChange[]> {
  const { ownerRef, vectors, purgeAfterMs, event } = input;
  const state = "soft_deleted";
  const hidden = { state, supersededBy: null, validTo: null, purgeAfterMs } as const;
  await deactivateMemories(tx, {
    ownerRef,
    vectors,
    changes: memories.map(({ id }) => ({ ...hidden, id })),
  });
  return memories.map((memory) => ({
    memoryId: memory.id,
    event,
    category: memory.category,
    old: { ...versionOf(memory), state: "active" },
    new: { state, ...learnedFrom(memory), ...detailsOf(memory) },
    delta: { event: state, line: changeLine(state, memory), importance: memory.importance },
  }));
}

export interface Sighting extends Noted {
  readonly id: string;
  readonly times: number;
  readonly confidence: number;
  readonly importance: number;
  readonly assertedTurn: number;
  /** Null when the speaker ranks lower than before. */
  readonly assertedAt: string | null;
  /** Null keeps it, as for `trust`. */
  readonly origin: MemoryOrigin | null;
  readonly trust: MemoryTrust | null;
  /** The highest-ranking sighting sets origin and trust. */
  readonly rank: number;
}

/**
 * Counts sightings. Keeps the higher confidence and importance, and the last metadata and expiry.
 */
export async function touchMemories(
  tx: Connection,
  { ownerRef, sightings }: { ownerRef: OwnerRef; sightings: readonly Sighting[] },
): Promise<void> {
  if (sightings.length === 0) return;
  await tx.query(
    sql`
    with input as (
      select id, sum(times) as times, max(confidence) as confidence, max(importance) as importance,
        max("assertedTurn") as "assertedTurn", max("assertedAt") as "assertedAt",
        (array_agg(origin order by rank desc, trust))[1] as origin,
        (array_agg(trust order by rank desc, trust))[1] as trust,
        (array_agg(metadata order by at desc))[1] as metadata,
        (array_agg("expiresAt" order by at desc))[1] as "expiresAt"
      from json_to_recordset(${JSON.stringify(sightings.map((sighting, at) => ({ ...sighting, at })))}::json) as s (
        id uuid, times integer, confidence real, importance real, "assertedTurn" bigint,
        "assertedAt" timestamptz, origin text, trust text, rank integer, metadata jsonb, "expiresAt" timestamptz,
        at integer
      )
      group by id
    ),
    ${ownTargets(tx, ownerRef)}
    update ${tx.schema}.memory m
    set seen_count = m.seen_count + i.times, confidence = greatest(m.confidence, i.confidence),
      importance = greatest(m.importance, i.importance),
      asserted_turn = greatest(m.asserted_turn, i."assertedTurn"),
      asserted_at = greatest(m.asserted_at, m.valid_from, i."assertedAt"),
      origin = coalesce(i.origin, m.origin), trust = coalesce(i.trust, m.trust),
      metadata = i.metadata, expires_at = i."expiresAt",
      last_accessed_at = ${tx.now()}, updated_at = ${tx.now()}
    from target i where m.ref = i.ref`,
    { prepare: true },
  );
}

/**
 * Deletes inactive memories of a locked owner, and their text in the change log. The audit trail
 * stays.
 */
export async function purgeMemories(
  tx: Connection,
  ownerRef: OwnerRef,
  ids: readonly string[],
): Promise<void> {
  await tx.query(sql`
    with purged as (
      delete from ${tx.schema}.memory m
      where m.owner_ref = ${ownerRef} and m.id = any (${ids}::uuid[]) and m.state <> 'active'
      returning m.id
    )
    update ${tx.schema}.change_log c set line = ${wordlessLine}
    from purged p where c.memory_id = p.id and c.owner_ref = ${ownerRef}`);
}
