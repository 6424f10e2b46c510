import { lockOwner } from "../../scope/scope-predicates.js";
import { recordChanges } from "../changes/record-changes.js";
import type { MemoryItem } from "../item/memory.js";
import { versionOf } from "../item/memory-fields.js";
import { purgeMemories } from "../write/memory-states.js";
import type { WriteRuntime } from "../write/write-types.js";
import { type ChangeInput, editMemory, groundsOf, requireMemory } from "./edit-memory.js";
import { rewriteContent, unexpiredFrom } from "./rewrite-content.js";

const step = "quarantine";

export async function approveMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const { text } = await requireMemory(deps.db, input, ["quarantined"]);
  const embedded = (await deps.embedder?.documents([text])) ?? null;
  return editMemory(deps, { ...input, step, states: ["quarantined"] }, async (editing) => {
    const before = unexpiredFrom(editing, editing.before);
    // The operator takes over words of unknown origin.
    const origin = before.origin === "unknown" ? "operator" : before.origin;
    const approved = { ...before, origin, trust: "operator" } as const;
    const also = await rewriteContent(deps, editing, approved, { embedded, vouched: true });
    const { state, trust } = before;
    const next = { ...versionOf(before), state: "active", origin, trust: "operator" };
    return { event: "UPDATE", delta: "created", old: { state, trust }, new: next, also };
  });
}

/** Returns the deleted memory; the audit trail keeps it. */
export async function rejectMemory(deps: WriteRuntime, input: ChangeInput): Promise<MemoryItem> {
  const { scope } = await requireMemory(deps.db, input, ["quarantined"]);
  const grounds = await groundsOf(deps, input);
  return deps.db.transaction(async (tx) => {
    const { ref: ownerRef } = await lockOwner(tx, scope);
    const memory = await requireMemory(tx, input, ["quarantined"]);
    const { id, state, category } = memory;
    const old = { ...versionOf(memory), state };
    const change = {
      memoryId: id,
      event: "DELETE",
      category,
      old,
      new: { state: "rejected", ...grounds },
    } as const;
    await recordChanges(tx, { ownerRef, scope, actor: input.actor, step, changes: [change] });
    await purgeMemories(tx, ownerRef, [id]);
    return memory;
  });
}
