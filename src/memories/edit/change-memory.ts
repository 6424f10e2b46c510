import sql from "sql-template-tag";
import { MemoryError } from "../../errors.js";
import { only, recordset } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import { parseScope, type Scope } from "../../scope/scope.js";
import { belongsTo, lockOwner, uuidOf } from "../../scope/scope-predicates.js";
import { redactFields } from "../../screening/redactor.js";
import { findQuote } from "../../text/find-quote.js";
import { sharedWords } from "../../text/shared-words.js";
import { applyChanges } from "../apply/apply-changes.js";
import { hideMemories, joinChanges } from "../apply/change-set.js";
import { changeOf, settledDoubt } from "../audit/memory-change.js";
import {
  leastTrusted,
  type MemoryItem,
  type MemoryVersion,
  type Provenance,
  provenanceOf,
} from "../item/memory.js";
import {
  changeFields,
  setsWords,
  snapshotColumns,
  versionNames,
  versionOf,
  wordNames,
} from "../item/memory-fields.js";
import { hideInsights } from "../write/hide-memories.js";
import type { WriteRuntime } from "../write/write-types.js";
import { cutOff, trimToLength } from "../write/writing-constraints.rule.js";
import {
  type ChangeInput,
  editContent,
  editMemory,
  groundsOf,
  requireMemory,
} from "./edit-memory.js";

/**
 * @throws MemoryError as `editMemory`; `INVALID_INPUT` when the text breaks the writing constraints
 */
export async function updateMemory(
  deps: WriteRuntime,
  input: ChangeInput & Patch,
): Promise<MemoryItem> {
  const patch = await redactFields(deps.redactor, patchOf(input), wordNames);
  const states =
    patch.expiresAt === undefined ? (["active"] as const) : (["active", "soft_deleted"] as const);
  const next = (before: MemoryItem): MemoryItem => {
    refuseRemoved(before, deps.clock());
    requireWhole(before, patch.text);
    const provenance = setsWords(patch) && changedBy(before, patch, input);
    const changed = { ...before, ...patch, ...provenance };
    return dropsValue(before, patch) ? { ...changed, value: null } : changed;
  };
  return editContent(deps, { ...input, states, next }, (before, next) => {
    const { origin, trust } = next;
    const version = versionOf(next);
    if (before.state !== "active")
      return { event: "RESTORE", as: "restored", old: { state: before.state }, new: version };
    return {
      event: "UPDATE",
      as: patch.text === undefined ? null : "updated",
      old: versionOf(before),
      new: { ...version, origin, trust },
    };
  });
}

/**
 * Whose the changed words are: never more trusted than before. A model that answers a message
 * speaks for itself, unless it uses words of the user's quote.
 */
function changedBy(
  before: MemoryItem,
  { text, value }: Partial<MemoryVersion>,
  { origin, messageId, quote = "" }: ChangeInput,
): Provenance {
  const isSaid = sharedWords(`${text ?? ""} ${value ?? ""}`, quote) > 0;
  const speaker = messageId === undefined ? "unknown" : isSaid ? "user" : "assistant";
  return leastTrusted(before, provenanceOf(origin ?? speaker));
}

/** Hides a memory and the insights derived from it. Deletes a memory in quarantine for good. */
export async function removeMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const current = await requireMemory(deps.db, input);
  if (current.state === "quarantined") return rejectMemory(deps, current.scope, input);
  const { lifecycle } = deps.config;
  const removal = { ...input, current, states: ["active"] } as const;
  return editMemory(deps, removal, async ({ tx, owner, before }) => {
    const own = hideMemories([before], lifecycle, "DELETE");
    const insights = await hideInsights(tx, owner.ref, [before.id], lifecycle);
    const [change] = own.changes;
    return {
      after: { ...before, state: "soft_deleted" },
      set: joinChanges([{ ...own, changes: [] }, insights]),
      event: "DELETE",
      as: "soft_deleted",
      old: change?.old,
      new: change?.new,
    };
  });
}

/**
 * Restores a hidden memory, or a closed statement without a key.
 * @throws MemoryError as `updateMemory`
 */
export async function restoreMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const { key } = await requireMemory(deps.db, input);
  // A former value of a slot stays in the slot's history.
  const states =
    key === null ? (["soft_deleted", "superseded"] as const) : (["soft_deleted"] as const);
  // The text is unchanged, so its links stay.
  return editContent(deps, { ...input, states, next: (before) => before }, (before, next) => ({
    event: "RESTORE",
    as: "restored",
    old: { state: before.state },
    new: versionOf(next),
  }));
}

/** Ends the doubt about a memory: it holds. Changes nothing if there is none. */
export async function confirmMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const states = ["active"] as const;
  const current = await requireMemory(deps.db, input, states);
  if (current.doubtedAt === null) return current;
  return editMemory(deps, { ...input, current, states }, async ({ before }) => {
    const { event, old, new: now } = settledDoubt(before, { confirmed: true });
    const set = { settledDoubts: [before.id] };
    return { after: before, set, event, old, new: now, as: "confirmed" };
  });
}

