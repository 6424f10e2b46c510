import { MemoryError } from "../../errors.js";
import { changeLine } from "../changes/change-line.js";
import type { MemoryItem } from "../item/memory.js";
import { deactivateMemories, touchMemories } from "../write/memory-states.js";
import type { WriteRuntime } from "../write/write-runtime.js";
import { type ChangeInput, editMemory, requireMemory } from "./edit-memory.js";

/**
 * Makes the memory `input.id` one with `input.into`, which counts as said again and keeps its own words.
 *
 * @throws MemoryError `NOT_FOUND`, `STALE_REVISION`; `WRONG_STATE` when either is not active; `INVALID_INPUT` when they are
 *   one, or of two scopes.
 */
export async function mergeMemory(
  deps: WriteRuntime,
  input: ChangeInput & { readonly into: string },
): Promise<MemoryItem> {
  const { into, scope } = input;
  await editMemory(deps, { ...input, states: ["active"] }, async ({ tx, owner, before: gone }) => {
    const kept = await requireMemory(tx, { scope, id: into }, ["active"]);
    requirePair(gone, kept);
    const seenCount = kept.seenCount + gone.seenCount;
    await touchMemories(tx, { ownerRef: owner.ref, sightings: [sightingOf(kept, gone)] });
    await deactivateMemories(tx, {
      ownerRef: owner.ref,
      changes: [{ id: gone.id, state: "merged", supersededBy: kept.id, validTo: null, purgeAfterMs: null }],
      vectors: deps.embedder !== null,
    });
    const line = changeLine("merged", { ...kept, seenCount });
    return {
      ...{ event: "MERGE", news: null, old: { text: gone.text, state: gone.state } },
      new: { state: "merged", supersededBy: kept.id },
      also: [
        {
          ...{ memoryId: kept.id, event: "MERGE", category: kept.category, similarity: null },
          old: { text: kept.text, seenCount: kept.seenCount },
          new: { text: gone.text, seenCount, merged: gone.id, source: gone.source },
          news: { event: "merged", line, importance: Math.max(kept.importance, gone.importance) },
        },
      ],
    };
  });
  return requireMemory(deps.db, { scope, id: into });
}

/** @throws MemoryError `INVALID_INPUT` */
function requirePair(gone: MemoryItem, kept: MemoryItem): void {
  if (gone.id === kept.id) throw new MemoryError("INVALID_INPUT", "A memory cannot be merged with itself.");
  const differ = (["tenantId", "userId", "appId"] as const).some((id) => gone.scope[id] !== kept.scope[id]);
  if (!differ) return;
  throw new MemoryError(
    "INVALID_INPUT",
    "`into` belongs to another scope: only memories of one user, within one app or in all, are merged.",
  );
}

/** `kept`, said again as often as `gone` was: whoever merges them vouches for no more than that. */
function sightingOf(
  kept: MemoryItem,
  gone: MemoryItem,
): Parameters<typeof touchMemories>[1]["sightings"][number] {
  return {
    ...{ id: kept.id, times: gone.seenCount, confidence: kept.confidence },
    ...{ importance: gone.importance, assertedTurn: 0, assertedAt: null, origin: null, trust: null },
    ...{ metadata: kept.metadata, expiresAt: kept.expiresAt, rank: 0 },
  };
}
