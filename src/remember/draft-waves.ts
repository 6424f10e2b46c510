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
 * Drafts that say the same are one entry, unless their slot was given another value in between. Drafts for the
 * same slot come one wave after another.
 */
export function draftWaves(drafts: readonly OwnerDraft[]): OwnerDraft[][][] {
  const entries: OwnerDraft[][] = [];
  const latest = new Map<string, OwnerDraft[]>();
  for (const draft of drafts) {
    const claims = claimsOf(draft);
    const [entry, ...others] = new Set(claims.map((claim) => latest.get(claim)));
    // All claims lead to one entry: it says the same, and nothing came in between.
    if (entry !== undefined && others.length === 0 && isSame(entry[0] as OwnerDraft, draft)) {
      entry.push(draft);
      continue;
    }
    const opened = [draft];
    entries.push(opened);
    for (const claim of claims) latest.set(claim, opened);
  }
  return inWaves(entries);
}

/** Each entry in the wave after the last one that shares a claim, so that later drafts meet earlier ones. */
function inWaves(entries: readonly OwnerDraft[][]): OwnerDraft[][][] {
  const waves: OwnerDraft[][][] = [];
  const lastWave = new Map<string, number>();
  for (const entry of entries) {
    const claims = claimsOf(entry[0] as OwnerDraft);
    const at = Math.max(...claims.map((claim) => (lastWave.get(claim) ?? -1) + 1));
    waves[at] ??= [];
    waves[at].push(entry);
    for (const claim of claims) lastWave.set(claim, at);
  }
  return waves;
}

/** What no two drafts of a wave may share: the statement, and the slot. */
function claimsOf({ memory }: OwnerDraft): string[] {
  const { kind, contentHash, scope, category, key } = memory;
  const same = JSON.stringify(["same", scope.appId, kind, contentHash]);
  return key === undefined ? [same] : [same, JSON.stringify(["slot", scope.appId, category, key])];
}

function isSame({ memory: first }: OwnerDraft, { memory: second }: OwnerDraft): boolean {
  return first.contentHash === second.contentHash && first.key === second.key;
}
