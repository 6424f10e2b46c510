import sql from "sql-template-tag";
import { applyChanges } from "../memories/apply/apply-changes.js";
import { type ChangeSet, joinChanges, mergeMemories } from "../memories/apply/change-set.js";
import { changeOf } from "../memories/audit/memory-change.js";
import { type Editing, planRewrite } from "../memories/edit/plan-rewrite.js";
import { leastTrusted, type MemoryItem, mergeOf } from "../memories/item/memory.js";
import { versionOf } from "../memories/item/memory-fields.js";
import { lockOwner } from "../scope/scope-predicates.js";
import { type Claim, completeWork } from "../work/work-table.js";
import type { CompactionDecision } from "./compaction-decision.rule.js";
import { type CompactionWork, findNotes } from "./load-compaction.js";
import type { NotesRuntime } from "./load-note.js";
import { addNoteSources } from "./save-note.js";

/** Null: nothing was done, since notes were deleted or changed meanwhile. */
export type Applied = CompactionDecision["action"] | null;

export interface Compacting {
  readonly claim: Claim;
  readonly work: CompactionWork;
  readonly decision: CompactionDecision;
}

/**
 * Applies `decision` in one transaction unless its notes have changed. The app's lock keeps two
 * processes from removing a note too many.
 * @throws LeaseLost
 */
export async function applyCompaction(
  deps: NotesRuntime,
  { claim, work, decision }: Compacting,
): Promise<Applied> {
  const { scope, app, doneUntil } = work;
  const { action, target } = decision;
  const isEdit = action === "edit";
  const touched = isEdit ? [target, decision.merged] : [target];
  const detail = decision.by === "oldest" ? "oldest" : action;
  // Embed the merged text before the lock.
  const embedded = (isEdit && (await deps.embedder?.documents([decision.text]))) || null;
  const applied = await deps.db.transaction(async (tx): Promise<Applied> => {
    // Optimistic concurrency check: there are too many, and the decision's are as it saw them.
    const owner = await lockOwner(tx, scope);
    const notes = await findNotes(tx, owner.ref);
    const isUnchanged = (old: MemoryItem) =>
      notes.some(({ id, revision }) => id === old.id && revision === old.revision);
    const applies = notes.length > app.limit && touched.every(isUnchanged);

    // Merge two notes, or hide one.
    if (applies) {
      const editing = { tx, owner, before: target, embedded };
      const set = isEdit ? await mergeNotes(deps, editing, decision) : deleteNote(deps, decision);
      const event = { step: "compaction", op: "classify", status: "ok", detail } as const;
      const by = {
        ownerRef: owner.ref,
        scope,
        actor: "worker:compaction",
        step: "compaction",
      } as const;
      await applyChanges(tx, { ...by, space: embedded?.space }, { ...set, events: [event] });
      if (isEdit)
        await addNoteSources(
          tx,
          sql`
          select o.thread_ref, ${target.id}, o.owner_ref, o.start_seq, o.end_seq
          from ${tx.schema}.note_source o where o.owner_ref = ${owner.ref} and o.memory_id = ${decision.merged.id}`,
        );
    }

    // The task is done when the rest is within the limit.
    const left = notes.length - (applies ? 1 : 0);
    await completeWork(tx, claim, { doneUntil, more: left > app.limit });
    return applies ? action : null;
  });
  if (applied !== null) {
    const { appId } = scope;
    const fields = { appId, step: "compaction", memoryIds: touched.map(({ id }) => id) };
    const message = `🗜️  Compacted memories for app ${appId}: ${action} memory ${target.id}`;
    deps.logger.info(message, fields);
  }
  return applied;
}

function deleteNote(
  { config }: NotesRuntime,
  { target, reason, by }: CompactionDecision,
): Partial<ChangeSet> {
  const state = "soft_deleted";
  const { purgeAfterMs } = config.lifecycle;
  const deleted = changeOf(target, "DELETE", {
    old: { ...versionOf(target), state: target.state },
    new: { state, reason, by },
    as: "deleted",
  });
  return { deactivated: [{ id: target.id, state, purgeAfterMs }], changes: [deleted] };
}

type Merging = Extract<CompactionDecision, { action: "edit" }>;

/** `target` with the merged text, what both had, and the lower trust. */
async function mergeNotes(
  deps: NotesRuntime,
  editing: Editing,
  { target, merged, text, reason, by }: Merging,
): Promise<Partial<ChangeSet>> {
  const next = { ...mergeOf(target, merged), ...leastTrusted(target, merged), text };
  const { origin, trust } = next;
  // Screened by the decision already.
  const rewrite = await planRewrite(deps, editing, next, merged.id);
  const entries = {
    kept: {
      old: versionOf(target),
      new: { ...versionOf(next), origin, trust, merged: merged.id, reason, by },
    },
    gone: {
      old: { ...versionOf(merged), state: merged.state },
      new: { state: "merged", supersededBy: target.id, reason, by },
    },
  };
  const merging = mergeMemories(next, merged, entries, deps.config.lifecycle.purgeAfterMs);
  return joinChanges([merging, rewrite.set]);
}
