import { markInsights, markWork } from "../../jobs/work-table.js";
import type { Connection } from "../../postgres/connection.js";
import { applyConsentPlan } from "../guard/consent-statements.js";
import type { Changer, ChangeSet, NewMemory } from "./change-set.js";
import { insertMemories } from "./insert-memories.js";
import { joinMemories, linkMemories } from "./join-memories.js";
import { deactivateMemories, purgeMemories, touchMemories } from "./memory-states.js";
import { moveIntervals, splitIntervals } from "./move-intervals.js";
import { partSources } from "./part-sources.js";
import { recordChanges } from "./record-changes.js";
import { rewriteMemory } from "./rewrite-memory.js";

/**
 * The one door to memory rows: applies a change set to a locked owner's memories and records it, in
 * the caller's transaction. One statement for each kind of change; rewrites and splits have one
 * each.
 */
export async function applyChanges(
  tx: Connection,
  by: Changer,
  set: Partial<ChangeSet>,
): Promise<void> {
  const { ownerRef, space = null } = by;
  const { created = [], rewrites = [], changes = [] } = set;
  const isNew = new Set(created.map(({ id }) => id));

  // Rows free a slot or a text before others take it.
  await deactivateMemories(tx, by, set.deactivated);
  await moveIntervals(tx, ownerRef, set.moves);
  await splitIntervals(tx, ownerRef, set.splits);
  for (const rewrite of rewrites) {
    if (!isNew.has(rewrite.id)) await rewriteMemory(tx, { ownerRef, rewrite, space });
  }

  // New rows, and what becomes due after them.
  await insertMemories(tx, { ownerRef, memories: created, space });
  await markDue(tx, by, set);

  // What changes rows of this set once more.
  await touchMemories(tx, ownerRef, set.sightings);
  for (const rewrite of rewrites) {
    if (isNew.has(rewrite.id)) await rewriteMemory(tx, { ownerRef, rewrite, space });
  }

  // The record reads rows that the purge deletes.
  await recordChanges(tx, by, changes);
  await joinMemories(tx, ownerRef, set.joined);
  await linkMemories(tx, set.links);
  await partSources(tx, by, set.parted);
  await purgeMemories(tx, ownerRef, set.purged);
  await applyConsentPlan(tx, set, by);
}

const isEvidence = ({ kind, state }: Pick<NewMemory, "kind" | "state">) =>
  state === "active" && (kind === "fact" || kind === "episode");

/** Notes that become active may be too many; facts and episodes are evidence of insights. */
async function markDue(
  tx: Connection,
  { ownerRef, scope, insights }: Changer,
  { created = [], rewrites = [] }: Partial<ChangeSet>,
): Promise<void> {
  const added = [...created, ...rewrites.filter(({ revived }) => revived)];
  if (added.some(({ kind, state }) => kind === "note" && state === "active"))
    await markWork(tx, { kind: "compaction", of: "owner", ref: ownerRef });
  if (insights && [...created, ...rewrites].some(isEvidence))
    await markInsights(tx, insights, { ownerRef, scope });
}
