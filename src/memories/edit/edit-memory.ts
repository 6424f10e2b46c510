import sql from "sql-template-tag";
import { isoDay } from "../../clock.js";
import { MemoryError } from "../../errors.js";
import type { Embedded } from "../../models/embedder.js";
import type { EventStep } from "../../observability/events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import { brokenConstraint } from "../../postgres/database-error.js";
import { isSharedBy, parseScope, type Scope } from "../../scope/scope.js";
import { belongsTo, lockOwner, uuidOf } from "../../scope/scope-predicates.js";
import { normalValue } from "../../text/normal-value.js";
import { applyChanges } from "../apply/apply-changes.js";
import { changeOf, type MemoryChange } from "../audit/memory-change.js";
import { type ConsentPolicy, consentRule } from "../consent/consent-policy.rule.js";
import {
  type ConsentDecided,
  type ConsentGiven,
  consentChange,
} from "../consent/consent-request.rule.js";
import type { MemoryItem, MemoryOrigin } from "../item/memory.js";
import { findMemory } from "../item/memory-row.js";
import { expireMemories } from "../write/hide-memories.js";
import { itemDraft } from "../write/prepare-drafts.js";
import { hashOfMessage, requireBudget, writeMemories } from "../write/write-memories.js";
import type { WriteRuntime } from "../write/write-types.js";
import { type Editing, type PlannedEdit, planRewrite, screenedWords } from "./plan-rewrite.js";

/**
 * The memory to change. A user's scope changes nothing that all users of an app are shown.
 * @throws MemoryError `NOT_FOUND`; `STALE_REVISION` unless at `ifRevision`; `WRONG_STATE` outside
 * `states`
 */
export async function requireMemory(
  db: Connection,
  { scope, id, ifRevision }: Pick<ChangeInput, "scope" | "id" | "ifRevision">,
  states?: readonly MemoryItem["state"][],
): Promise<MemoryItem> {
  const parsed = parseScope(scope);
  const memory = await findMemory(db, parsed, id);
  if (!memory) throw await notFound(db, parsed, id);
  if (isSharedBy(parsed, memory.scope)) {
    const problem = `Memory ${id} belongs to all users of the app "${memory.scope.appId}", so a user's scope cannot change it.`;
    throw new MemoryError("NOT_FOUND", `${problem} Pass the app's own scope, without a userId.`);
  }
  requireRevision(`Memory ${id}`, memory, ifRevision);
  if (!states || states.includes(memory.state)) return memory;
  const problem = `Memory ${id} is ${memory.state}, not ${states.join(" or ")}.`;
  throw new MemoryError("WRONG_STATE", problem, { details: { current: memory } });
}

/** Optimistic concurrency check, under the owner's lock. @throws MemoryError `STALE_REVISION` */
export function requireRevision(
  what: string,
  current: { revision: number },
  ifRevision?: number,
): void {
  if (ifRevision === undefined || current.revision === ifRevision) return;
  const problem = `${what} has revision ${current.revision}, not ${ifRevision}: it has changed since it was read.`;
  const advice = "See `details.current` of this error, then decide again.";
  throw new MemoryError("STALE_REVISION", `${problem} ${advice}`, { details: { current } });
}

async function notFound(db: Connection, scope: Scope, id: string): Promise<MemoryError> {
  const [purged] = await db.query<{ at: Date }>(sql`
    select h.created_at as at
    from ${db.schema}.history h
    where h.memory_id = ${uuidOf(id)}::uuid and h.event = 'DELETE' and h.new ->> 'state' = 'purged'
      and ${belongsTo(db, scope, "h")}
    order by h.id desc limit 1`);
  if (!purged) return new MemoryError("NOT_FOUND", `There is no memory ${id} in this scope.`);
  const problem = `Memory ${id} was purged on ${isoDay(purged.at)} and cannot be restored: its history has its content.`;
  return new MemoryError("NOT_FOUND", problem);
}

