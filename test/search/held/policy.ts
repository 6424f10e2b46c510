import { vi } from "vitest";
import type { HeldCopy } from "../../../src/search/held/held-copies.js";
import { createHeldOwners, type HeldOwners } from "../../../src/search/held/held-owners.js";
import { ownerKey } from "../../../src/search/held/owner-key.js";

export const minute = 60_000;
export const keyOf = (name: string | number) => ownerKey({ userId: `user ${name}` });
/** Lets promises that are due go on. */
export const settle = () => vi.advanceTimersByTimeAsync(0);
export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A copy that counts how often it was released. */
export class Copy implements HeldCopy {
  readonly memories = 1;
  readonly messages = 2;
  readonly key: string;
  bytes: number;
  released = 0;
  constructor(key: string, bytes: number) {
    this.key = key;
    this.bytes = bytes;
  }
  release(): void {
    this.released++;
  }
}

/** An owner that is being taken in. */
export interface Load {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly finish: (result: Copy | null) => void;
  readonly fail: (error: unknown) => void;
}

/** A policy whose loads end when a test says so; they notice nothing of their signal. */
export function policy(options: Partial<Parameters<typeof createHeldOwners>[0]["options"]> = {}) {
  const loads: Load[] = [];
  const errors: unknown[] = [];
  const copies: Copy[] = [];
  const seen = { changes: 0 };
  const owners = createHeldOwners<Copy>({
    options: { enabled: true, withinMs: 10 * minute, idleMs: 10 * minute, mostBytes: 100_000, ...options },
    load: (key, signal) =>
      new Promise((resolve, reject) => {
        const load: Load = {
          ...{ key, signal },
          finish(result) {
            loads.splice(loads.indexOf(load), 1);
            if (result) copies.push(result);
            resolve(result);
          },
          fail(error) {
            loads.splice(loads.indexOf(load), 1);
            reject(error);
          },
        };
        loads.push(load);
      }),
    nowMs: () => Date.now(),
    report: (error) => void errors.push(error),
    changed: () => void seen.changes++,
  });
  const missTwice = async (key: string) => {
    owners.missed(key);
    owners.missed(key);
    await settle();
  };
  return {
    ...{ owners, loads, errors, copies, seen, missTwice },
    /** Has an owner held. */
    async hold(key: string, bytes = 1_000) {
      await missTwice(key);
      const copy = new Copy(key, bytes);
      loads.find((load) => load.key === key)?.finish(copy);
      await settle();
      return copy;
    },
  };
}

export const heldKeys = (owners: HeldOwners<Copy>) =>
  owners.status().list.map(({ scope }) => ownerKey(scope));
