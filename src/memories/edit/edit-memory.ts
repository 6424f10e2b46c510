import { MemoryError } from "../../errors.js";
import type { EventStep } from "../../events/event-log.js";
import type { Connection } from "../../postgres/connection.js";
import { type LockedOwner, lockOwner } from "../../scope/lock-owner.js";
import type { Scope } from "../../scope/scope.js";
import { normalValue } from "../../text/normal-value.js";
import { type ChangeEvent, changeLine } from "../changes/change-line.js";
import { type HistoryEvent, type MemoryChange, recordChanges } from "../changes/record-changes.js";
import { type ConsentPolicy, consentRule } from "../guard/consent-policy.js";
import { type ConsentGiven, consentChange } from "../guard/consent-request.js";
import type { MemoryDraft, MemoryItem } from "../item/memory.js";
import { writeMemories } from "../write/write-memories.js";
import type { WriteRuntime } from "../write/write-runtime.js";
import { requireMemory } from "./require-memory.js";

/** A memory as it was, and as somebody wants it. */
interface Edited {
  readonly before: MemoryItem;
  readonly after: MemoryItem;
}

/** Whether an edit changes a sensitive field: its words, where they stand, or that it holds at all. */
function changesSensitiveField(policy: ConsentPolicy, { before, after }: Edited): boolean {
  if (after.state !== "active") return false;
  const same =
    before.state === "active" &&
    before.category === after.category &&
    before.value === after.value &&
    before.text === after.text;
  return !same && [before, after].some((memory) => consentRule(policy, memory) === "consent");
}

/**
 * Proposes an edit that may not be made without consent, as a memory of its own.
 *
 * @returns the error that tells who wanted to make it: `CONSENT_REQUIRED`, with the request where there is one now.
 * @throws MemoryError `NOT_FOUND` when the memory was forgotten meanwhile.
 */
async function proposeEdit(
  deps: WriteRuntime,
  input: ChangeInput,
  { before, after }: Edited,
): Promise<MemoryError> {
  const drafts = isAskable(before, after) ? [draftOf(after)] : [];
  const origin = { actor: input.actor, step: "api" } as const;
  const [outcome] = await writeMemories(deps, {
    ...{ scope: after.scope, drafts, origin },
    // A memory that was forgotten meanwhile is not proposed either.
    alongside: async (tx) => void (await requireMemory(tx, { scope: input.scope, id: input.id })),
  });
  const { category, key } = after;
  const field = key === null ? category : `${category}/${key}`;
  const waits =
    outcome?.outcome === "proposed"
      ? `It waits as request ${outcome.consentId}: decide it with memory.consents.decide, or pass`
      : "Pass";
  return new MemoryError(
    "CONSENT_REQUIRED",
    `${field} changes only with the user's consent. ${waits} \`consent: "given"\` when the user agreed.`,
  );
}

/**
 * Whether the user can be asked about an edit: not about other words for the value that a slot has, and not about what
 * nobody but an operator may see yet.
 */
function isAskable(before: MemoryItem, after: MemoryItem): boolean {
  if (before.state === "quarantined") return false;
  return before.state !== "active" || !isSameSlotValue(before, after);
}

function isSameSlotValue(before: MemoryItem, after: MemoryItem): boolean {
  const [one, other] = [before, after].map(({ category, key, value, text }) =>
    JSON.stringify([category, key, normalValue(value ?? text)]),
  );
  return after.key !== null && one === other;
}

function draftOf(memory: MemoryItem): MemoryDraft {
  const { text, kind, category, importance, confidence, pinned, tags, origin } = memory;
  return {
    ...{ text, kind, category, importance, confidence, pinned, tags, origin },
    key: memory.key ?? undefined,
    value: memory.value ?? undefined,
    agentId: memory.agentId ?? undefined,
    runId: memory.runId ?? undefined,
    actorId: memory.actorId ?? undefined,
    role: memory.role ?? undefined,
    source: memory.source ?? undefined,
    turns: memory.turns ?? undefined,
  };
}

/** Which memory, and who changes it. */
export interface ChangeInput {
  readonly scope: Scope;
  readonly id: string;
  /** For the audit trail. */
  readonly actor: string;
  /** The user's consent, which changes of sensitive fields need. */
  readonly consent?: ConsentGiven | undefined;
  /** The conversation that it happens in. @default none */
  readonly threadId?: string | undefined;
  /** The revision of the memory that the change was decided on. @default any */
  readonly ifRevision?: number | undefined;
}

