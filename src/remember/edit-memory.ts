import type { Connection } from "../database/connection.js";
import { type ChangeEvent, changeLine } from "../domain/change-line.js";
import type { ConsentGiven } from "../domain/consent-request.js";
import type { EventStep } from "../domain/event-step.js";
import type { MemoryItem } from "../domain/memory.js";
import type { Scope } from "../domain/scope.js";
import { MemoryError } from "../errors.js";
import { type LockedOwner, lockOwner } from "../store/lock-owner.js";
import { type HistoryEvent, type MemoryChange, recordChanges } from "../store/record-changes.js";
import { consentChange } from "./consent-change.js";
import { changesSensitiveField, proposeEdit } from "./require-consent.js";
import { requireMemory } from "./require-memory.js";
import type { WriteDeps } from "./write-memories.js";

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
  deps: WriteDeps,
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
