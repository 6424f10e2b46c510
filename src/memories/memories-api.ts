import { randomUUID } from "node:crypto";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { parseInput, revisionNumber, storableText } from "../input/parse-input.js";
import type { Runtime } from "../runtime.js";
import { listed, requiredScope, type Scope } from "../scope/scope.js";
import { type AsOf, asOfField, requirePast } from "./audit/as-of.js";
import { type HistoryEntry, listHistory } from "./audit/changes-api.js";
import { listRemembered, type MemoriesThen } from "./audit/list-remembered.js";
import type { ConsentGiven } from "./consent/consent-request.rule.js";
import {
  approveMemory,
  confirmMemory,
  removeMemory,
  restoreMemory,
  revertMemory,
  updateMemory,
} from "./edit/change-memory.js";
import type { ChangeInput } from "./edit/edit-memory.js";
import { requireCategory } from "./item/category.rule.js";
import {
  type MemoryDraft,
  type MemoryItem,
  type MemoryPatch,
  memoryOrigins,
} from "./item/memory.js";
import { changeFields, momentField } from "./item/memory-fields.js";
import {
  countingSchema,
  countMemories,
  findMemory,
  listingSchema,
  listMemories,
  type MemoryCounting,
  type MemoryListing,
} from "./item/memory-row.js";
import { splitDraft } from "./write/prepare-drafts.js";
import { hashOfMessage, writeMemories } from "./write/write-memories.js";
import type { WriteOutcome, WriteRuntime } from "./write/write-types.js";

/** Who writes, and for which message. */
const writer = {
  /** @default "api" */
  actor: storableText.default("api"),
  /**
   * The user agreed to this change. Otherwise a guarded change may be refused, or wait as a
   * request.
   */
  consent: z
    .literal("given")
    .transform((): ConsentGiven => ({ via: "code" }))
    .optional(),
  /** The conversation; a draft's `source` overrides it. @default none */
  threadId: storableText.optional(),
  /**
   * The user's message in `threadId` that a model answers. Limits what it changes and adds for this
   * message, and a removal with a `quote` hides it. Pass it in tools of your own.
   * @default none: your code decides, without limits
   */
  messageId: storableText.max(1_000).optional(),
  /** Why, in at most 2,000 characters, for the audit trail. @default none */
  reason: storableText.max(2_000).optional(),
};

/** A reader may pass what a writer does. */
const memorySchema = z.strictObject({ scope: requiredScope, id: z.string(), ...writer });

/** `prepareDraft` checks the fields. */
const draftSchema = z.custom<MemoryDraft>(
  (draft) => typeof draft === "object" && draft !== null,
  "is no memory: pass { text, … }",
);
const addSchema = z.strictObject({
  scope: requiredScope,
  ...writer,
  /** One memory or several. */
  memories: z.preprocess((given) => [given].flat(), z.array(draftSchema)),
});
const changeSchema = memorySchema.extend({
  /**
   * The memory's `revision` as you read it; after a later change: `STALE_REVISION`.
   * @default any
   */
  ifRevision: revisionNumber.optional(),
  /** The user's request, verbatim, for the audit trail. @default none */
  quote: storableText.max(2_000).optional(),
  /**
   * Whose the new words are. The memory keeps the lower trust of its own and theirs.
   * @default your code's; with `messageId` a model's, or the user's if they share words with `quote`
   */
  origin: z.enum(memoryOrigins).optional(),
});
const updateSchema = changeSchema.extend(changeFields);
/** Without `asOf`: today. */
const askedSchema = listingSchema.extend({ asOf: asOfField.optional() });
const revertSchema = changeSchema.extend({ to: z.int().min(1) });

/** One memory of a scope. */
interface MemoryOfScope {
  readonly scope: Scope;
  readonly id: string;
}
interface AddMemories extends Omit<z.input<typeof addSchema>, "scope" | "memories"> {
  readonly scope: Scope;
  readonly memories: MemoryDraft | readonly MemoryDraft[];
}
interface ChangeMemory extends Omit<z.input<typeof changeSchema>, "scope"> {
  readonly scope: Scope;
}

