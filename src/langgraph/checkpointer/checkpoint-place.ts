import sql from "sql-template-tag";
import {
  claimThread,
  findThread,
  findThreadsElsewhere,
  nameCheckpoints,
  type OwnedThread,
} from "../../conversation/claim-thread.js";
import type { Database } from "../../postgres/database.js";
import { asTenant } from "../../postgres/isolation.js";
import type { RepeatedClient } from "../../postgres/run-statement.js";
import { nobody, ownNamePrefix, type Scope, threadForbidden } from "../../scope/scope.js";

export interface CheckpointPlace {
  readonly threadId: string;
  /** Null for a run without a scope. */
  readonly scope: Scope | null;
  /** The thread id in `PostgresSaver`'s tables. */
  readonly name: string;
  /** Null for a thread without a row, which is only read. */
  readonly threadRef: number | null;
}

interface Asked {
  readonly scope: Scope | null;
  readonly threadId: string;
}

/** Each retry means that another process named or forgot the thread in between. */
const mostTries = 5;

/** An unowned thread becomes the asker's. @throws MemoryError `THREAD_FORBIDDEN` */
export async function claimPlace(db: Database, asked: Asked): Promise<CheckpointPlace> {
  const { threadId, scope } = asked;
  const claimant = scope ?? nobody;
  return asTenant(claimant.tenantId, async () => {
    for (let tries = 0; tries < mostTries; tries++) {
      if (scope === null && !(await findThread(db, { scope: claimant, threadId })))
        await requireUnowned(db, threadId);
      const thread = await claimThread(db, { scope: claimant, threadId });
      if (!thread) break;
      const place = await placeOf(db, asked, thread);
      if (place) return place;
    }
    throw threadForbidden(threadId);
  });
}

/** Claims nothing; null where the asker has no checkpoints. @throws MemoryError `THREAD_FORBIDDEN` */
export async function findPlace(db: Database, asked: Asked): Promise<CheckpointPlace | null> {
  const { threadId, scope } = asked;
  const asker = scope ?? nobody;
  return asTenant(asker.tenantId, async () => {
    const thread = await findThread(db, { scope: asker, threadId });
    if (thread === null) throw threadForbidden(threadId);
    if (thread) return placeOf(db, asked, thread);
    if (scope === null) await requireUnowned(db, threadId);
    const isTaken = threadId.startsWith(ownNamePrefix) || (await isTakenFrom(db, asker, threadId));
    // Unclaimed checkpoints are older than owners, or another checkpointer's.
    return isTaken ? null : { threadId, scope, name: threadId, threadRef: null };
  });
}

/** Null when the thread was forgotten meanwhile. */
async function placeOf(
  db: Database,
  { threadId, scope }: Asked,
  { threadRef, checkpointThreadId }: OwnedThread,
): Promise<CheckpointPlace | null> {
  const name = checkpointThreadId ?? (await nameCheckpoints(db, threadRef));
  return name === null ? null : { threadId, scope, name, threadRef };
}

/** Unowned checkpoints and a tenant's must not share a name. @throws MemoryError `THREAD_FORBIDDEN` */
async function requireUnowned(db: Database, threadId: string): Promise<void> {
  if (await isTakenFrom(db, nobody, threadId)) throw threadForbidden(threadId);
}

/** Whether the checkpoints under the thread id itself may be another's. */
async function isTakenFrom(db: Database, asker: Scope, threadId: string): Promise<boolean> {
  const { tenantId = "" } = asker;
  const [found] = await findThreadsElsewhere(db, { tenantId, threadIds: [threadId] });
  if (!found) return false;
  return found.isTaken || found.isTakenByNobody || (asker !== nobody && found.tenants > 0);
}

/** A pool whose transactions first lock the thread's row. @throws MemoryError `THREAD_FORBIDDEN` after forgetting */
export function guardedPool({ schema }: Database, client: RepeatedClient, place: CheckpointPlace) {
  const { scope, threadId, threadRef } = place;
  const locking = sql`select from ${schema}.thread t where t.id = ${threadRef} for share`;
  const begin = async () => {
    await asTenant((scope ?? nobody).tenantId, () => client.begin());
    if (threadRef === null) return;
    const { rowCount } = await client.query(locking.text, locking.values);
    if (rowCount === 0) throw threadForbidden(threadId);
  };
  return {
    connect: async () => ({
      query: (text: string, values?: unknown[]) => (text === "BEGIN" ? begin() : client.query(text, values)),
      release() {},
    }),
  };
}