/** See `MemoriesApi`. */
export interface ChangeInput {
  readonly scope: Scope;
  readonly id: string;
  readonly actor: string;
  readonly consent?: ConsentGiven | undefined;
  readonly quote?: string | undefined;
  readonly messageId?: string | undefined;
  readonly origin?: MemoryOrigin | undefined;
  readonly reason?: string | undefined;
  readonly threadId?: string | undefined;
  readonly ifRevision?: number | undefined;
}

/** How an edit is recorded. */
type RecordedEdit = Pick<MemoryChange, "event"> & Parameters<typeof changeOf>[2];

interface EditInput extends ChangeInput {
  readonly states: readonly MemoryItem["state"][];
  /** @default "api" */
  readonly step?: EventStep;
}

/**
 * Gives a memory the content of `next` and makes it active.
 * @throws MemoryError as `editMemory`; `INVALID_INPUT` for text that cannot be a memory
 */
export async function editContent(
  deps: WriteRuntime,
  input: EditInput & {
    /** The edited memory. Called before the lock too, to screen and embed what is new. */
    readonly next: (before: MemoryItem) => MemoryItem;
  },
  recorded: (before: MemoryItem, next: MemoryItem) => RecordedEdit,
): Promise<MemoryItem> {
  // A classifier and an embedding may be slow, so they come before the lock.
  const current = await requireMemory(deps.db, input, input.states);
  const wanted = input.next(current);
  const passed = await screenedWords(deps, current, wanted);
  const isNew = wanted.text !== current.text || current.state !== "active";
  const embedded = isNew ? ((await deps.embedder?.documents([wanted.text])) ?? null) : null;
  return editMemory(deps, { ...input, current, embedded }, async ({ tx, owner, before }) => {
    const edited = input.next(before);
    // A restored memory whose expiry has passed never expires.
    const isExpired = edited.expiresAt !== null && edited.expiresAt <= owner.now;
    const next = isExpired ? { ...edited, expiresAt: null } : edited;
    const editing = { tx, owner, before, passed, embedded };
    return { ...(await planRewrite(deps, editing, next)), ...recorded(before, next) };
  });
}

/**
 * Changes one memory as `plan` says under its owner's lock, in one transaction.
 * @throws MemoryError `NOT_FOUND`; `CONSENT_REQUIRED`, which may leave a request; `STALE_REVISION`;
 * `WRONG_STATE` outside `states`; `CONFLICT` when another active memory has its slot, text or turns
 */
export async function editMemory(
  deps: WriteRuntime,
  input: EditInput & {
    /** The memory as it was read before. */
    readonly current: MemoryItem;
    /** The new text. @default its vector stays */
    readonly embedded?: Embedded | null;
  },
  plan: (editing: Pick<Editing, "tx" | "owner" | "before">) => Promise<PlannedEdit & RecordedEdit>,
): Promise<MemoryItem> {
  const { scope } = input.current;
  const grounds = await groundsOf(deps, input);
  const { actor, step = "api", threadId, embedded } = input;
  let refused: { readonly after: MemoryItem; readonly asks: boolean } | undefined;
  try {
    return await deps.db.transaction(async (tx) => {
      const owner = await lockOwner(tx, scope);
      const changed = { ownerRef: owner.ref, scope };
      await expireMemories(tx, changed, deps.config.lifecycle);
      // Read again: it may have changed before the lock.
      const before = await requireMemory(tx, input, input.states);
      const { after, set, event, ...recorded } = await plan({ tx, owner, before });
      const verdict = guardEdit(deps.config.consent, { before, after }, input.consent);

      const explained = { ...recorded, new: { ...(recorded.new as object), ...grounds } };
      const changes = [changeOf(after, event, explained), ...(set.changes ?? [])];
      if (verdict.passes && verdict.approval) changes.push(consentChange(after, verdict.approval));
      const placed = changes.map((change) => ({ ...change, threadId }));
      const by = { ...changed, actor, step, space: embedded?.space };
      await applyChanges(tx, by, { ...set, changes: placed });
      // The error undoes the edit. A conflict is reported first, which leaves no request.
      if (!verdict.passes) {
        refused = { after, asks: verdict.asks };
        const problem = "A sensitive field changes only with the user's consent.";
        throw new MemoryError("CONSENT_REQUIRED", problem);
      }
      await requireBudget(tx, owner.ref, hashOfMessage(input), deps.config.memories);
      return requireMemory(tx, { ...input, ifRevision: undefined });
    });
  } catch (error) {
    // After the rollback, in a transaction of its own.
    if (refused && MemoryError.is(error, "CONSENT_REQUIRED"))
      throw await proposeEdit(deps, input, refused);
    const conflict = conflicts[brokenConstraint(error) as keyof typeof conflicts];
    if (!conflict) throw error;
    const problem = `Another active memory ${conflict} ${input.id}: change that one, or remove it first.`;
    throw new MemoryError("CONFLICT", problem, { cause: error });
  }
}