/** Durable memories, managed by your code. Every id is looked up within the scope. */
export interface MemoriesApi {
  /**
   * Writes memories in one transaction, by the rules of slots and merging; outcomes are in the
   * order of the drafts. Guarded fields (`config.consent`) may only be proposed; `consent: "given"`
   * writes.
   * @example
   * ```ts
   * const [written] = await memory.memories.add({
   *   scope: { userId: "ana" },
   *   memories: { text: "Is vegan.", category: "preferences", key: "diet", value: "vegan" },
   * });
   * ```
   * @throws MemoryError `INVALID_INPUT`, also for more than 5,000 drafts, and for a user's note to
   *   all users of an app; `SCOPE_REQUIRED`, `CONFLICT` for more than a message may
   */
  add(input: AddMemories): Promise<WriteOutcome[]>;
  /**
   * Finds a memory in any state, or null.
   * @example
   * ```ts
   * const [diet] = await memory.memories.list({ scope: { userId: "ana" }, keys: ["diet"] });
   * const stored = diet && (await memory.memories.get({ scope: diet.scope, id: diet.id }));
   * ```
   */
  get(input: MemoryOfScope): Promise<MemoryItem | null>;
  /**
   * Lists what memory knew at a past time, from the audit trail: texts, values, states and all other
   * fields of then. `asOf` is a time, which gives what was known and true then, or one or both of
   * `{ validAt, knownAt }`. `complete: false` says that something of then is not kept any more, and
   * `missing` why. Use is not recorded, so memories have no order by it, and `lastAccessedAt` is that
   * of their last change.
   * @example
   * ```ts
   * const { memories, complete } = await memory.memories.list({
   *   scope: { userId: "ana" },
   *   asOf: "2026-03-01",
   * });
   * ```
   * @throws MemoryError `INVALID_INPUT` also for a time in the future, and without a scope
   */
  list(
    listing: MemoryListing & { readonly scope: Scope; readonly asOf: AsOf },
  ): Promise<MemoriesThen>;
  /**
   * Lists active memories (or those in `states`), in pages of `limit` (1 to 1,000). Without a
   * scope: everybody's, for operators.
   * @example
   * ```ts
   * const facts = await memory.memories.list({ scope: { userId: "ana" }, kinds: ["fact"], limit: 50 });
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  list(listing?: MemoryListing): Promise<MemoryItem[]>;
  /**
   * Counts what `list` lists on all its pages, up to 10,000; 10,001 means that there are more.
   * @example
   * ```ts
   * console.log(await memory.memories.count({ scope: { userId: "ana" }, categories: ["preferences"] }));
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  count(counting?: MemoryCounting): Promise<number>;
  /**
   * Changes fields of an active memory, or of an expired one by `expiresAt`.
   * @example
   * ```ts
   * const [diet] = await memory.memories.list({ scope: { userId: "ana" }, keys: ["diet"] });
   * if (diet) await memory.memories.update({ scope: diet.scope, id: diet.id, text: "Is vegetarian." });
   * ```
   * @throws MemoryError `NOT_FOUND`, `INVALID_INPUT`, `CONSENT_REQUIRED`, `STALE_REVISION`,
   * `WRONG_STATE`, `CONFLICT`
   */
  update(input: ChangeMemory & MemoryPatch): Promise<MemoryItem>;
  /**
   * Hides an active memory, which can be restored until its purge (`lifecycle.purgeAfterMs`).
   * Deletes a memory in quarantine, except from the audit trail.
   * @example
   * ```ts
   * const [diet] = await memory.memories.list({ scope: { userId: "ana" }, keys: ["diet"] });
   * if (diet)
   *   await memory.memories.remove({ scope: diet.scope, id: diet.id, reason: "Said in jest." });
   * ```
   * @throws MemoryError `NOT_FOUND`, `STALE_REVISION`, `WRONG_STATE`, `CONFLICT`
   */
  remove(input: ChangeMemory): Promise<MemoryItem>;
  /**
   * Restores a removed memory, or a closed statement without a key.
   * @example
   * ```ts
   * const [removed] = await memory.memories.list({
   *   scope: { userId: "ana" },
   *   states: ["soft_deleted"],
   * });
   * if (removed) await memory.memories.restore({ scope: removed.scope, id: removed.id });
   * ```
   * @throws MemoryError `NOT_FOUND`, `INVALID_INPUT`, `CONSENT_REQUIRED`, `STALE_REVISION`,
   * `WRONG_STATE`, `CONFLICT`
   */
  restore(input: ChangeMemory): Promise<MemoryItem>;
  /**
   * Activates a memory in quarantine. For operators: do not give it to an agent.
   * @example
   * ```ts
   * const [kept] = await memory.memories.list({
   *   scope: { userId: "ana" },
   *   states: ["quarantined"],
   * });
   * if (kept)
   *   await memory.memories.approve({ scope: kept.scope, id: kept.id, actor: "admin" });
   * ```
   * @throws MemoryError `NOT_FOUND`, `INVALID_INPUT`, `STALE_REVISION`, `CONSENT_REQUIRED`,
   * `WRONG_STATE`, `CONFLICT`
   */
  approve(input: ChangeMemory): Promise<MemoryItem>;
  /**
   * Ends the doubt about an active memory (`doubtedAt`): somebody who knows says that it holds. Changes
   * nothing if there is none.
   * @example
   * ```ts
   * const insights = await memory.memories.list({ scope: { userId: "ana" }, kinds: ["insight"] });
   * for (const { scope, id, doubtedAt } of insights)
   *   if (doubtedAt) await memory.memories.confirm({ scope, id, actor: "admin" });
   * ```
   * @throws MemoryError `NOT_FOUND`, `STALE_REVISION`, `WRONG_STATE`
   */
  confirm(input: ChangeMemory): Promise<MemoryItem>;
  /**
   * Restores the content after the entry `to` of its history, and makes the memory active.
   * @example
   * ```ts
   * const [diet] = await memory.memories.list({ scope: { userId: "ana" }, keys: ["diet"] });
   * if (diet) {
   *   const [, before] = await memory.memories.history({ scope: diet.scope, id: diet.id });
   *   if (before)
   *     await memory.memories.revert({ scope: diet.scope, id: diet.id, to: before.id });
   * }
   * ```
   * @throws MemoryError `NOT_FOUND`, `STALE_REVISION`, `CONSENT_REQUIRED`, `CONFLICT`;
   * `INVALID_INPUT` when the text breaks today's writing constraints; `WRONG_STATE` in quarantine
   */
  revert(input: ChangeMemory & { readonly to: number }): Promise<MemoryItem>;
  /**
   * Lists the changes of a memory, newest first.
   * @example
   * ```ts
   * const [diet] = await memory.memories.list({ scope: { userId: "ana" }, keys: ["diet"] });
   * if (diet)
   *   for (const { event, actor, at } of await memory.memories.history({
   *     scope: diet.scope,
   *     id: diet.id,
   *   }))
   *     console.log(at.toISOString(), event, actor);
   * ```
   */
  history(input: MemoryOfScope): Promise<HistoryEntry[]>;
}

