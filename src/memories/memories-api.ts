import { randomUUID } from "node:crypto";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { asListed, asTenant } from "../postgres/isolation.js";
import { parseScoped, type Scope, scopeField, tenantField } from "../scope/scope.js";
import { pageRows, parseInput, revisionNumber, storableText } from "../text/parse-input.js";
import { type HistoryEntry, listHistory } from "./changes/changes-api.js";
import { removeMemory, restoreMemory, updateMemory } from "./edit/change-memory.js";
import type { ChangeInput } from "./edit/edit-memory.js";
import { approveMemory } from "./edit/quarantine.js";
import { revertMemory } from "./edit/revert-memory.js";
import type { ConsentGiven } from "./guard/consent-request.rule.js";
import { requireCategory } from "./item/category.rule.js";
import {
  type MemoryDraft,
  type MemoryItem,
  type MemoryPatch,
  memoryKinds,
  memorySorts,
  memoryStates,
} from "./item/memory.js";
import { momentField } from "./item/memory-fields.js";
import { metadataFilter } from "./item/memory-metadata.rule.js";
import {
  findMemory,
  listMemories,
  listQuarantined,
  type MemoryListing,
  type QuarantineListing,
} from "./item/memory-row.js";
import { writeMemories } from "./write/write-memories.js";
import type { WriteOutcome, WriteRuntime } from "./write/write-runtime.js";

const accessSchema = z.strictObject({
  scope: scopeField,
  /** @default "api" */
  actor: storableText.default("api"),
  /**
   * The user agreed to this very change; the audit trail says so. Otherwise a sensitive field becomes a
   * request in `memory.consents`, and a benign one waits for a second signal.
   */
  consent: z
    .literal("given")
    .transform((): ConsentGiven => ({ via: "code" }))
    .optional(),
  /** The conversation, for the events of changes. @default that of a draft's `source` */
  threadId: storableText.optional(),
});
const changeSchema = accessSchema.extend({
  /**
   * `revision` of the memory as you read it. After a change since, nothing is done: `STALE_REVISION` has the memory in
   * `details.current`. @default any
   */
  ifRevision: revisionNumber.optional(),
  /** The user's words that ask for it, for the audit trail. @default none */
  quote: storableText.max(2_000).optional(),
  /** Id of the message with the quote, for a removal: recall, searches and summaries leave it out. @default none */
  messageId: storableText.max(1_000).optional(),
  /** Why, in at most 2,000 characters, for the audit trail. @default none */
  reason: storableText.max(2_000).optional(),
});
const revertSchema = changeSchema.extend({ to: z.int().min(1) });

export interface MemoryAccess extends Omit<z.input<typeof accessSchema>, "scope"> {
  readonly scope: Scope;
}
interface MemoryChangeAccess extends Omit<z.input<typeof changeSchema>, "scope"> {
  readonly scope: Scope;
}

/** Durable memories by hand. Every id is looked up within the scope. */
export interface MemoriesApi {
  /**
   * Writes memories by the rules of slots and merging, in one transaction; outcomes in the order of the drafts.
   * Sensitive fields (`consent.sensitive`) are proposed and not written, unless `consent: "given"`.
   * @example
   * ```ts
   * const [written] = await memory.memories.add(
   *   { text: "Is vegan.", category: "preferences", key: "diet", value: "vegan" },
   *   { scope: { userId: "ana" } },
   * );
   * ```
   * @throws MemoryError `INVALID_INPUT`, also for more than 5,000 drafts; `SCOPE_REQUIRED`, `EMBEDDING_FAILED`,
   *   `DIMENSION_MISMATCH`
   */
  add(drafts: MemoryDraft | readonly MemoryDraft[], access: MemoryAccess): Promise<WriteOutcome[]>;
  /** In any state; null when there is none. */
  get(id: string, access: MemoryAccess): Promise<MemoryItem | null>;
  /**
   * Active memories (or those in `states`), newest first unless `sort` says otherwise, in pages of `limit` (1
   * to 1,000) after the id `after`. Without a scope: quarantine (`states: ["quarantined"]`) of a tenant or of
   * everybody, for operators. @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  list(listing: MemoryListing | QuarantineListing): Promise<MemoryItem[]>;
  /**
   * Changes an active memory. @throws MemoryError `NOT_FOUND`, `INVALID_INPUT`, `CONSENT_REQUIRED`, `STALE_REVISION`,
   * `WRONG_STATE`, `CONFLICT`
   */
  update(id: string, patch: MemoryPatch, access: MemoryChangeAccess): Promise<MemoryItem>;
  /**
   * Hides an active memory; for 30 days it can be restored. One in quarantine is deleted for good; the audit trail
   * keeps it. @throws MemoryError `NOT_FOUND`, `STALE_REVISION`, `WRONG_STATE`
   */
  remove(id: string, access: MemoryChangeAccess): Promise<MemoryItem>;
  /**
   * Restores a removed memory, or a statement without a key that a later one closed.
   * @throws MemoryError `NOT_FOUND`, `CONSENT_REQUIRED`, `STALE_REVISION`, `WRONG_STATE`, `CONFLICT`
   */
  restore(id: string, access: MemoryChangeAccess): Promise<MemoryItem>;
  /**
   * Makes a memory in quarantine an ordinary one. For operators: no agent may reach it.
   * @throws MemoryError `NOT_FOUND`, `STALE_REVISION`, `CONSENT_REQUIRED`, `WRONG_STATE`, `CONFLICT`
   */
  approve(id: string, access: MemoryChangeAccess): Promise<MemoryItem>;
  /**
   * Restores the content right after the entry `to` of its history, and makes the memory active.
   * @throws MemoryError `NOT_FOUND`; `INVALID_INPUT` when the text breaks today's writing constraints;
   * `STALE_REVISION`, `CONSENT_REQUIRED`, `WRONG_STATE` when it is in quarantine, `CONFLICT`
   */
  revert(id: string, access: MemoryChangeAccess & { readonly to: number }): Promise<MemoryItem>;
  /** Changes of a memory, newest first. */
  history(id: string, access: MemoryAccess): Promise<HistoryEntry[]>;
}

