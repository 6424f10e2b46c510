import type { SameFact } from "../compare/merge-band.js";
import type { PreparedMemory } from "./prepare-memory.js";

/** A draft on its way to an owner. */
export interface OwnerDraft {
  readonly index: number;
  readonly memory: PreparedMemory;
  readonly vector: string | null;
  /** How it stands to a stored statement, or to an earlier one of its batch, which has no id yet. */
  readonly sameAs: (known: { id: string | null; text: string }) => SameFact;
  readonly turnsAgo: number;
}

/**
 * Drafts in groups that can be written at once: within a wave, no two share a slot or say the same.
 *
 * Drafts that say the same are one entry, unless their slot was given another value in between, or they say it of
 * another time or on another's word. Drafts for the same slot come one wave after another.
 *
 * @param after for drafts that may be merged into others, by their indexes: those they come after.
 */
export function draftWaves(
  drafts: readonly OwnerDraft[],
  after: ReadonlyMap<number, readonly number[]> = new Map(),
): OwnerDraft[][][] {
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
  return inWaves(entries, after);
}

/** Each entry in the wave after the last one that shares a claim or is nearly the same, so that later drafts meet earlier ones. */
function inWaves(
  entries: readonly OwnerDraft[][],
  after: ReadonlyMap<number, readonly number[]>,
): OwnerDraft[][][] {
  const waves: OwnerDraft[][][] = [];
  const lastWave = new Map<string, number>();
  const waveOf = new Map<number, number>();
  for (const entry of entries) {
    const claims = claimsOf(entry[0] as OwnerDraft);
    const near = entry.flatMap(({ index }) => after.get(index) ?? []);
    const met = [...claims.map((claim) => lastWave.get(claim)), ...near.map((index) => waveOf.get(index))];
    const at = Math.max(...met.map((wave) => (wave ?? -1) + 1));
    for (const { index } of entry) waveOf.set(index, at);
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
  const word = ({ validFrom, origin, correction }: PreparedMemory) =>
    `${validFrom?.getTime()} ${origin} ${correction}`;
  return first.contentHash === second.contentHash && first.key === second.key && word(first) === word(second);
}
