import sql from "sql-template-tag";
import { applyChanges } from "../../memories/apply/apply-changes.js";
import { type ChangeSet, joinChanges, sightingOf } from "../../memories/apply/change-set.js";
import { changeOf } from "../../memories/audit/memory-change.js";
import { versionContent } from "../../memories/edit/change-memory.js";
import { planRewrite } from "../../memories/edit/plan-rewrite.js";
import type { MemoryItem } from "../../memories/item/memory.js";
import { versionOf } from "../../memories/item/memory-fields.js";
import { findOwned } from "../../memories/item/memory-row.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef, Scope } from "../../scope/scope.js";
import type { LockedOwner } from "../../scope/scope-predicates.js";
import type { ConsolidationRuntime } from "./consolidation-options.js";
import { type ConsolidationPlan, goneIn } from "./consolidation-run.js";

interface Reverting {
  readonly plan: ConsolidationPlan;
  readonly owner: LockedOwner;
  readonly scope: Scope;
  readonly actor: string;
}

/**
 * Makes active what an applied run closed, and gives what it kept the ratings from before. Returns the
 * ids of what it left: memories that changed since, whose slot or text another has now, and values of
 * which a part was added. Sources that a kept memory took over stay with it.
 */
export async function revertRun(
  tx: Connection,
  deps: ConsolidationRuntime,
  { plan, owner, scope, actor }: Reverting,
): Promise<string[]> {
  const gone = goneIn(plan);
  const merges = plan.pairs.filter(({ action }) => action === "merge");
  const kept = new Set(merges.flatMap((pair) => pair.kept ?? []));
  const ids = [...new Set(gone.concat(...kept))];
  const found = await findOwned(tx, owner.ref, sql`m.id = any (${ids}::uuid[])`);
  const unchanged = new Map(
    found
      .filter(({ id, revision }) => plan.after?.[id] === revision)
      .map((each) => [each.id, each]),
  );
  const split = new Set(plan.pairs.filter(({ splits }) => splits).map((pair) => pair.gone));
  const by = { ownerRef: owner.ref, scope, actor, step: "consolidation" } as const;
  const left = new Set<string>();

  // What was closed, one after the other: each sees what is active then.
  for (const id of new Set(gone)) {
    const memory = split.has(id) ? undefined : unchanged.get(id);
    const isHidden = memory && memory.state !== "active";
    if (!isHidden || (await isTaken(tx, owner.ref, id))) left.add(id);
    else await applyChanges(tx, by, await restored(tx, deps, owner, memory));
  }

  // What others were merged into.
  for (const id of kept) {
    const memory = unchanged.get(id);
    const merged = merges.flatMap((pair) => (pair.kept === id && pair.gone ? pair.gone : []));
    const before = memory && (await ratingsBefore(tx, owner.ref, id, merged));
    if (!memory || !before || left.has(id)) left.add(id);
    else await applyChanges(tx, by, await rerated(tx, deps, owner, memory, before));
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

async function restored(
  tx: Connection,
  deps: ConsolidationRuntime,
  owner: LockedOwner,
  before: MemoryItem,
): Promise<Partial<ChangeSet>> {
  // Its text was screened when it was written, and keeps its vector.
  const editing = { tx, owner, before, passed: new Set<string>(), embedded: null };
  const { after, set } = await planRewrite(deps, editing, before, { isVouched: true });
  const entry = { old: { state: before.state }, new: versionOf(after), as: "restored" } as const;
  return joinChanges([set, { changes: [changeOf(after, "RESTORE", entry)] }]);
}

/** A kept memory as it was before the first of `merged` was merged into it, by the audit trail. */
async function ratingsBefore(
  tx: Connection,
  ownerRef: OwnerRef,
  id: string,
  merged: readonly string[],
): Promise<Record<string, unknown> | undefined> {
  const [entry] = await tx.query<{ old: Record<string, unknown> | null }>(sql`
    select e.old from (
      select distinct on (h.new ->> 'merged') h.id, h.old from ${tx.schema}.history h
      where h.owner_ref = ${ownerRef} and h.memory_id = ${id} and h.event = 'MERGE' and h.new ->> 'merged' = any (${merged}::text[])
      order by h.new ->> 'merged', h.id desc
    ) e
    order by e.id limit 1`);
  return entry?.old ?? undefined;
}

async function rerated(
  tx: Connection,
  deps: ConsolidationRuntime,
  owner: LockedOwner,
  before: MemoryItem,
  ratings: Record<string, unknown>,
): Promise<Partial<ChangeSet>> {
  const { text, value, category } = before;
  const seenCount = Number(ratings.seenCount ?? before.seenCount);
  const next = { ...before, ...versionContent(ratings), text, value, category, seenCount };
  const editing = { tx, owner, before, passed: new Set<string>(), embedded: null };
  const { after, set } = await planRewrite(deps, editing, next, { isVouched: true });
  const entry = { old: versionOf(before), new: versionOf(after) };
  return joinChanges([
    set,
    {
      sightings: [sightingOf({ ...after, seenCount })],
      changes: [changeOf(after, "UPDATE", entry)],
    },
  ]);
}
