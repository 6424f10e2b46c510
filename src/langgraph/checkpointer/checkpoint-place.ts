import sql from "sql-template-tag";
import type { Database } from "../../postgres/database.js";
import { asTenant } from "../../postgres/isolation.js";
import { nobody, ownNamePrefix, type Scope, threadForbidden } from "../../scope/scope.js";
import {
  claimThread,
  findThread,
  findThreadsElsewhere,
  nameCheckpoints,
  type OwnedThread,
} from "../../transcript/claim-thread.js";

export interface CheckpointPlace extends Asked {
  /** The thread id in `PostgresSaver`'s tables. */
  readonly name: string;
  /** Null without a row: only read or deleted. */
  readonly threadRef: number | null;
}

export interface Asked {
  /** Null for an unowned run. */
  readonly scope: Scope | null;
  readonly threadId: string;
}

/** Each retry follows a process that forgot the thread. */
const maxTries = 5;

/** Claims an unowned thread. @throws MemoryError `THREAD_FORBIDDEN` */
export async function claimPlace(db: Database, asked: Asked): Promise<CheckpointPlace> {
  const { threadId, scope } = asked;
  const claimant = scope ?? nobody;
  return asTenant(claimant.tenantId, async () => {
    for (let tries = 0; tries < maxTries; tries++) {
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

/** Claims nothing; null if none can be the asker's. @throws MemoryError `THREAD_FORBIDDEN` */
export async function findPlace(db: Database, asked: Asked): Promise<CheckpointPlace | null> {
  const { threadId, scope } = asked;
  const asker = scope ?? nobody;
  return asTenant(asker.tenantId, async () => {
    const thread = await findThread(db, { scope: asker, threadId });
    if (thread === null) throw threadForbidden(threadId);
    if (thread) return placeOf(db, asked, thread);
    if (scope === null) await requireUnowned(db, threadId);
    const isTaken = threadId.startsWith(ownNamePrefix) || (await isTakenFrom(db, asker, threadId));
    // Unclaimed checkpoints predate owners, or come from another checkpointer.
    return isTaken ? null : { threadId, scope, name: threadId, threadRef: null };
  });
}

async function placeOf(
  db: Database,
  { threadId, scope }: Asked,
  { threadRef, checkpointThreadId }: OwnedThread,
): Promise<CheckpointPlace | null> {
  const asker = scope ?? nobody;
  const name =
    checkpointThreadId ?? (await nameCheckpoints(db, { scope: asker, threadId }, threadRef));
  return name === null ? null : { threadId, scope, name, threadRef };
}

/**
 * Unowned checkpoints and a tenant's must not share a name.
 * @throws MemoryError `THREAD_FORBIDDEN`
 */
async function requireUnowned(db: Database, threadId: string): Promise<void> {
  if (await isTakenFrom(db, nobody, threadId)) throw threadForbidden(threadId);
}

/** Whether checkpoints under the plain thread id may be another's. */
async function isTakenFrom(db: Database, asker: Scope, threadId: string): Promise<boolean> {
  const { tenantId = "" } = asker;
  const [found] = await findThreadsElsewhere(db, { tenantId, threadIds: [threadId] });
  if (!found) return false;
  return found.isTaken || found.isTakenByNobody || (asker !== nobody && found.tenants > 0);
}

/** @throws MemoryError `THREAD_FORBIDDEN` for a thread forgotten meanwhile */
export async function deleteCheckpoints(db: Database, place: CheckpointPlace): Promise<void> {
  const { schema } = db;
  const { name, scope, threadId, threadRef } = place;
  const [deleted] = await asTenant((scope ?? nobody).tenantId, () =>
    db.query<{ held: boolean }>(sql`
      with held as materialized (select from ${schema}.thread t where t.id = ${threadRef} for share),
      doomed as (select ${name}::text as id where ${threadRef === null} or exists (select from held)),
      blobs as (delete from ${schema}.checkpoint_blobs b using doomed d where b.thread_id = d.id),
      written as (delete from ${schema}.checkpoint_writes w using doomed d where w.thread_id = d.id),
      gone as (delete from ${schema}.checkpoints c using doomed d where c.thread_id = d.id)
      select exists (select from doomed) as held`),
  );
  if (!deleted?.held) throw threadForbidden(threadId);
}
