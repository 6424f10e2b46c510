import { z } from "zod";
import { type MemoryDraft, type MemoryItem, memoryKinds, memoryStates } from "../domain/memory.js";
import { pageRows, parseInput, storableText } from "../domain/parse-input.js";
import { parseScope, type Scope } from "../domain/scope.js";
import { revertMemory } from "../governance/revert-memory.js";
import { findMemory, listMemories, type MemoryListing } from "../store/find-memories.js";
import { type HistoryEntry, listHistory } from "../store/list-history.js";
import { type MemoryPatch, removeMemory, restoreMemory, updateMemory } from "./change-memory.js";
import { type WriteDeps, type WriteOutcome, writeMemories } from "./write-memories.js";

/** Whose memory, and who acts, for the audit trail. */
export interface MemoryAccess {
  readonly scope: Scope;
  /** @default "api" */
  readonly actor?: string | undefined;
  /**
   * "given": the user agreed to this very change, and the audit trail says so. Without it a change of a sensitive field
   * becomes a request in `memory.consents`, and one of a benign field waits for a second signal.
   */
  readonly consent?: "given" | undefined;
}

/** Durable memories by hand. Every id is looked up within the scope: another scope's memory is not found. */
export interface MemoriesApi {
  /**
   * Writes memories by the rules of slots and merging, in one transaction; outcomes in the order of the drafts.
   * Sensitive fields (`consent.sensitive`) are proposed and not written, unless `consent: "given"`.
   *
   * @throws MemoryError `INVALID_INPUT`, also for more than 5,000 drafts; `SCOPE_REQUIRED`, `EMBEDDING_FAILED`,
   *   `DIMENSION_MISMATCH`
   */
  add(drafts: MemoryDraft | readonly MemoryDraft[], access: MemoryAccess): Promise<WriteOutcome[]>;
  /** One memory in whatever state, or null. */
  get(id: string, access: MemoryAccess): Promise<MemoryItem | null>;
  /** Active memories (or those in `states`), newest first, in pages of `limit` (1 to 1,000) after the id `after`. @throws MemoryError `INVALID_INPUT` */
  list(listing: MemoryListing): Promise<MemoryItem[]>;
  /** @throws MemoryError `NOT_FOUND`, `INVALID_INPUT`, `CONFLICT`, `CONSENT_REQUIRED` */
  update(id: string, patch: MemoryPatch, access: MemoryAccess): Promise<MemoryItem>;
  /** Hides a memory; for 30 days it can be restored. @throws MemoryError `NOT_FOUND`, `CONFLICT` */
  remove(id: string, access: MemoryAccess): Promise<MemoryItem>;
  /** Brings a removed memory back. @throws MemoryError `NOT_FOUND`, `CONFLICT`, `CONSENT_REQUIRED` */
  restore(id: string, access: MemoryAccess): Promise<MemoryItem>;
  /** Pinned memories are never forgotten by age. @throws MemoryError `NOT_FOUND`, `CONFLICT` */
  pin(id: string, pinned: boolean, access: MemoryAccess): Promise<MemoryItem>;
  /**
   * Gives a memory the content it had right after an entry of its history, and makes it active.
   *
   * @param access.to the entry's id.
   * @throws MemoryError `NOT_FOUND`; `CONFLICT` when another memory holds its slot or says the same;
   *   `INVALID_INPUT` when the text breaks today's writing constraints; `CONSENT_REQUIRED`
   */
  revert(id: string, access: MemoryAccess & { readonly to: number }): Promise<MemoryItem>;
  /** Who changed what in a memory, newest first. */
  history(id: string, access: MemoryAccess): Promise<HistoryEntry[]>;
}

const listingSchema = z.object({
  kinds: z.array(z.enum(memoryKinds)).optional(),
  categories: z.array(storableText).optional(),
  states: z.array(z.enum(memoryStates)).optional(),
  limit: pageRows,
  after: z.string().optional(),
});

const actorSchema = storableText.default("api");

/** The `MemoriesApi` on `deps`. */
export function createMemoriesApi(deps: WriteDeps): MemoriesApi {
  const vouched = ({ consent }: MemoryAccess) => (consent === "given" ? { via: "code" as const } : undefined);
  const on = (id: string, access: MemoryAccess) => {
    const actor = parseInput(actorSchema, access.actor, "actor");
    return { id, scope: access.scope, actor, consent: vouched(access) };
  };
  return {
    add: async (drafts, access) =>
      writeMemories(deps, {
        scope: parseScope(access.scope),
        drafts: Array.isArray(drafts) ? drafts : [drafts],
        origin: {
          actor: parseInput(actorSchema, access.actor, "actor"),
          step: "api",
          consent: vouched(access),
        },
      }),
    get: async (id, { scope }) => findMemory(deps.db, parseScope(scope), id),
    list: async (listing) => {
      const scope = parseScope(listing.scope);
      return listMemories(deps.db, { ...parseInput(listingSchema, listing, "listing"), scope });
    },
    update: async (id, patch, access) => updateMemory(deps, { ...on(id, access), patch }),
    remove: async (id, access) => removeMemory(deps, on(id, access)),
    restore: async (id, access) => restoreMemory(deps, on(id, access)),
    pin: async (id, pinned, access) => updateMemory(deps, { ...on(id, access), patch: { pinned } }),
    revert: async (id, { to, ...access }) => revertMemory(deps, { ...on(id, access), to }),
    history: async (id, { scope }) => listHistory(deps.db, parseScope(scope), id),
  };
}
