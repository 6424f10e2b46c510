import type { Connection } from "../database/connection.js";
import type { Database } from "../database/database.js";
import type { Scope } from "../domain/scope.js";
import { threadForbidden } from "../domain/thread-id.js";
import { MemoryError } from "../errors.js";
import { findThread } from "../store/claim-thread.js";
import { lockOwner } from "../store/lock-owner.js";

/** A thread and its owner as work found them; forgetting ends one or both. */
export interface SeenThread {
  /** Null: nothing of it was recorded yet. */
  readonly threadRef: number | null;
  readonly ownerRef: number;
}

interface ThreadAddress {
  readonly scope: Scope;
  readonly threadId: string;
}

/**
 * The thread named, before long work on what was said in it.
 *
 * Its owner is made where it is new: only what is there can be missed when it was forgotten.
 *
 * @throws MemoryError `THREAD_FORBIDDEN`
 */
export async function seeThread(db: Database, address: ThreadAddress): Promise<SeenThread> {
  const thread = await findThread(db, address);
  if (thread === null) throw threadForbidden(address.threadId);
  const owner = await db.transaction((tx) => lockOwner(tx, address.scope));
  return { threadRef: thread?.threadRef ?? null, ownerRef: owner.ref };
}

/**
 * Sees to it that what was seen of a thread is still there: else it was forgotten, and nothing may be written that was
 * made of it. Belongs in the transaction of the write.
 *
 * @throws MemoryError `FORGOTTEN`
 */
export async function requireSeen(tx: Connection, address: ThreadAddress, seen: SeenThread): Promise<void> {
  const owner = await lockOwner(tx, address.scope);
  const thread = seen.threadRef === null ? null : await findThread(tx, address);
  if (owner.ref === seen.ownerRef && (thread?.threadRef ?? null) === seen.threadRef) return;
  throw new MemoryError(
    "FORGOTTEN",
    `Thread "${address.threadId}" or its user was forgotten meanwhile: nothing was written.`,
  );
}
