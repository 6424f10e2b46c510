import { MemoryError } from "../../errors.js";
import { findQuote } from "../../text/find-quote.js";
import { redactFields } from "../../text/redactor.js";
import { sharedWords } from "../../text/shared-words.js";
import { hideMemories, joinChanges } from "../apply/change-set.js";
import {
  leastTrusted,
  type MemoryItem,
  type MemoryVersion,
  type Provenance,
  provenanceOf,
} from "../item/memory.js";
import { changeFields, setsWords, versionOf, wordNames } from "../item/memory-fields.js";
import { hideInsights } from "../write/hide-memories.js";
import type { WriteRuntime } from "../write/write-types.js";
import { cutOff, trimToLength } from "../write/writing-constraints.rule.js";
import { type ChangeInput, editContent, editMemory, requireMemory } from "./edit-memory.js";
import { rejectMemory } from "./quarantine.js";

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
    return {
      ...before,
      ...patch,
      ...provenance,
      ...(dropsValue(before, patch) && { value: null }),
    };
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
  try {
    return await hideMemory(deps, input);
  } catch (error) {
    // Quarantine is rare, so other removals do not read the state first.
    const current = MemoryError.is(error, "WRONG_STATE")
      ? (error.details.current as MemoryItem)
      : null;
    if (current?.state === "quarantined") return rejectMemory(deps, input);
    throw error;
  }
}

function hideMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const { lifecycle } = deps.config;
  return editMemory(deps, { ...input, states: ["active"] }, async ({ tx, owner, before }) => {
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