/** What an edit did, for the audit trail and the news. */
export interface Edit {
  readonly event: HistoryEvent;
  /** Null for changes that are no news to agents. */
  readonly news: ChangeEvent | null;
  readonly old: unknown;
  readonly new: unknown;
  /** What else the audit trail tells of it. */
  readonly also?: readonly MemoryChange[];
}

/**
 * Changes one memory by `apply`, counted under `step` ("api" unless it says otherwise), in a transaction that holds its owner's lock: row, audit trail, revision and event
 * together or not at all. Returns the memory as it is then.
 *
 * @throws MemoryError `NOT_FOUND`; `CONSENT_REQUIRED` for a change of a sensitive field without consent, which becomes
 *   a request instead; `STALE_REVISION` when it has another revision than `ifRevision`, `WRONG_STATE` when it is in none
 *   of `states`; `SLOT_TAKEN` when another active memory holds its slot, `DUPLICATE_MEMORY` when one says the same or
 *   tells of the same turns.
 */
export async function editMemory(
  deps: WriteRuntime,
  input: ChangeInput & { readonly states: readonly MemoryItem["state"][]; readonly step?: EventStep },
  apply: (tx: Connection, owner: LockedOwner, memory: MemoryItem) => Promise<Edit>,
): Promise<MemoryItem> {
  const { scope } = await requireMemory(deps.db, input);
  let unconsented: { before: MemoryItem; after: MemoryItem } | undefined;
  try {
    return await deps.db.transaction(async (tx) => {
      const owner = await lockOwner(tx, scope);
      // Read again: it may have changed while the lock was waited for.
      const memory = await requireMemory(tx, input, input.states);
      const { event, news, old, new: next, also = [] } = await apply(tx, owner, memory);
      const changed = await requireMemory(tx, { scope: input.scope, id: input.id });
      const edited = { before: memory, after: changed };
      const sensitive = changesSensitiveField(deps.config.consent, edited);
      if (sensitive && !input.consent) {
        unconsented = edited;
        throw new MemoryError("CONSENT_REQUIRED", "A sensitive field changes only with the user's consent.");
      }
      const line = news && { event: news, line: changeLine(news, changed), importance: changed.importance };
      const { id: memoryId, category } = changed;
      await recordChanges(tx, {
        ownerRef: owner.ref,
        scope,
        actor: input.actor,
        step: input.step ?? "api",
        changes: [
          { memoryId, event, old, new: next, news: line, category, similarity: null },
          ...also,
          ...(sensitive && input.consent ? [consented(changed, input.consent)] : []),
        ].map((change) => ({ ...change, threadId: input.threadId })),
      });
      return changed;
    });
  } catch (error) {
    // Proposed outside the transaction, which undid the edit.
    if (unconsented && MemoryError.is(error, "CONSENT_REQUIRED")) {
      throw await proposeEdit(deps, input, unconsented);
    }
    throw takenPlace(error, input.id) ?? error;
  }
}

function consented({ id, category, key, value, text }: MemoryItem, given: ConsentGiven): MemoryChange {
  const { via, evidence = null, requestId: request = null } = given;
  return consentChange(id, category, {
    decision: "approve",
    via,
    request,
    key,
    value: value ?? text,
    evidence,
  });
}

/** What a unique index refused, in the words of who edits; null for every other error. */
function takenPlace(error: unknown, id: string): MemoryError | null {
  const cause = error instanceof Error ? (error.cause as { constraint?: string } | undefined) : undefined;
  switch (cause?.constraint) {
    case "memory_slot":
      return new MemoryError(
        "SLOT_TAKEN",
        `Another active memory holds the slot of ${id}: change that one, or remove it first.`,
        { cause: error },
      );
    case "memory_content":
      return new MemoryError("DUPLICATE_MEMORY", `Another active memory says the same as ${id}.`, {
        cause: error,
      });
    case "memory_episode":
      return new MemoryError("DUPLICATE_MEMORY", `Another active memory tells of the same turns as ${id}.`, {
        cause: error,
      });
    default:
      return null;
  }
}
