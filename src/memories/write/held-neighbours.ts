import { setImmediate } from "node:timers/promises";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Scope } from "../../scope/scope.js";
import type { PreparedMemory } from "./prepare-memory.js";

/** A memory near a text, as a process holds it. */
interface HeldNeighbour {
  readonly ref: number;
  readonly id: string;
  /** As in `KnownMemory`, but for the last digits. */
  readonly similarity: number;
}

/**
 * Where a process holds an owner's memories: which of them are near a text.
 *
 * Every active memory of the owner has a vector of the space there. What changed after `tick` may be missing or outdated:
 * whoever asks compares that by itself.
 */
export interface HeldNeighbours {
  readonly ownerRef: number;
  /** The owner's tick up to which all changes are in it. */
  readonly tick: number;
  readonly spaceRef: number;
  /** At most `most` active memories of this very app, nearest first; of equal ones the one with the lower ref. */
  nearest(appId: string, vector: Buffer, most: number): readonly HeldNeighbour[];
}

/** What a process holds of the owner of a scope; null where it holds none. */
export type FindHeldNeighbours = (scope: Scope) => HeldNeighbours | null;

/** Nearest memories looked at for merging and linking. */
export const nearestCount = 5;

/**
 * Nearest memories that are asked for: of these, five are left where up to five have changed since, as after a round that
 * taught as many facts.
 */
export const givenCount = 10;

/** What is held of an owner's memories near some texts, by their vectors. */
export interface GivenNeighbours extends Pick<HeldNeighbours, "ownerRef" | "tick"> {
  /** At most `givenCount`. */
  readonly near: ReadonlyMap<Buffer, readonly HeldNeighbour[]>;
}

/** Of the 5 ms that the event loop may be kept: one more search among 20,000 takes 2. */
const sliceMs = 3;

/**
 * What is held of the memories near each of `sought`; null where nothing is held in their space.
 *
 * Other work of the process gets its turn in between. What is brought up to date meanwhile only knows more than is said.
 */
export async function findGivenNeighbours(
  find: FindHeldNeighbours | undefined,
  { scope, space }: { readonly scope: Scope; readonly space: EmbeddingSpace | null },
  sought: readonly { readonly memory: PreparedMemory; readonly vector: Buffer | null }[],
): Promise<GivenNeighbours | null> {
  const first = find?.(scope) ?? null;
  if (first === null || space === null || first.spaceRef !== space.ref) return null;
  const { ownerRef, tick } = first;
  const near = new Map<Buffer, readonly HeldNeighbour[]>();
  let held: HeldNeighbours | null = first;
  let sinceMs = performance.now();
  for (const { memory, vector } of sought) {
    if (vector === null) continue;
    if (performance.now() - sinceMs > sliceMs) {
      await setImmediate();
      sinceMs = performance.now();
      held = find?.(scope) ?? null;
      if (held?.ownerRef !== ownerRef || held.spaceRef !== space.ref) return null;
    }
    near.set(vector, held.nearest(memory.scope.appId ?? "", vector, givenCount));
  }
  return { ownerRef, tick, near };
}
