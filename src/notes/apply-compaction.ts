import sql from "sql-template-tag";
import { insertEvent } from "../events/event-log.js";
import { type Claim, completeWork } from "../jobs/work-table.js";
import { changeLine } from "../memories/changes/change-line.js";
import { type MemoryChange, recordChanges } from "../memories/changes/record-changes.js";
import { rewriteContent } from "../memories/edit/rewrite-content.js";
import { leastTrusted, type MemoryItem } from "../memories/item/memory.js";
import { versionOf } from "../memories/item/memory-fields.js";
import {
  type Deactivation,
  deactivateMemories,
  touchMemories,
} from "../memories/write/memory-states.js";
import type { Embedded } from "../models/embedder.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import { type LockedOwner, lockOwner } from "../scope/scope-predicates.js";
import type { CompactionDecision } from "./compaction-decision.rule.js";
import { type CompactionWork, findNotes } from "./load-compaction.js";
import type { NotesRuntime } from "./load-note.js";

export interface Applied {
  /** Null: nothing was done, since notes were deleted or changed meanwhile. */
  readonly action: CompactionDecision["action"] | null;
  readonly targetId: string;
  readonly left: number;
}

const compactor = "worker:compact";

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
      const ownerRef = owner.ref;
      const changes =
        decision.action === "edit"
          ? await mergeNotes(deps, { tx, owner, decision, embedded })
          : [await deleteNote(deps, { tx, ownerRef, decision })];
      await recordChanges(tx, { ownerRef, scope, actor: compactor, step: "compact", changes });
      const detail = decision.by === "oldest" ? "oldest" : decision.action;
      await insertEvent(tx, { scope, step: "compact", op: "classify", status: "ok", detail });
    }
    const left = notes.length - (applies ? 1 : 0);
    await completeWork(tx, claim, { doneUntil, more: left > app.limit });
    return { action: applies ? decision.action : null, targetId: decision.target.id, left };
  });
  const { action, targetId } = applied;
  if (action !== null) {
    const fields = {
      appId: scope.appId,
      step: "compact",
      memoryIds: notesOf(decision).map(({ id }) => id),
    };
    deps.logger.info(
      `🗜️  Compacted memories for app ${scope.appId}: ${action} memory ${targetId}`,
      fields,
    );
  }
  return applied;
}

function notesOf(decision: CompactionDecision): MemoryItem[] {
  return decision.action === "edit" ? [decision.target, decision.merged] : [decision.target];
}

async function deleteNote(
  deps: NotesRuntime,
  { tx, ownerRef, decision }: { tx: Connection; ownerRef: OwnerRef; decision: CompactionDecision },
): Promise<MemoryChange> {
  const { target, reason, by } = decision;
  const { id, category, importance } = target;
  await deactivateNote(deps, tx, ownerRef, { id, state: "soft_deleted", supersededBy: null });
  return {
    memoryId: id,
    event: "DELETE",
    category,
    delta: { event: "deleted", line: changeLine("deleted", target), importance },
    old: { ...versionOf(target), state: target.state },
    new: { state: "soft_deleted", reason, by },
  };
}

async function deactivateNote(
  { config, embedder }: NotesRuntime,
  tx: Connection,
  ownerRef: OwnerRef,
  change: Pick<Deactivation, "id" | "state" | "supersededBy">,
): Promise<void> {
  const changes = [{ ...change, validTo: null, purgeAfterMs: config.lifecycle.purgeAfterMs }];
  await deactivateMemories(tx, { ownerRef, changes, vectors: embedder !== null });
}

interface Merging {
  readonly tx: Connection;
  readonly owner: LockedOwner;
  readonly decision: Extract<CompactionDecision, { action: "edit" }>;
  readonly embedded: Embedded | null;
}

async function mergeNotes(
  deps: NotesRuntime,
  { tx, owner, decision, embedded }: Merging,
): Promise<MemoryChange[]> {
  const { target, merged, text, reason, by } = decision;
  await deactivateNote(deps, tx, owner.ref, {
    id: merged.id,
    state: "merged",
    supersededBy: target.id,
  });
  const next = mergedNote(target, merged, text);
  const { origin, trust } = next;
  // Screened by the decision already.
  const editing = { tx, owner, before: target, passed: new Set<string>() };
  const furtherChanges = await rewriteContent(deps, editing, next, { embedded, vouched: true });
  await touchMemories(tx, {
    ownerRef: owner.ref,
    sightings: [
      {
        id: target.id,
        times: merged.seenCount,
        assertedTurn: 0,
        assertedAt: null,
        origin: null,
        trust: null,
        rank: 0,
        confidence: next.confidence,
        importance: next.importance,
        metadata: next.metadata,
        expiresAt: next.expiresAt,
      },
    ],
  });
  await joinSources(tx, { ownerRef: owner.ref, into: target.id, from: merged.id });
  const shared = { event: "MERGE", category: target.category } as const;
  const delta = {
    event: "merged",
    line: changeLine("merged", next),
    importance: next.importance,
  } as const;
  return [
    {
      ...shared,
      memoryId: target.id,
      delta,
      old: versionOf(target),
      new: { ...versionOf(next), origin, trust, merged: merged.id, reason, by },
    },
    {
      ...shared,
      memoryId: merged.id,
      old: { ...versionOf(merged), state: merged.state },
      new: { state: "merged", supersededBy: target.id, reason, by },
    },
    ...furtherChanges,
  ];
}

const maxTags = 32;

/** `target` with the merged text, the higher value of each rating, and the lower trust. */
function mergedNote(target: MemoryItem, merged: MemoryItem, text: string): MemoryItem {
  return {
    ...target,
    ...leastTrusted(target, merged),
    text,
    seenCount: target.seenCount + merged.seenCount,
    importance: Math.max(target.importance, merged.importance),
    confidence: Math.max(target.confidence, merged.confidence),
    tags: [...new Set([...target.tags, ...merged.tags])].slice(0, maxTags),
    metadata: { ...merged.metadata, ...target.metadata },
    expiresAt: target.expiresAt && merged.expiresAt && laterOf(target.expiresAt, merged.expiresAt),
  };
}

const laterOf = (one: Date, other: Date) => (one > other ? one : other);

async function joinSources(
  tx: Connection,
  {
    ownerRef,
    into,
    from,
  }: { readonly ownerRef: number; readonly into: string; readonly from: string },
): Promise<void> {
  await tx.query(sql`
    insert into ${tx.schema}.note_source as s (thread_ref, memory_id, owner_ref, start_seq, end_seq)
    select o.thread_ref, ${into}, o.owner_ref, o.start_seq, o.end_seq
    from ${tx.schema}.note_source o where o.owner_ref = ${ownerRef} and o.memory_id = ${from}
    on conflict (thread_ref, memory_id) do update
      set start_seq = least(s.start_seq, excluded.start_seq), end_seq = greatest(s.end_seq, excluded.end_seq)`);
}
