import sql from "sql-template-tag";
import { applyChanges } from "../../memories/apply/apply-changes.js";
import { type Changer, joinChanges, sightingOf } from "../../memories/apply/change-set.js";
import { changeOf } from "../../memories/audit/memory-change.js";
import { planRewrite } from "../../memories/edit/plan-rewrite.js";
import type { MemoryItem, MemoryVersion } from "../../memories/item/memory.js";
import { versionColumns, versionOf } from "../../memories/item/memory-fields.js";
import { findOwned } from "../../memories/item/memory-row.js";
import { recordset } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import type { LockedOwner } from "../../scope/scope-predicates.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import { type ConsolidationPlan, goneIn } from "./consolidation-run.js";

/** A decision on a run of a locked owner. */
export interface Deciding {
  readonly plan: ConsolidationPlan;
  readonly owner: LockedOwner;
  readonly by: Changer;
}

/**
 * Makes active what an applied run closed, and gives what it kept the ratings from before. Returns the
 * ids of what it left: memories that changed since, whose slot or text another has now, and values of
 * which a part was added. Sources that a kept memory took over stay with it.
 */
export async function revertRun(
  tx: Connection,
  deps: ConsolidationRuntime,
  { plan, owner, by }: Deciding,
): Promise<string[]> {
  const gone = goneIn(plan);
  const merges = plan.pairs.filter(({ action }) => action === "merge");
  const kept = new Set(merges.flatMap((pair) => pair.kept ?? []));
  const isTouched = sql`m.id = any (${[...gone, ...kept]}::uuid[])`;
  const found = await findOwned(tx, owner.ref, isTouched);
  const unchanged = found.filter(({ id, revision }) => plan.after?.[id] === revision);
  const isSplit = (id: string) => plan.pairs.some((pair) => pair.splits && pair.gone === id);
  const left = new Set<string>();

  // What was closed, one after the other: each sees what is active then.
  for (const id of gone) {
    const before = unchanged.find((memory) => memory.id === id && memory.state !== "active");
    if (!before || isSplit(id) || (await isTaken(tx, owner.ref, id))) {
      left.add(id);
      continue;
    }
    // It keeps its vector.
    const { after, set } = await planRewrite(deps, { tx, owner, before }, before);
    const entry = { old: { state: before.state }, new: versionOf(after), as: "restored" } as const;
    const changes = [changeOf(after, "RESTORE", entry)];
    await applyChanges(tx, by, joinChanges([set, { changes }]));
  }

  // What others were merged into.
  for (const id of kept) {
    const before = unchanged.find((memory) => memory.id === id);
    const merged = merges.flatMap((pair) => (pair.kept === id && pair.gone ? pair.gone : []));
    const ratings = before && (await ratingsBefore(tx, owner.ref, id, merged));
    if (!before || !ratings || left.has(id)) {
      left.add(id);
      continue;
    }
    const { text, value, category } = before;
    const { seenCount } = ratings;
    const next = { ...before, ...ratings, text, value, category };
    const { after, set } = await planRewrite(deps, { tx, owner, before }, next);
    const changes = [changeOf(after, "UPDATE", { old: versionOf(before), new: versionOf(after) })];
    const sightings = [sightingOf({ ...after, seenCount })];
    await applyChanges(tx, by, joinChanges([set, { sightings, changes }]));
  }
  return [...left];
}

/** Whether another active memory has the slot of a closed memory, or its text. */
async function isTaken(tx: Connection, ownerRef: OwnerRef, id: string): Promise<boolean> {
  const { schema } = tx;
  const rows = await tx.query(sql`
    select from ${schema}.memory c join ${schema}.memory m on m.owner_ref = c.owner_ref and m.app_id = c.app_id
    where c.id = ${id} and c.owner_ref = ${ownerRef} and m.id <> c.id and m.state = 'active' and (
      m.category = c.category and m.key = c.key or m.kind = c.kind and m.content_hash = c.content_hash
    )
    limit 1`);
  return rows.length > 0;
}

/** A kept memory as it was before the first of `merged` was merged into it, by the audit trail. */
async function ratingsBefore(
  tx: Connection,
  ownerRef: OwnerRef,
  id: string,
  merged: readonly string[],
): Promise<(MemoryVersion & Pick<MemoryItem, "seenCount">) | undefined> {
  const [ratings] = await tx.query<MemoryVersion & Pick<MemoryItem, "seenCount">>(sql`
    select r.* from (
      select distinct on (h.new ->> 'merged') h.id, h.old from ${tx.schema}.history h
      where h.owner_ref = ${ownerRef} and h.memory_id = ${id} and h.event = 'MERGE' and h.new ->> 'merged' = any (${merged}::text[])
      order by h.new ->> 'merged', h.id desc
    ) e cross join lateral jsonb_to_record(e.old) as r (${recordset(versionColumns)}, "seenCount" integer)
    order by e.id limit 1`);
  return ratings;
}
