import { lockOwner } from "../../scope/scope-predicates.js";
import { applyChanges } from "../apply/apply-changes.js";
import { changeOf } from "../changes/memory-change.js";
import type { MemoryItem } from "../item/memory.js";
import { versionOf } from "../item/memory-fields.js";
import type { WriteRuntime } from "../write/write-types.js";
import { type ChangeInput, editMemory, groundsOf, requireMemory } from "./edit-memory.js";
import { planRewrite, unexpiredFrom } from "./plan-rewrite.js";

const step = "quarantine";

export async function approveMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const { text } = await requireMemory(deps.db, input, ["quarantined"]);
  const embedded = (await deps.embedder?.documents([text])) ?? null;
  const approval = { ...input, step, states: ["quarantined"], embedded } as const;
  return editMemory(deps, approval, async (editing) => {
    const before = unexpiredFrom(editing, editing.before);
    // The operator takes over words of unknown origin.
    const origin = before.origin === "unknown" ? "operator" : before.origin;
    const approved = { ...before, origin, trust: "operator" } as const;
    const { state, trust } = before;
    return {
      ...(await planRewrite(deps, editing, approved)),
      event: "UPDATE",
      as: "created",
      old: { state, trust },
      new: { ...versionOf(before), state: "active", origin, trust: "operator" },
    };
  });
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
