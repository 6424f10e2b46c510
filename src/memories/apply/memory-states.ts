import sql, { empty } from "sql-template-tag";
import { hasVectors } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { wordlessLine } from "../changes/change-line.js";
import type { Changer, Deactivation, Sighting } from "./change-set.js";
import { ownTargets } from "./move-intervals.js";

/** Removes memories from every search. */
export async function deactivateMemories(
  tx: Connection,
  by: Changer,
  deactivated: readonly Deactivation[] = [],
): Promise<void> {
  if (deactivated.length === 0) return;
  const vectors = by.space || (await hasVectors(tx));
  await tx.query(
    sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(deactivated)}::json) as i (
        id uuid, state text, "supersededBy" uuid, "validTo" timestamptz, "purgeAfterMs" float8
      )
    ),
    ${ownTargets(tx, by.ownerRef, sql`and state = 'active'`)},
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
    where o.id = ${by.ownerRef}`,
    { prepare: true },
  );
}

/** Stores memories as their last sighting leaves them; stored times are more precise. */
export async function touchMemories(
  tx: Connection,
  ownerRef: OwnerRef,
  sightings: readonly Sighting[] = [],
): Promise<void> {
  if (sightings.length === 0) return;
  const last = new Map(sightings.map((sighting) => [sighting.id, sighting]));
  await tx.query(
    sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify([...last.values()])}::json) as i (
        id uuid, "seenCount" integer, confidence real, importance real, turn bigint, "assertedAt" timestamptz,
        origin text, trust text, metadata jsonb, "expiresAt" timestamptz
      )
    ),
    ${ownTargets(tx, ownerRef)}
    update ${tx.schema}.memory m
    set seen_count = i."seenCount", confidence = i.confidence, importance = i.importance,
      asserted_turn = greatest(m.asserted_turn, i.turn),
      asserted_at = greatest(m.asserted_at, m.valid_from, i."assertedAt"),
      origin = i.origin, trust = i.trust, metadata = i.metadata, expires_at = i."expiresAt",
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
  ids: readonly string[] = [],
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(sql`
    with purged as (
      delete from ${tx.schema}.memory m
      where m.owner_ref = ${ownerRef} and m.id = any (${ids}::uuid[]) and m.state <> 'active'
      returning m.id
    )
    update ${tx.schema}.change_log c set line = ${wordlessLine}
    from purged p where c.memory_id = p.id and c.owner_ref = ${ownerRef}`);
}