type MemoriesRuntime = WriteRuntime &
  Runtime<{ readonly receipts: { readonly idKey?: string | undefined } }>;

export function createMemoriesApi(deps: MemoriesRuntime): MemoriesApi {
  const { policy } = deps.config;
  const namesOf = (categories: readonly string[] | undefined) =>
    categories?.map((name) => requireCategory(policy, name).name);
  const memoryOf = (input: MemoryOfScope) => parseInput(memorySchema, input, "memory");
  const changeOf = (input: ChangeMemory): ChangeInput => parseInput(changeSchema, input, "change");
  return {
    async add(input) {
      const { scope, memories, ...writer } = parseInput(addSchema, input, "memories");
      for (const { expiresAt } of memories) requireFuture(expiresAt, deps.clock());
      const { actor, consent, threadId } = writer;
      const messageHash = hashOfMessage(writer);
      // However often a model repeats a message, it is one signal.
      const call = messageHash ?? randomUUID();
      // A program's texts are its own to measure; a model's are short.
      const anyLength = messageHash === undefined;
      const parts = await Promise.all(
        memories.map((draft) => (anyLength ? splitDraft(deps.redactor, draft) : [draft])),
      );
      const { reason } = await deps.redactor.json({ reason: writer.reason });
      const by = { actor, reason, consent, threadId, call, messageHash };
      const origin = { ...by, step: "api" } as const;
      const drafts = parts.flat();
      const grounds = drafts.map(() => ({ stated: true }));
      const outcomes = await writeMemories(deps, { scope, drafts, grounds, origin, anyLength });
      return parts.map(({ length }) => {
        const [first, ...further] = outcomes.splice(0, length) as [WriteOutcome];
        return further.length === 0 ? first : { ...first, further };
      });
    },
    async get(input) {
      const { scope, id } = memoryOf(input);
      return findMemory(deps.db, scope, id);
    },
    list: ((listing?: object) =>
      listed(askedSchema, listing, "listing", async ({ asOf, ...given }) => {
        const page = { ...given, categories: namesOf(given.categories) };
        if (asOf === undefined) return listMemories(deps.db, page);
        const { scope, sort } = page;
        if (scope === undefined)
          throw invalidPast("`asOf` needs a scope: pass whose past is meant.");
        if (sort === "used") throw invalidPast("past use is not recorded: choose another `sort`.");
        const now = deps.clock();
        const { idKey } = deps.config.receipts;
        const then = { ...page, scope, asOf: requirePast(asOf, now) };
        return listRemembered(deps.db, then, { now, idKey });
      })) as MemoriesApi["list"],
    count: (counting) =>
      listed(countingSchema, counting, "counting", (which) =>
        countMemories(deps.db, { ...which, categories: namesOf(which.categories) }),
      ),
    async update(input) {
      requireFuture(input?.expiresAt, deps.clock());
      return updateMemory(deps, parseInput(updateSchema, input, "change"));
    },
    remove: async (input) => removeMemory(deps, changeOf(input)),
    restore: async (input) => restoreMemory(deps, changeOf(input)),
    confirm: async (input) => confirmMemory(deps, changeOf(input)),
    approve: async (input) => approveMemory(deps, changeOf(input)),
    revert: async (input) => revertMemory(deps, parseInput(revertSchema, input, "change")),
    async history(input) {
      const { scope, id } = memoryOf(input);
      return listHistory(deps.db, scope, id);
    },
  };
}

const invalidPast = (problem: string) =>
  new MemoryError("INVALID_INPUT", `Invalid listing: ${problem}`);

function requireFuture(expiresAt: unknown, now: Date): void {
  const moment = momentField.safeParse(expiresAt);
  if (!moment.success || moment.data > now) return;
  const problem = `\`expiresAt\` is ${moment.data.toISOString()}, which is past`;
  throw new MemoryError("INVALID_INPUT", `${problem}: pass a future time, or remove the memory.`);
}
