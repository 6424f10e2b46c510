import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import type { HeldOwners } from "../search/held/held-owners.js";
import type { Holding } from "../search/held/holding.js";
import type { OwnerCopy } from "../search/held/owner-copy.js";
import { ownerKey, scopeOfKey } from "../search/held/owner-key.js";
import { findPulse, type PulseOwner } from "./find-pulse.js";
import { mostChangedRows } from "./pulse-statement.js";

/** Brings the copy of `key` up to date, or lets go of it where it has to be read anew. */
export function bringUp(
  held: Pick<HeldOwners<OwnerCopy>, "drop" | "grown">,
  key: string,
  copy: OwnerCopy,
  owner: PulseOwner | null,
): void {
  const { tick } = copy;
  if (!caughtUp(copy, owner)) held.drop(key);
  else if (copy.tick > tick) held.grown(key);
}

/** Brings `copy` up to date; false where that needs it to be read anew. */
function caughtUp(copy: OwnerCopy, owner: PulseOwner | null): boolean {
  if (owner === null || copy.ref === null) return owner === null && copy.ref === null;
  if (owner.ref !== copy.ref || owner.changed === null) return false;
  copy.catchUp({ tick: owner.tick, ...owner.changed });
  return copy.active.isComplete;
}

/**
 * Writes that are compared with one copy as it is, and their statements: with each write comes what changed since, which are the
 * statements before it. A pulse carries few more.
 */
const most = { writes: 50, statements: mostChangedRows - 100 };

interface Compared {
  readonly tick: number;
  readonly writes: number;
  readonly statements: number;
}

/**
 * To be told before so many statements are compared with the memories of the owner of a scope, outside any transaction. An
 * owner who is written to often is taken in; a copy that only writes have used for a while is brought up to date.
 */
export function createNoteWrite(
  { db, holding }: { readonly db: Connection; readonly holding: Holding },
  timeoutMs: number,
): (scope: Scope, statements: number) => Promise<void> {
  const { owners: held } = holding;
  /** What was compared with a copy since it stood at this tick. */
  const compared = new WeakMap<OwnerCopy, Compared>();
  return async (scope, statements) => {
    const key = ownerKey(scope);
    const copy = held.get(key);
    if (copy === null) return holding.written(scope);
    const { tick } = copy;
    const last = compared.get(copy);
    const before = last?.tick === tick ? last : { tick, writes: 0, statements: 0 };
    compared.set(copy, { tick, writes: before.writes + 1, statements: before.statements + statements });
    if (before.writes < most.writes && before.statements < most.statements) return;
    compared.delete(copy);
    try {
      const owner = await findOwner(db, key, copy, timeoutMs);
      if (held.get(key) === copy) bringUp(held, key, copy, owner);
    } catch {
      // The write goes to the same database, and tells what is wrong with it.
      held.drop(key);
    }
  };
}

/** The owner of `key` with what `copy` lacks; null where nothing is kept of it any more. */
async function findOwner(
  db: Connection,
  key: string,
  { ref, tick, space }: OwnerCopy,
  timeoutMs: number,
): Promise<PulseOwner | null> {
  const none = {
    ...{ question: null, speakers: [], categories: [], changes: 0, consents: 0 },
    limits: { recentMessages: 0, recentBytes: 0, gapMessages: 0, gapBytes: 0 },
  };
  const address = { scope: scopeOfKey(key), threadId: "" };
  const held = ref === null ? [] : [{ ref, tick }];
  const { owners } = await findPulse(db, { ...none, address, held, space }, timeoutMs);
  return owners[0] ?? null;
}