const listingSchema = z.strictObject({
  scope: scopeField,
  kinds: z.array(z.enum(memoryKinds)).optional(),
  categories: z.array(storableText).optional(),
  keys: z.array(storableText).max(1_000).optional(),
  contains: storableText.min(1).max(1_000).optional(),
  sort: z.enum(memorySorts).optional(),
  states: z.array(z.enum(memoryStates)).optional(),
  metadata: metadataFilter.optional(),
  limit: pageRows,
  after: z.string().optional(),
});

const quarantineSchema = z.strictObject({
  states: z.tuple([z.literal("quarantined")]),
  tenantId: tenantField,
  limit: pageRows,
  after: z.string().optional(),
});

/** A scope that is named but missing is a caller's mistake and never means everybody. */
function isOfEverybody(listing: unknown): listing is QuarantineListing {
  return typeof listing === "object" && listing !== null && "states" in listing && !("scope" in listing);
}

/** `prepareMemory` checks the fields. */
const draftsSchema = z.array(
  z.custom<MemoryDraft>((draft) => typeof draft === "object" && draft !== null, "is no memory: pass { text, … }"),
);

export function createMemoriesApi(deps: WriteRuntime): MemoriesApi {
  const { policy } = deps.config;
  const changing = (id: string, access: MemoryChangeAccess): ChangeInput => {
    return { ...parseScoped(changeSchema, access, "access"), id: requireId(id) };
  };
  return {
    add: async (drafts, access) => {
      const { scope, actor, consent, threadId } = parseScoped(accessSchema, access, "access");
      const memories = parseInput(draftsSchema, Array.isArray(drafts) ? drafts : [drafts], "memories");
      for (const { expiresAt } of memories) requireAhead(expiresAt, deps.clock());
      // A program that brings the user's quote vouches that the user stated it.
      const stated = new Set(memories.keys());
      return writeMemories(deps, {
        scope,
        drafts: memories,
        origin: { actor, step: "api", consent, threadId, call: randomUUID(), stated },
      });
    },
    get: async (id, access) => findMemory(deps.db, parseScoped(accessSchema, access, "access").scope, requireId(id)),
    list: async (listing) => {
      if (isOfEverybody(listing)) {
        const asked = parseInput(
          quarantineSchema,
          listing,
          'listing of everybody, which is of `states: ["quarantined"]`',
        );
        return asListed(asked, () => listQuarantined(deps.db, asked));
      }
      const { categories, ...page } = parseScoped(listingSchema, listing, "listing");
      const names = categories?.map((name) => requireCategory(policy, name).name);
      return asTenant(page.scope.tenantId, () => listMemories(deps.db, { ...page, categories: names }));
    },
    update: async (id, patch, access) => {
      requireAhead(patch?.expiresAt, deps.clock());
      return updateMemory(deps, { ...changing(id, access), patch });
    },
    remove: async (id, access) => removeMemory(deps, changing(id, access)),
    restore: async (id, access) => restoreMemory(deps, changing(id, access)),
    approve: async (id, access) => approveMemory(deps, changing(id, access)),
    revert: async (id, access) => {
      return revertMemory(deps, { ...parseScoped(revertSchema, access, "access"), id: requireId(id) });
    },
    history: async (id, access) =>
      listHistory(deps.db, parseScoped(accessSchema, access, "access").scope, requireId(id)),
  };
}

/** @throws MemoryError `INVALID_INPUT` for a time that is over. */
function requireAhead(expiresAt: unknown, now: Date): void {
  const moment = momentField.safeParse(expiresAt);
  if (!moment.success || moment.data > now) return;
  throw new MemoryError(
    "INVALID_INPUT",
    `\`expiresAt\` is ${moment.data.toISOString()}, which is over: give a time to come, or remove the memory.`,
  );
}

function requireId(id: unknown): string {
  return parseInput(z.string(), id, "memory id");
}
