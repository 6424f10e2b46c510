import sql from "sql-template-tag";
import { insertEvent } from "../events/event-log.js";
import { type Claim, completeWork } from "../jobs/work-table.js";
import { changeLine } from "../memories/changes/change-line.js";
import { type MemoryChange, recordChanges } from "../memories/changes/record-changes.js";
import { rewriteContent } from "../memories/edit/rewrite-content.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { versionOf } from "../memories/item/memory-fields.js";
import { deactivateMemories, touchMemories } from "../memories/write/memory-states.js";
import type { Embedded } from "../models/embedder.js";
import type { Connection } from "../postgres/connection.js";
import { type LockedOwner, lockOwner } from "../scope/scope-predicates.js";
import type { CompactionDecision } from "./compaction-decision.rule.js";
import { type CompactionWork, findNotes } from "./load-compaction.js";
import type { NotesRuntime } from "./load-note.js";

export interface Applied {
  /** Null: nothing was done, since the notes were no longer too many, or had changed. */
  readonly action: CompactionDecision["action"] | null;
  readonly targetId: string;
  readonly left: number;
}

const compactor = "worker:compact";

/**
 * Carries out `decision` in one transaction unless its notes have changed. The app's lock guards the count, so that two
 * processes remove no note too many. @throws LeaseLost, `EMBEDDING_FAILED`, `DIMENSION_MISMATCH`
 */
export async function applyCompaction(
  deps: NotesRuntime,
  input: { readonly claim: Claim; readonly work: CompactionWork; readonly decision: CompactionDecision },
): Promise<Applied> {
  const { claim, work, decision } = input;
  const { scope, app, doneUntil } = work;
  const embedded = decision.action === "edit" ? ((await deps.embedder?.documents([decision.text])) ?? null) : null;
  const applied = await deps.db.transaction(async (tx): Promise<Applied> => {
    const owner = await lockOwner(tx, scope);
    const notes = await findNotes(tx, owner.ref);
    const stands = notes.length > app.limit && aboutOf(decision).every((note) => isAmong(notes, note));
    if (stands) await applyNow(deps, { tx, owner, work, decision, embedded });
    const left = notes.length - (stands ? 1 : 0);
    await completeWork(tx, claim, { doneUntil, more: left > app.limit });
    return { action: stands ? decision.action : null, targetId: decision.target.id, left };
  });
  const { action, targetId } = applied;
  if (action !== null) {
    deps.logger.info(`🗜️  Compacted memories for app ${scope.appId}: ${action} memory ${targetId}`, {
      appId: scope.appId,
      step: "compact",
      memoryIds: aboutOf(decision).map(({ id }) => id),
    });
  }
  return applied;
}

function aboutOf(decision: CompactionDecision): MemoryItem[] {
  return decision.action === "edit" ? [decision.target, decision.merged] : [decision.target];
}

function isAmong(notes: readonly MemoryItem[], { id, revision }: MemoryItem): boolean {
  return notes.some((note) => note.id === id && note.revision === revision);
}

interface Applying<Decision = CompactionDecision> {
  readonly tx: Connection;
  readonly owner: LockedOwner;
  readonly work: CompactionWork;
  readonly decision: Decision;
  readonly embedded: Embedded | null;
}

async function applyNow(deps: NotesRuntime, applying: Applying): Promise<void> {
  const { tx, owner, work, decision } = applying;
  const { scope } = work;
  const changes =
    decision.action === "edit" ? await mergeNotes(deps, { ...applying, decision }) : await deleteNote(deps, applying);
  await recordChanges(tx, { ownerRef: owner.ref, scope, actor: compactor, step: "compact", changes });
  const detail = decision.by === "oldest" ? "oldest" : decision.action;
  await insertEvent(tx, { scope, step: "compact", op: "classify", status: "ok", detail });
}

/** Can be restored until it is purged; then another note goes. */
async function deleteNote(deps: NotesRuntime, { tx, owner, decision }: Applying): Promise<MemoryChange[]> {
  const { target, reason, by } = decision;
  const { purgeAfterMs } = deps.config.lifecycle;
  const gone = { state: "soft_deleted", supersededBy: null, validTo: null, purgeAfterMs } as const;
  await deactivateMemories(tx, {
    ownerRef: owner.ref,
    changes: [{ ...gone, id: target.id }],
    vectors: deps.embedder !== null,
  });
  const { id: memoryId, category, importance, state } = target;
  const news = { event: "deleted", line: changeLine("deleted", target), importance } as const;
  return [
    {
      memoryId,
      event: "DELETE",
      category,
      similarity: null,
      news,
      old: { ...versionOf(target), state },
      new: { state: gone.state, reason, by },
    },
  ];
}

async function mergeNotes(
  deps: NotesRuntime,
  { tx, owner, decision, embedded }: Applying<Extract<CompactionDecision, { action: "edit" }>>,
): Promise<MemoryChange[]> {
  const { target, merged, text, reason, by } = decision;
  const { purgeAfterMs } = deps.config.lifecycle;
  const gone = { state: "merged", supersededBy: target.id, validTo: null, purgeAfterMs } as const;
  await deactivateMemories(tx, {
    ownerRef: owner.ref,
    changes: [{ ...gone, id: merged.id }],
    vectors: deps.embedder !== null,
  });
  const next = bothOf(target, merged, text);
  // Screened when it was decided.
  const editing = { tx, owner, before: target, passed: new Set<string>() };
  const also = await rewriteContent(deps, editing, next, { embedded, vouched: true });
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
  const shared = { event: "MERGE", category: target.category, similarity: null } as const;
  const news = { event: "merged", line: changeLine("merged", next), importance: next.importance } as const;
  return [
    {
      ...shared,
      memoryId: target.id,
      news,
      old: versionOf(target),
      new: { ...versionOf(next), merged: merged.id, reason, by },
    },
    {
      ...shared,
      memoryId: merged.id,
      news: null,
      old: { ...versionOf(merged), state: merged.state },
      new: { state: gone.state, supersededBy: target.id, reason, by },
    },
    ...also,
  ];
}

const mostTags = 32;

/** `target` with the text of both, and the higher values that rank them. */
function bothOf(target: MemoryItem, merged: MemoryItem, text: string): MemoryItem {
  return {
    ...target,
    text,
    seenCount: target.seenCount + merged.seenCount,
    importance: Math.max(target.importance, merged.importance),
    confidence: Math.max(target.confidence, merged.confidence),
    tags: [...new Set([...target.tags, ...merged.tags])].slice(0, mostTags),
    metadata: { ...merged.metadata, ...target.metadata },
    expiresAt: target.expiresAt && merged.expiresAt && laterOf(target.expiresAt, merged.expiresAt),
  };
}

const laterOf = (one: Date, other: Date) => (one > other ? one : other);

async function joinSources(
  tx: Connection,
  { ownerRef, into, from }: { readonly ownerRef: number; readonly into: string; readonly from: string },
): Promise<void> {
  await tx.query(sql`
    insert into ${tx.schema}.note_source as s (thread_ref, memory_id, owner_ref, start_seq, end_seq)
    select o.thread_ref, ${into}, o.owner_ref, o.start_seq, o.end_seq
    from ${tx.schema}.note_source o where o.owner_ref = ${ownerRef} and o.memory_id = ${from}
    on conflict (thread_ref, memory_id) do update
      set start_seq = least(s.start_seq, excluded.start_seq), end_seq = greatest(s.end_seq, excluded.end_seq)`);
}
