import type { OwnerCopy } from "./owner-copy.js";
import { nearestSlots, similaritiesTo } from "./slot-scores.js";

/** Which memories of a held owner are near a text, for those who write. */
export interface OwnerNeighbours {
  readonly ownerRef: number;
  /** The owner's tick up to which all changes are in it. */
  readonly tick: number;
  readonly spaceRef: number;
  /** At most `most` active memories of this very app, nearest first; of equal ones the one with the lower ref. */
  nearest(
    appId: string,
    vector: Buffer,
    most: number,
  ): { readonly ref: number; readonly id: string; readonly similarity: number }[];
}

/** The neighbours that `copy` knows; null without vectors. It is asked at once, and again after anything was awaited. */
export function neighboursIn({ ref, tick, space, active }: OwnerCopy): OwnerNeighbours | null {
  if (ref === null || space === null || !active.isComplete) return null;
  return {
    ...{ ownerRef: ref, tick, spaceRef: space.ref },
    nearest(appId, vector, most) {
      const isOfApp = active.index.columns.ofApp(appId);
      const near = nearestSlots([active.index], similaritiesTo([active.index], vector), {
        ...{ most, isWanted: (_owner: number, slot: number) => isOfApp(slot) },
      });
      return near.ranked().flatMap(({ ref: near, value }) => {
        const memory = active.memoryOf(near);
        return memory ? [{ ref: near, id: memory.id, similarity: value }] : [];
      });
    },
  };
}
