import type { SameFact } from "../domain/same-fact.js";
import type { PreparedMemory } from "./prepare-memory.js";

/** A draft on its way to an owner. */
export interface OwnerDraft {
  readonly index: number;
  readonly memory: PreparedMemory;
  readonly vector: string | null;
  readonly sameAs: (known: { id: string; text: string }) => SameFact;
  readonly turnsAgo: number;
}

/**
 * Drafts in groups that can be written at once: within a wave, no two share a slot or say the same.
 *
 * Drafts that say the same are one entry; drafts for the same slot come one wave after another.
 */
export function draftWaves(drafts: readonly OwnerDraft[]): OwnerDraft[][][] {
  const entries = new Map<string, OwnerDraft[]>();
  for (const draft of drafts) {
    const { kind, contentHash, scope, key } = draft.memory;
    const same = JSON.stringify([kind, contentHash, scope.appId ?? null, key ?? null]);
    entries.set(same, [...(entries.get(same) ?? []), draft]);
  }
  const result: OwnerDraft[][][] = [];
  const taken: Set<string>[] = [];
  for (const entry of entries.values()) {
    const { scope, category, key, kind, contentHash } = (entry[0] as OwnerDraft).memory;
    const claims = [JSON.stringify(["same", scope.appId, kind, contentHash])];
    if (key !== undefined) claims.push(JSON.stringify(["slot", scope.appId, category, key]));
    // After the last wave that shares a claim, so that later drafts meet earlier ones in their order.
    const at = taken.findLastIndex((wave) => claims.some((claim) => wave.has(claim))) + 1;
    result[at] = [...(result[at] ?? []), entry];
    taken[at] = new Set([...(taken[at] ?? []), ...claims]);
  }
  return result;
}