function refuseRemoved(before: MemoryItem, now: Date): void {
  if (before.state === "active" || (before.expiresAt !== null && before.expiresAt <= now)) return;
  const problem = `Memory ${before.id} was removed and has not expired: restore it with memory.memories.restore.`;
  throw new MemoryError("WRONG_STATE", problem, { details: { current: before } });
}

function requireWhole({ kind, id }: MemoryItem, text: string | undefined): void {
  const excess = text === undefined ? "" : cutOff(text, trimToLength(kind, text) ?? text);
  if (excess === "") return;
  const problem = `The new text of memory ${id} is too long: a memory has two sentences at most (a note four).`;
  throw new MemoryError("INVALID_INPUT", `${problem} Add this by itself: ${excess}`);
}

/** Whether the new text no longer contains the slot's value. */
function dropsValue(
  { value, text: before }: MemoryItem,
  { text, value: next }: Partial<MemoryVersion>,
): boolean {
  if (text === undefined || next !== undefined || value === null) return false;
  return findQuote(before, value) !== null && findQuote(text, value) === null;
}

type Patch = { readonly [Of in keyof MemoryVersion]?: MemoryVersion[Of] | undefined };

/** What is to change; an unset field must not overwrite. */
function patchOf(input: Patch): Partial<MemoryVersion> {
  const given = Object.entries(input).filter(
    ([name, value]) => name in changeFields && value !== undefined,
  );
  return Object.fromEntries(given);
}

const versionOfSnapshot = only(snapshotColumns, ...versionNames, "origin", "trust");

/**
 * Its content and provenance after the entry `to` of its audit trail.
 * @throws MemoryError `NOT_FOUND` for an unknown entry
 */
async function requireVersion(
  db: Connection,
  { scope, id, to }: Pick<ChangeInput, "scope" | "id"> & { readonly to: number },
): Promise<MemoryVersion & Provenance> {
  const [version] = await db.query<MemoryVersion & Provenance>(sql`
    select v.*
    from ${db.schema}.history h cross join lateral (
      select e.snapshot from ${db.schema}.history e
      where e.memory_id = h.memory_id and e.id <= h.id and e.snapshot is not null
      order by e.id desc limit 1
    ) e
    cross join lateral jsonb_to_record(e.snapshot) as v (${recordset(versionOfSnapshot)})
    where h.id = ${to} and h.memory_id = ${uuidOf(id)}::uuid and ${belongsTo(db, parseScope(scope), "h")}`);
  if (version) return version;
  throw new MemoryError("NOT_FOUND", `The history of memory ${id} has no entry ${to}.`);
}

/** All but quarantine, which needs an approval. */
const revertible: readonly MemoryItem["state"][] = [
  "active",
  "superseded",
  "merged",
  "soft_deleted",
];

/**
 * Restores the content right after the entry `to`, with the lower of its trust then and now.
 * @throws MemoryError `NOT_FOUND` for an unknown entry
 */
export async function revertMemory(
  deps: WriteRuntime,
  input: ChangeInput & { to: number },
): Promise<MemoryItem> {
  await requireMemory(deps.db, input, revertible);
  const version = await requireVersion(deps.db, input);
  const reverted = (before: MemoryItem): MemoryItem => {
    return { ...before, ...version, ...leastTrusted(before, version) };
  };
  return editContent(deps, { ...input, states: revertible, next: reverted }, (before, next) => {
    const { origin, trust } = next;
    return {
      event: "UPDATE",
      as: before.state === "active" ? "updated" : "restored",
      old: { ...versionOf(before), state: before.state },
      new: { ...versionOf(next), origin, trust, revertOf: input.to },
    };
  });
}

export function approveMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const approved = (before: MemoryItem): MemoryItem => {
    // The operator takes over words of unknown origin.
    const origin = before.origin === "unknown" ? "operator" : before.origin;
    return { ...before, origin, trust: "operator" };
  };
  const approval = {
    ...input,
    step: "quarantine",
    states: ["quarantined"],
    next: approved,
  } as const;
  return editContent(deps, approval, ({ state, trust }, next) => ({
    event: "UPDATE",
    as: "created",
    old: { state, trust },
    new: { ...versionOf(next), state: "active", origin: next.origin, trust: next.trust },
  }));
}

/** Returns the deleted memory; the audit trail keeps it. */
async function rejectMemory(
  deps: WriteRuntime,
  scope: Scope,
  input: ChangeInput,
): Promise<MemoryItem> {
  const grounds = await groundsOf(deps, input);
  return deps.db.transaction(async (tx) => {
    const { ref: ownerRef } = await lockOwner(tx, scope);
    const memory = await requireMemory(tx, input, ["quarantined"]);
    const rejected = changeOf(memory, "DELETE", {
      old: { ...versionOf(memory), state: memory.state },
      new: { state: "rejected", ...grounds },
    });
    const by = { ownerRef, scope, actor: input.actor, step: "quarantine" } as const;
    await applyChanges(tx, by, { changes: [rejected], purged: [memory.id] });
    return memory;
  });
}
