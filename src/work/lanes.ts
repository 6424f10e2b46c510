export type Lanes = ReturnType<typeof createLanes>;

interface LanesSettings {
  /** Most lanes at once. */
  readonly max: number;
  /** Whether a list of so many refs may not be all that is due. */
  readonly limit: number;
  /** How long a list is followed before the lanes look again; they never do if it is infinite. */
  readonly freshMs: number;
  /** Finds due work in fair order. */
  look(): Promise<number[]>;
  /** Does the first of `refs` that is still due, and removes it with those before it. */
  run(refs: number[]): Promise<void>;
  /** Runs a lane; never throws. */
  open(lane: () => Promise<void>): Promise<unknown>;
}

/**
 * Does the due work of one kind: each lane does one job after the other, in the order of a list
 * that all lanes share. They look again when the list is old, or at its end if there may be more.
 */
export function createLanes({ max, limit, freshMs, look, run, open }: LanesSettings) {
  let refs: number[] = [];
  let isAll = true;
  let freshUntil = 0;
  let looking: Promise<void> | undefined;
  let stopped = false;
  let count = 0;

  const follow = (found: number[], lookedAt: number) => {
    refs = found;
    isAll = found.length < limit || freshMs === Number.POSITIVE_INFINITY;
    // Looking at a large backlog takes a twentieth of the time at most.
    const now = performance.now();
    freshUntil = now + Math.max(freshMs, 20 * (now - lookedAt));
    while (!stopped && count < Math.min(max, refs.length)) {
      count++;
      void open(lane);
    }
  };
  const lookAgain = async () => {
    const lookedAt = performance.now();
    const found = await look().finally(() => {
      looking = undefined;
    });
    follow(found, lookedAt);
  };
  const lane = async () => {
    try {
      await work();
    } finally {
      // Before anything else runs: what is found from now on opens a lane.
      count--;
    }
  };
  const work = async () => {
    while (!stopped) {
      const isOld = performance.now() > freshUntil;
      const isOver = refs.length === 0 && (looking !== undefined || !isAll);
      if (isOver || (isOld && refs.length > 0)) {
        looking ??= lookAgain();
        await looking;
      }
      const [list, length] = [refs, refs.length];
      if (length === 0) return;
      await run(list);
      // Not even taken, as while the database is down: left to the next sweep.
      if (list.length === length) [refs, isAll] = [[], true];
    }
  };
  return {
    /** Replaces the list. @param lookedAt when the look for it began */
    follow,
    isFree: () => count < max,
    stop(): void {
      stopped = true;
    },
  };
}
