import type { MemoryItem } from "../domain/memory.js";
import { type MemoryVersion, versionOf } from "../domain/memory-version.js";
import { parseScope } from "../domain/scope.js";
import { versionAt } from "../domain/version-at.js";
import { MemoryError } from "../errors.js";
import { type ChangeInput, editMemory } from "../remember/edit-memory.js";
import { requireMemory } from "../remember/require-memory.js";
import { rewriteContent } from "../remember/rewrite-content.js";
import type { WriteDeps } from "../remember/write-memories.js";
import { listHistory } from "../store/list-history.js";

/** States that a version can be brought back from; what is in quarantine needs an approval instead. */
const states: readonly MemoryItem["state"][] = ["active", "superseded", "merged", "soft_deleted"];

/**
 * Gives a memory the content it had right after the entry `to` of its audit trail, and makes it active. This is a
 * change like any other, with an entry of its own that names `to`.
 *
 * @throws MemoryError `NOT_FOUND` for an unknown memory or entry; `WRONG_STATE` when it is in quarantine;
 *   `INVALID_INPUT` when the text breaks today's writing constraints or reads as instructions to a model; and all that
 *   `editMemory` throws.
 */
export async function revertMemory(
  deps: WriteDeps,
  input: ChangeInput & { readonly to: number },
): Promise<MemoryItem> {
  const known = await requireMemory(deps.db, input, states);
  const version = versionAt(await listHistory(deps.db, parseScope(input.scope), input.id), input.to);
  if (!version) {
    throw new MemoryError("NOT_FOUND", `The history of memory ${input.id} has no entry ${input.to}.`);
  }
  const { text } = { ...known, ...version };
  const embedded = (await deps.embedder?.documents([text])) ?? null;
  return editMemory(deps, { ...input, states }, async (tx, owner, memory) => {
    const next = { ...memory, ...version };
    // Only what is reverted to is known to have been vouched for, and that by the trust it still has.
    const vouched = memory.trust === "operator" || sameWords(memory, next);
    const relink = next.text !== memory.text;
    const moves = memory.state !== "active" || next.category !== memory.category;
    const also = await rewriteContent(deps, tx, owner, next, { embedded, vouched, relink, moves });
    return {
      event: "UPDATE",
      news: memory.state === "active" ? "updated" : "restored",
      old: { ...versionOf(memory), state: memory.state },
      new: { ...versionOf(next), revertOf: input.to },
      also,
    };
  });
}

function sameWords(first: MemoryVersion, second: MemoryVersion): boolean {
  return (
    JSON.stringify([first.text, first.value, first.tags]) ===
    JSON.stringify([second.text, second.value, second.tags])
  );
}