export async function groundsOf({ redactor }: WriteRuntime, input: ChangeInput): Promise<object> {
  const { threadId, messageId } = input;
  const { quote, reason } = await redactor.json({ quote: input.quote, reason: input.reason });
  const evidence = quote === undefined ? undefined : { quote, threadId, messageId };
  return { evidence, reason, messageHash: hashOfMessage(input) };
}

/**
 * Proposes an edit that the user can be asked about. Returns `CONSENT_REQUIRED` with the request.
 */
async function proposeEdit(
  deps: WriteRuntime,
  { scope, id, actor }: ChangeInput,
  { after, asks }: { readonly after: MemoryItem; readonly asks: boolean },
): Promise<MemoryError> {
  const [outcome] = await writeMemories(deps, {
    scope: after.scope,
    drafts: asks ? [itemDraft(after)] : [],
    // No `stated`: the old quote is no consent to an edit by hand.
    origin: { actor, step: "api" },
    // Fails when the memory was forgotten meanwhile.
    finish: async (tx) => void (await requireMemory(tx, { scope, id })),
  });
  const { category, key } = after;
  const field = key === null ? category : `${category}/${key}`;
  const waits =
    outcome?.outcome === "proposed"
      ? `It waits as request ${outcome.consentId}: decide it with memory.consents.decide, or pass`
      : "Pass";
  const problem = `${field} changes only with the user's consent.`;
  return new MemoryError(
    "CONSENT_REQUIRED",
    `${problem} ${waits} \`consent: "given"\` when the user agreed.`,
  );
}

/** What another active memory does, by unique index. */
const conflicts = {
  memory_slot: "has the slot of",
  memory_content: "has the same text as",
  memory_episode: "covers the same turns as",
};

/**
 * Whether an edit is allowed: text, value, category and activation of a sensitive field need
 * consent; others pass. `asks`: whether the refused edit leaves a request, not for a reworded
 * active value, nor from quarantine.
 */
function guardEdit(
  policy: ConsentPolicy,
  { before, after }: { readonly before: MemoryItem; readonly after: MemoryItem },
  given: ConsentGiven | undefined,
): { passes: true; approval: ConsentDecided | null } | { passes: false; asks: boolean } {
  const isUnchanged = (...names: (keyof MemoryItem)[]) =>
    names.every((name) => before[name] === after[name]);
  const wasActive = before.state === "active";
  const isSame = wasActive && isUnchanged("category", "value", "text");
  const isSensitive = [before, after].some((memory) => consentRule(policy, memory) === "consent");
  if (after.state !== "active" || isSame || !isSensitive) return { passes: true, approval: null };
  if (given) return { passes: true, approval: { ...given, decision: "approve" } };
  const [was, is] = [before, after].map(({ value, text }) => normalValue(value ?? text));
  const isSameValue =
    wasActive && after.key !== null && isUnchanged("category", "key") && was === is;
  return { passes: false, asks: before.state !== "quarantined" && !isSameValue };
}
