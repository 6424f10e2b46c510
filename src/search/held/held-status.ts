import type { Scope } from "../../scope/scope.js";
import type { CopyEntry, HeldCopy } from "./held-copies.js";
import { scopeOfKey } from "./owner-key.js";

/** Why owners are not held, counted since the memory was made. */
export interface HeldLetGo {
  /** Nobody asked for them for `retrieval.held.idleMs`. */
  readonly idle: number;
  /** Others were asked for later, and `retrieval.held.mostBytes` was reached. */
  readonly full: number;
  /** They alone are more than may be held: see `mostBytes`, `mostMemories` and `mostMessages`. */
  readonly tooLarge: number;
  /** What is kept of them was deleted, or moved, or changed so much that it is to be read anew. */
  readonly dropped: number;
  /** They could not be read. */
  readonly failed: number;
}

/** An owner that this process holds. */
export interface HeldOwner {
  /** A user, or an app, of a tenant. */
  readonly scope: Scope;
  readonly memories: number;
  readonly messages: number;
  readonly bytes: number;
  readonly loadedAt: Date;
  readonly lastUsedAt: Date;
}

/** What this process holds in memory of users and apps. */
export interface HeldStatus {
  /** Whether owners are held at all: `retrieval.held.enabled`. */
  readonly enabled: boolean;
  readonly owners: number;
  readonly memories: number;
  readonly bytes: number;
  /** What `bytes` never exceeds. */
  readonly mostBytes: number;
  /** Owners that are being taken in, or wait for it. */
  readonly loading: number;
  /** Recalls since the memory was made: answered from what is held, and by the statement that reads the tables. */
  readonly served: { readonly held: number; readonly statement: number };
  readonly letGo: HeldLetGo;
  /** The owners, at most 100, the one asked for last first. */
  readonly list: readonly HeldOwner[];
}

/** Most owners that a status lists. */
const mostListed = 100;

/** What a status says of `entries`, which are in the order of their use. */
export function listed(entries: readonly CopyEntry<HeldCopy>[]): Pick<HeldStatus, "memories" | "list"> {
  return {
    memories: entries.reduce((sum, { held }) => sum + held.memories, 0),
    list: entries
      .slice(-mostListed)
      .toReversed()
      .map(({ key, held: { memories, messages }, bytes, loadedMs, usedMs }) => ({
        ...{ scope: scopeOfKey(key), memories, messages, bytes },
        ...{ loadedAt: new Date(loadedMs), lastUsedAt: new Date(usedMs) },
      })),
  };
}
