import sql from "sql-template-tag";
import { type Claim, completeWork } from "../jobs/work-table.js";
import { applyChanges } from "../memories/apply/apply-changes.js";
import { type ChangeSet, joinChanges, sightingOf } from "../memories/apply/change-set.js";
import { changeOf } from "../memories/changes/memory-change.js";
import { type Editing, planRewrite } from "../memories/edit/plan-rewrite.js";
import { leastTrusted, type MemoryItem } from "../memories/item/memory.js";
import { versionOf } from "../memories/item/memory-fields.js";
import { mergeOf } from "../memories/item/merge-of.rule.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef, Scope } from "../scope/scope.js";
import { lockOwner } from "../scope/scope-predicates.js";
import type { CompactionDecision } from "./compaction-decision.rule.js";
import { type CompactionWork, findNotes } from "./load-compaction.js";
import type { NotesRuntime } from "./load-note.js";

export interface Applied {
  /** Null: nothing was done, since notes were deleted or changed meanwhile. */
  readonly action: CompactionDecision["action"] | null;
  readonly targetId: string;
  readonly left: number;
}

const compactor = "worker:compaction";

/**
 * Applies `decision` in one transaction unless its notes have changed. The app's lock keeps two
 * processes from removing a note too many.
 * @throws LeaseLost
 */
export async function applyCompaction(
  deps: NotesRuntime,
  input: {
    readonly claim: Claim;
    readonly work: CompactionWork;
    readonly decision: CompactionDecision;
  },
): Promise<Applied> {
  const { claim, work, decision } = input;
  const { scope, app, doneUntil } = work;
  const embedded =
    decision.action === "edit" ? ((await deps.embedder?.documents([decision.text])) ?? null) : null;
  const applied = await deps.db.transaction(async (tx): Promise<Applied> => {
    const owner = await lockOwner(tx, scope);
    const notes = await findNotes(tx, owner.ref);
    const isUnchanged = (old: MemoryItem) =>
      notes.some(({ id, revision }) => id === old.id && revision === old.revision);
    const applies = notes.length > app.limit && notesOf(decision).every(isUnchanged);
    if (applies) {
      const { target: before } = decision;
      const editing = { tx, owner, before, embedded, passed: new Set<string>() };
      await applyDecision(deps, editing, scope, decision);
    }
    const left = notes.length - (applies ? 1 : 0);
    await completeWork(tx, claim, { doneUntil, more: left > app.limit });
    return { action: applies ? decision.action : null, targetId: decision.target.id, left };
  });
  const { action, targetId } = applied;
  if (action !== null) {
    const fields = {
      appId: scope.appId,
      step: "compaction",
      memoryIds: notesOf(decision).map(({ id }) => id),
    };
    deps.logger.info(
      `🗜️  Compacted memories for app ${scope.appId}: ${action} memory ${targetId}`,
      fields,
    );
  }
  return applied;
}

async function applyDecision(
  deps: NotesRuntime,
  editing: Editing,
  scope: Scope,
  decision: CompactionDecision,
): Promise<void> {
  const { tx, owner, embedded } = editing;
  const { action } = decision;
  const set =
    action === "edit" ? await mergeNotes(deps, editing, decision) : deleteNote(deps, decision);
  const detail = decision.by === "oldest" ? "oldest" : action;
  const event = { step: "compaction", op: "classify", status: "ok", detail } as const;
  const changer = { ownerRef: owner.ref, scope, actor: compactor, step: "compaction" } as const;
  const by = { ...changer, space: embedded?.space, hasVectors: deps.embedder !== null };
  await applyChanges(tx, by, { ...set, events: [event] });
  if (action === "edit") await joinSources(tx, owner.ref, decision);
}

function notesOf(decision: CompactionDecision): MemoryItem[] {
  return decision.action === "edit" ? [decision.target, decision.merged] : [decision.target];
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
  const how = { isVouched: true, gone: merged.id };
  const rewrite = await planRewrite(deps, editing, next, how);
  const gone = { state: "merged", supersededBy: target.id } as const;
  const { purgeAfterMs } = deps.config.lifecycle;
  const changes = [
    changeOf(next, "MERGE", {
      old: versionOf(target),
      new: { ...versionOf(next), origin, trust, merged: merged.id, reason, by },
      as: "merged",
    }),
    changeOf({ ...merged, category: target.category }, "MERGE", {
      old: { ...versionOf(merged), state: merged.state },
      new: { ...gone, reason, by },
    }),
  ];
  const merging = {
    deactivated: [{ ...gone, id: merged.id, purgeAfterMs }],
    sightings: [sightingOf(next)],
    changes,
  };
  return joinChanges([merging, rewrite.set]);
}

async function joinSources(
  tx: Connection,
  ownerRef: OwnerRef,
  { target, merged }: Merging,
): Promise<void> {
  await tx.query(sql`
    insert into ${tx.schema}.note_source as s (thread_ref, memory_id, owner_ref, start_seq, end_seq)
    select o.thread_ref, ${target.id}, o.owner_ref, o.start_seq, o.end_seq
    from ${tx.schema}.note_source o where o.owner_ref = ${ownerRef} and o.memory_id = ${merged.id}
    on conflict (thread_ref, memory_id) do update
      set start_seq = least(s.start_seq, excluded.start_seq), end_seq = greatest(s.end_seq, excluded.end_seq)`);
}
