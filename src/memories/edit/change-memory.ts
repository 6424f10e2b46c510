import { MemoryError } from "../../errors.js";
import { findQuote } from "../../text/find-quote.js";
import { redactFields } from "../../text/redactor.js";
import { sharedWords } from "../../text/shared-words.js";
import {
  isApproved,
  leastTrusted,
  type MemoryItem,
  type MemoryVersion,
  type Provenance,
  provenanceOf,
} from "../item/memory.js";
import { changeFields, setsWords, versionOf, wordNames } from "../item/memory-fields.js";
import { hideMemories } from "../write/memory-states.js";
import { removeResting } from "../write/remove-resting.js";
import type { WriteRuntime } from "../write/write-types.js";
import { cutOff, trimToLength } from "../write/writing-constraints.rule.js";
import { type ChangeInput, editMemory, requireMemory } from "./edit-memory.js";
import { rejectMemory } from "./quarantine.js";
import { type Editing, rewriteContent, unexpiredFrom } from "./rewrite-content.js";

/**
 * @throws MemoryError as `editMemory`; `INVALID_INPUT` when the text breaks the writing constraints
 */
export async function updateMemory(
  deps: WriteRuntime,
  input: ChangeInput & Patch,
): Promise<MemoryItem> {
  const patch = await redactFields(deps.redactor, patchOf(input), wordNames);
  const embedded =
    patch.text === undefined ? null : ((await deps.embedder?.documents([patch.text])) ?? null);
  const states =
    patch.expiresAt === undefined ? (["active"] as const) : (["active", "soft_deleted"] as const);
  const nextOf = (before: MemoryItem): MemoryItem => {
    requireWhole(before, patch.text);
    const provenance = setsWords(patch) && changedBy(before, patch, input);
    return {
      ...before,
      ...patch,
      ...provenance,
      ...(dropsValue(before, patch) && { value: null }),
    };
  };
  return editMemory(deps, { ...input, states, next: nextOf }, async (editing) => {
    const { before } = editing;
    refuseRemoved(editing);
    const next = nextOf(before);
    const { origin, trust } = next;
    const also = await rewriteContent(deps, editing, next, { embedded, vouched: isApproved(next) });
    if (before.state !== "active") {
      return {
        event: "RESTORE",
        delta: "restored",
        old: { state: before.state },
        new: versionOf(next),
        also,
      };
    }
    const delta = patch.text === undefined ? null : "updated";
    const now = { ...versionOf(next), origin, trust };
    return { event: "UPDATE", delta, old: versionOf(before), new: now, also };
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
  const { purgeAfterMs } = deps.config.lifecycle;
  return editMemory(deps, { ...input, states: ["active"] }, async ({ tx, owner, before }) => {
    const how = { ownerRef: owner.ref, vectors: deps.embedder !== null, purgeAfterMs };
    const [hidden] = await hideMemories(tx, { ...how, event: "DELETE" }, [before], () => ({}));
    const also = await removeResting(tx, { ...how, removed: [before.id] });
    return { event: "DELETE", delta: "soft_deleted", old: hidden?.old, new: hidden?.new, also };
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
  const { text } = await requireMemory(deps.db, input, states);
  const embedded = (await deps.embedder?.documents([text])) ?? null;
  return editMemory(deps, { ...input, states, next: (before) => before }, async (editing) => {
    const before = unexpiredFrom(editing, editing.before);
    // The text is unchanged, so its links stay.
    await rewriteContent(deps, editing, before, { embedded, vouched: isApproved(before) });
    return {
      event: "RESTORE",
      delta: "restored",
      old: { state: before.state },
      new: versionOf(before),
    };
  });
}

function refuseRemoved({ before, owner }: Editing): void {
  if (before.state === "active" || (before.expiresAt !== null && before.expiresAt <= owner.now))
    return;
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
