import { AsyncResource } from "node:async_hooks";

/** Owners that are being taken in, and those that wait for it. */
export interface Loads {
  /** Has the owner taken in when it is its turn; nothing when it is being taken in, or waits. */
  start(key: string): void;
  /** What is under way of this owner comes to nothing. Whether there was anything. */
  cancel(key: string): boolean;
  /** How many are under way or wait. */
  readonly count: number;
  /** Resolves when none is under way and none waits. */
  idle(): Promise<void>;
  /** Stops all of it; resolves when it has stopped, or after a second. */
  close(): Promise<void>;
}

/** How owners are taken in, and who is told what came of it. */
export interface LoadSettings<Loaded> {
  /** Reads one owner. Gives up when `signal` says so; what it reads after that is let go of. */
  load(key: string, signal: AbortSignal): Promise<Loaded>;
  loaded(key: string, loaded: Loaded): void;
  failed(key: string, error: unknown): void;
  /** Lets go of what was loaded for nothing. */
  discard(loaded: Loaded): void;
  /** How long an owner waits for its turn at most: nobody may care for it any more. */
  readonly staleMs: number;
  nowMs(): number;
}

/** Owners taken in at the same time: each takes a connection of the pool, now and then, that turns need more. */
const mostLoads = 2;

/** Owners that wait for it: many more would wait for longer than their conversations last. The latest replace the first. */
const mostWaiting = 1_000;

/** Longest wait of a close for loads to notice that they are to stop. A page takes milliseconds. */
const stopMs = 1_000;

/** No load is under way. */
export function createLoads<Loaded>(settings: LoadSettings<Loaded>): Loads {
  const { load, loaded, failed, discard, staleMs, nowMs } = settings;
  // A load started within a run would inherit its callbacks and its tenant.
  const outside = new AsyncResource("mnemograph.held");
  const running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>();
  const waiting = new Map<string, number>();

  const run = async (key: string, signal: AbortSignal) => {
    try {
      const result = await load(key, signal);
      if (signal.aborted) discard(result);
      else loaded(key, result);
    } catch (error) {
      if (!signal.aborted) failed(key, error);
    } finally {
      running.delete(key);
      next();
    }
  };
  const begin = (key: string) => {
    const stop = new AbortController();
    // After the caller's own work: reading the first page must not hold up the answer that it follows.
    const ended = outside.runInAsyncScope(() => Promise.resolve().then(() => run(key, stop.signal)));
    running.set(key, { stop, ended });
  };
  const next = () => {
    for (const [key, since] of waiting) {
      if (running.size >= mostLoads) return;
      if (running.has(key)) continue;
      waiting.delete(key);
      if (nowMs() - since <= staleMs) begin(key);
    }
  };
  const ended = () => Promise.all([...running.values()].map((each) => each.ended));
  const cancel = (key: string) => {
    const load = running.get(key);
    const isUnderWay = load !== undefined && !load.stop.signal.aborted;
    load?.stop.abort();
    return waiting.delete(key) || isUnderWay;
  };

  return {
    start(key) {
      const isUnderWay = running.get(key)?.stop.signal.aborted === false;
      if (isUnderWay || waiting.has(key)) return;
      waiting.set(key, nowMs());
      const [first] = waiting.keys();
      if (waiting.size > mostWaiting && first !== undefined) waiting.delete(first);
      next();
    },
    cancel,
    get count() {
      return running.size + waiting.size;
    },
    async idle() {
      while (running.size > 0) await ended();
    },
    async close() {
      waiting.clear();
      for (const key of running.keys()) cancel(key);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, stopMs);
      });
      await Promise.race([ended(), late]);
      clearTimeout(timer);
    },
  };
}
