import { lockOwner } from "../../scope/scope-predicates.js";
import { applyChanges } from "../apply/apply-changes.js";
import { changeOf } from "../changes/memory-change.js";
import type { MemoryItem } from "../item/memory.js";
import { versionOf } from "../item/memory-fields.js";
import type { WriteRuntime } from "../write/write-types.js";
import { type ChangeInput, editContent, groundsOf, requireMemory } from "./edit-memory.js";

const step = "quarantine";

export function approveMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const approved = (before: MemoryItem): MemoryItem => {
    // The operator takes over words of unknown origin.
    const origin = before.origin === "unknown" ? "operator" : before.origin;
    return { ...before, origin, trust: "operator" };
  };
  const approval = { ...input, step, states: ["quarantined"], next: approved } as const;
  return editContent(deps, approval, ({ state, trust }, next) => ({
    event: "UPDATE",
    as: "created",
    old: { state, trust },
    new: { ...versionOf(next), state: "active", origin: next.origin, trust: next.trust },
  }));
}

/** Returns the deleted memory; the audit trail keeps it. */
export async function rejectMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const { scope } = await requireMemory(deps.db, input, ["quarantined"]);
  const grounds = await groundsOf(deps, input);
  return deps.db.transaction(async (tx) => {
    const { ref: ownerRef } = await lockOwner(tx, scope);
    const memory = await requireMemory(tx, input, ["quarantined"]);
    const rejected = changeOf(memory, "DELETE", {
      old: { ...versionOf(memory), state: memory.state },
      new: { state: "rejected", ...grounds },
    });
    const by = { ownerRef, scope, actor: input.actor, step } as const;
    await applyChanges(tx, by, { changes: [rejected], purged: [memory.id] });
    return memory;
  });
}
