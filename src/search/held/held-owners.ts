import { longestTimerMs } from "../../clock.js";
import type { HeldOptions } from "../held-options.js";
import { type CopyEntry, createHeldCopies, type HeldCopies, type HeldCopy } from "./held-copies.js";
import { type HeldLetGo, type HeldStatus, listed } from "./held-status.js";
import { createLoads } from "./loads.js";
import { createSeenOwners } from "./seen-owners.js";

/**
 * Who is held in this process, since when, and until when. Owners are named by `ownerKey`.
 *
 * A copy may be let go whenever another owner is taken in. So who has waited for anything asks for it again.
 */
export interface HeldOwners<Held extends HeldCopy> {
  /** The copy of an owner, which counts as used; null where it is not held. */
  get(key: string): Held | null;
  /** Counts a recall that was answered from copies. */
  answered(): void;
  /** Counts a recall of these owners that the statement answered. At the second of an owner it is taken in. */
  missed(...keys: readonly string[]): void;
  /** Notes a write to an owner that is not held. After twenty within the time it is taken in. */
  written(key: string): void;
  /** Lets go of an owner, also of one that is being taken in. Its next recall has it taken in anew. */
  drop(key: string): void;
  /** To be told when the bytes of a copy have changed. The copy itself may be among those that have to go for it. */
  grown(key: string): void;
  status(): HeldStatus;
  /** Resolves when nobody is being taken in. */
  idle(): Promise<void>;
  /** Lets go of everybody, and takes in nobody any more. Resolves within a second or so. */
  close(): Promise<void>;
}

/** What the policy goes by, and what it calls. */
export interface HeldOwnersSettings<Held extends HeldCopy> {
  readonly options: Pick<HeldOptions, "enabled" | "withinMs" | "idleMs" | "mostBytes">;
  /** Reads an owner; null for one that is too large, or is not to be held as it is. Stops when `signal` says so. */
  load(key: string, signal: AbortSignal): Promise<Held | null>;
  /** The time in milliseconds since 1970, which never goes back. */
  nowMs(): number;
  /** Told why an owner could not be read. */
  report(error: unknown): void;
  /** Told when owners were taken in or let go. */
  changed?(): void;
}

/** Nobody is held yet. */
export function createHeldOwners<Held extends HeldCopy>(
  settings: HeldOwnersSettings<Held>,
): HeldOwners<Held> {
  const { options, load, nowMs, report, changed = () => {} } = settings;
  const { enabled, withinMs, idleMs, mostBytes } = options;
  const copies = createHeldCopies<Held>({ mostBytes, nowMs });
  const seen = createSeenOwners(withinMs, nowMs);
  const letGo = { idle: 0, full: 0, tooLarge: 0, dropped: 0, failed: 0 };
  const served = { held: 0, statement: 0 };
  let closed = false;

  const leave = (key: string, why: keyof HeldLetGo, aloneUntilMs: number) => {
    letGo[why]++;
    seen.leaveAlone(key, aloneUntilMs);
  };
  const leaveAll = (gone: readonly CopyEntry<Held>[]) => {
    for (const { key, bytes, loadedMs } of gone) {
      // Each is taken in once within the time: where more are active than there is room for, they would else push each
      // other out at every recall.
      if (bytes <= mostBytes) leave(key, "full", loadedMs + withinMs);
      else leave(key, "tooLarge", nowMs() + withinMs);
    }
    if (gone.length > 0) changed();
  };
  const watch = watchIdle(copies, { idleMs, nowMs }, (count) => {
    letGo.idle += count;
    changed();
  });
  const loads = createLoads<Held | null>({
    ...{ load, nowMs, staleMs: withinMs },
    loaded(key, held) {
      if (held === null) return leave(key, "tooLarge", nowMs() + withinMs);
      leaveAll(copies.put(key, held));
      changed();
      watch.start();
    },
    failed(key, error) {
      leave(key, "failed", nowMs() + withinMs);
      report(error);
    },
    discard: (held) => held?.release(),
  });

  return {
    get: copies.use,
    answered: () => void served.held++,
    missed(...keys) {
      served.statement++;
      if (!enabled || closed) return;
      for (const key of keys) if (!copies.has(key) && seen.again(key)) loads.start(key);
    },
    written(key) {
      if (!enabled || closed || copies.has(key)) return;
      if (seen.written(key)) loads.start(key);
    },
    drop(key) {
      const gone = copies.remove(key);
      // It is as active as it was.
      if (gone) seen.note(key, gone.usedMs);
      if (loads.cancel(key) || gone) letGo.dropped++;
      if (gone) changed();
    },
    grown: (key) => leaveAll(copies.weigh(key)),
    status: () => ({
      ...{ enabled, mostBytes, owners: copies.size, bytes: copies.bytes, loading: loads.count },
      ...{ served: { ...served }, letGo: { ...letGo }, ...listed([...copies.entries()]) },
    }),
    idle: loads.idle,
    async close() {
      closed = true;
      watch.stop();
      for (const { key } of copies.entries()) copies.remove(key);
      await loads.close();
    },
  };
}

/** Lets go of what was not used for `idleMs`, by one timer for the copy that is idle first. */
function watchIdle(
  copies: HeldCopies<HeldCopy>,
  { idleMs, nowMs }: { readonly idleMs: number; nowMs(): number },
  wentIdle: (count: number) => void,
): { start(): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    const [oldest] = copies.entries();
    if (oldest === undefined || timer !== undefined) return;
    const delayMs = Math.max(1, oldest.usedMs + idleMs - nowMs());
    timer = setTimeout(look, Math.min(delayMs, longestTimerMs)).unref();
  };
  const look = () => {
    timer = undefined;
    let count = 0;
    for (const { key, usedMs } of copies.entries()) {
      if (nowMs() - usedMs < idleMs) break;
      copies.remove(key);
      count++;
    }
    if (count > 0) wentIdle(count);
    start();
  };
  return { start, stop: () => clearTimeout(timer) };
}
