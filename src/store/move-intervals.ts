import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { IntervalMove, IntervalSplit } from "../domain/slot-timeline.js";
import { ownTargets } from "./active-targets.js";

/** `IntervalMove`, and what comes after a value that ends earlier. */
export interface MovedInterval extends IntervalMove {
  readonly supersededBy?: string | undefined;
}

/** `IntervalSplit`, and what comes in between. */
export interface SplitInterval extends IntervalSplit {
  /** The id of the closed copy. */
  readonly copyId: string;
  readonly supersededBy: string;
}

/** Gives values of an owner's slots other times to begin or end, whether they hold still or not. One statement. */
export async function moveIntervals(
  tx: Connection,
  { ownerRef, moves }: { ownerRef: number; moves: readonly MovedInterval[] },
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

/**
 * Parts a value of an owner's slot that was said before and after another: a closed copy holds until that one, the value
 * itself from when it was said again. One statement for each: there is seldom any.
 */
export async function splitIntervals(
  tx: Connection,
  { ownerRef, splits }: { ownerRef: number; splits: readonly SplitInterval[] },
): Promise<void> {
  for (const { id, copyId, until, from, supersededBy } of splits) {
    await tx.query(sql`
      with whole as (
        select * from ${tx.schema}.memory where id = ${id} and owner_ref = ${ownerRef}
      ),
      earlier as (
        insert into ${tx.schema}.memory (
          id, owner_ref, tenant_id, user_id, app_id, kind, category, key, value, content, content_hash, importance,
          confidence, pinned, state, tags, agent_id, run_id, actor_id, role, origin, trust, thread_ref, source_seqs,
          evidence, turn_start, turn_end, asserted_turn, valid_from, valid_to, superseded_by, last_accessed_at, created_at,
          updated_at
        )
        select ${copyId}, owner_ref, tenant_id, user_id, app_id, kind, category, key, value, content, content_hash,
          importance, confidence, pinned, 'superseded', tags, agent_id, run_id, actor_id, role, origin, trust,
          thread_ref, source_seqs, evidence, turn_start, turn_end, asserted_turn, valid_from, ${until.toISOString()},
          ${supersededBy}, ${tx.now()}, ${tx.now()}, ${tx.now()}
        from whole
      )
      update ${tx.schema}.memory m
      set valid_from = ${from.toISOString()}, asserted_at = coalesce(m.asserted_at, m.valid_from), updated_at = ${tx.now()}
      from whole where m.ref = whole.ref`);
  }
}
