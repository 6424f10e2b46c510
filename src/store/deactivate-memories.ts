import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { MemoryLifecycle } from "../domain/memory.js";
import { activeTargets } from "./active-targets.js";
import { hasVectors } from "./has-vectors.js";

/** How a memory leaves the active ones. */
export interface Deactivation {
  readonly id: string;
  readonly state: Exclude<MemoryLifecycle, "active">;
  readonly supersededBy: string | null;
  /** When it stopped being true; null keeps it open (it is only hidden). */
  readonly validTo: string | null;
  readonly purgeAfterMs: number | null;
}

/**
 * Takes memories of an owner out of every search at once: state, lexical index, vectors and counts. One statement.
 *
 * @param input.vectors whether there surely are vectors; otherwise it is looked up.
 */
export async function deactivateMemories(
  tx: Connection,
  input: { ownerRef: number; changes: readonly Deactivation[]; vectors: boolean },
): Promise<void> {
  if (input.changes.length === 0) return;
  const vectors = input.vectors || (await hasVectors(tx));
  await tx.query(sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input.changes)}::json) as i (
        id uuid, state text, "supersededBy" uuid, "validTo" timestamptz, "purgeAfterMs" float8
      )
    ),
    ${activeTargets(tx, input.ownerRef)},
    closed as (
      update ${tx.schema}.memory m
      set state = i.state, superseded_by = i."supersededBy", valid_to = greatest(i."validTo", case when i."validTo" is not null then m.valid_from end),
        purge_at = ${tx.now()} + i."purgeAfterMs" * interval '1 millisecond', updated_at = ${tx.now()}
      from target i where m.ref = i.ref
      returning m.ref
    ),
    ${vectors ? vectorRows(tx) : empty}
    term as (
      delete from ${tx.schema}.memory_term t using closed where t.memory_ref = closed.ref
      returning t.memory_ref, t.length
    )
    update ${tx.schema}.owner o
    set memory_count = o.memory_count - (select count(*) from closed),
      memory_length = o.memory_length
        - coalesce((select sum(length) from (select max(length) as length from term group by memory_ref) d), 0)
    where o.id = ${input.ownerRef}`);
}

function vectorRows(tx: Connection): Sql {
  return sql`vector as (
    update ${tx.schema}.memory_embedding e set active = false from closed where e.memory_ref = closed.ref
  ),`;
}
