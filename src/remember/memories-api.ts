import type { MemoryDraft, MemoryItem } from "../domain/memory.js";
import { parseScope, type Scope } from "../domain/scope.js";
import { findMemory, listMemories, type MemoryListing } from "../store/find-memories.js";
import { type HistoryEntry, listHistory } from "../store/list-history.js";
import { type MemoryPatch, removeMemory, restoreMemory, updateMemory } from "./change-memory.js";
import { type WriteDeps, type WriteOutcome, writeMemories } from "./write-memories.js";

/** Whose memory, and who acts, for the audit trail. */
export interface MemoryAccess {
  readonly scope: Scope;
  /** @default "api" */
  readonly actor?: string | undefined;
}

/** Durable memories by hand. Every id is looked up within the scope: another scope's memory is not found. */
export interface MemoriesApi {
  /**
   * Writes memories by the rules of slots and merging, in one transaction; outcomes in the order of the drafts.
   *
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`, `EMBEDDING_FAILED`, `DIMENSION_MISMATCH`
   */
  add(drafts: MemoryDraft | readonly MemoryDraft[], access: MemoryAccess): Promise<WriteOutcome[]>;
  /** One memory in whatever state, or null. */
  get(id: string, access: MemoryAccess): Promise<MemoryItem | null>;
  /** Active memories (or those in `states`), newest first, in pages of `limit` after the id `after`. */
  list(listing: MemoryListing): Promise<MemoryItem[]>;
  /** @throws MemoryError `NOT_FOUND`, `INVALID_INPUT`, `CONFLICT` */
  update(id: string, patch: MemoryPatch, access: MemoryAccess): Promise<MemoryItem>;
  /** Hides a memory; for 30 days it can be restored. @throws MemoryError `NOT_FOUND`, `CONFLICT` */
  remove(id: string, access: MemoryAccess): Promise<MemoryItem>;
  /** Brings a removed memory back. @throws MemoryError `NOT_FOUND`, `CONFLICT` */
  restore(id: string, access: MemoryAccess): Promise<MemoryItem>;
  /** Pinned memories are never forgotten by age. @throws MemoryError `NOT_FOUND`, `CONFLICT` */
  pin(id: string, pinned: boolean, access: MemoryAccess): Promise<MemoryItem>;
  /** Who changed what in a memory, newest first. */
  history(id: string, access: MemoryAccess): Promise<HistoryEntry[]>;
}

/** The `MemoriesApi` on `deps`. */
export function createMemoriesApi(deps: WriteDeps): MemoriesApi {
  const on = (id: string, { scope, actor = "api" }: MemoryAccess) => ({ id, scope, actor });
  return {
    add: (drafts, { scope, actor = "api" }) =>
      writeMemories(deps, {
        scope: parseScope(scope),
        drafts: Array.isArray(drafts) ? drafts : [drafts],
        origin: { actor, node: "api" },
      }),
    get: (id, { scope }) => findMemory(deps.db, parseScope(scope), id),
    list: (listing) => listMemories(deps.db, { ...listing, scope: parseScope(listing.scope) }),
    update: (id, patch, access) => updateMemory(deps, { ...on(id, access), patch }),
    remove: (id, access) => removeMemory(deps, on(id, access)),
    restore: (id, access) => restoreMemory(deps, on(id, access)),
    pin: (id, pinned, access) => updateMemory(deps, { ...on(id, access), patch: { pinned } }),
    history: (id, { scope }) => listHistory(deps.db, parseScope(scope), id),
  };
}
