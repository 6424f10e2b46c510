import sql, { empty, type Sql } from "sql-template-tag";
import { names, values, without } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { memoryColumns } from "../item/memory-fields.js";
import { addedSources } from "../item/source-rows.js";
import type { MovedInterval, SplitInterval } from "./change-set.js";

/**
 * CTE `target`: the rows of the CTE `input` (id, …) that are memories of the owner and meet
 * `condition`, with their `ref`.
 */
export function ownTargets(
  { schema }: Connection,
  ownerRef: OwnerRef,
  condition: Sql = empty,
): Sql {
  return sql`target as materialized (
    -- One lookup each: a join would read all of the owner's memories.
    select m.ref, i.* from input i cross join lateral (
      select ref from ${schema}.memory where id = i.id and owner_ref = ${ownerRef} ${condition} limit 1
    ) m
  )`;
}

/** Changes what is given of each interval; the rest stays. */
export async function moveIntervals(
  tx: Connection,
  ownerRef: OwnerRef,
  moves: readonly MovedInterval[] = [],
): Promise<void> {
  if (moves.length === 0) return;
  await tx.query(sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(moves)}::json) as i (
        id uuid, "validFrom" timestamptz, "validTo" timestamptz, "supersededBy" uuid
      )
    ),
    ${ownTargets(tx, ownerRef)}
    update ${tx.schema}.memory m
    set asserted_at = coalesce(m.asserted_at, m.valid_from),
      valid_from = coalesce(i."validFrom", m.valid_from),
      valid_to = coalesce(i."validTo", m.valid_to),
      superseded_by = coalesce(i."supersededBy", m.superseded_by),
      updated_at = ${tx.now()}
    from target i where m.ref = i.ref`);
}

const copiedColumns = without(
  memoryColumns,
  "seenCount",
  "accessCount",
  "assertedAt",
  "purgeAt",
  "revision",
);

/**
 * Splits each value: a closed copy ends at `until`, and the memory itself starts `from` its next
 * sighting.
 */
export async function splitIntervals(
  tx: Connection,
  ownerRef: OwnerRef,
  splits: readonly SplitInterval[] = [],
): Promise<void> {
  for (const { id, copyId, until, from, supersededBy } of splits) {
    const closed = {
      id: sql`${copyId}`,
      state: sql`'superseded'`,
      validTo: sql`${until.toISOString()}`,
      supersededBy: sql`${supersededBy}`,
      lastAccessedAt: tx.now(),
      createdAt: tx.now(),
      updatedAt: tx.now(),
    };
    await tx.query(sql`
      with whole as materialized (
        select * from ${tx.schema}.memory where id = ${id} and owner_ref = ${ownerRef}
      ),
      earlier as (
        insert into ${tx.schema}.memory (owner_ref, ${names(copiedColumns)})
        select w.owner_ref, ${values(copiedColumns, "w", closed)} from whole w
        returning ref, thread_ref, source_seqs
      ),
      ${addedSources(tx, "earlier")}
      update ${tx.schema}.memory m
      set valid_from = ${from.toISOString()}, asserted_at = coalesce(m.asserted_at, m.valid_from), updated_at = ${tx.now()}
      from whole where m.ref = whole.ref`);
  }
}
