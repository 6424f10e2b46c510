import sql from "sql-template-tag";
import type { Database } from "../../postgres/database.js";
import { asTenant } from "../../postgres/isolation.js";
import { nobody, ownNamePrefix, type ThreadAddress, threadForbidden } from "../../scope/scope.js";
import {
  claimThread,
  findThread,
  findThreadsElsewhere,
  nameCheckpoints,
  type OwnedThread,
} from "../../transcript/claim-thread.js";

/** An unowned run's scope is `nobody`. */
export interface CheckpointPlace extends ThreadAddress {
  /** The thread id in `PostgresSaver`'s tables. */
  readonly name: string;
  /** Null without a row: only read or deleted. */
  readonly threadRef: number | null;
}

/** Each retry follows a process that forgot the thread. */
const maxTries = 5;

/** Claims an unowned thread. @throws MemoryError `THREAD_FORBIDDEN` */
export async function claimPlace(db: Database, asked: ThreadAddress): Promise<CheckpointPlace> {
  const { scope, threadId } = asked;
  return asTenant(scope.tenantId, async () => {
    for (let tries = 0; tries < maxTries; tries++) {
      // Unowned checkpoints and a tenant's must not share a name.
      if (scope === nobody && !(await findThread(db, asked)) && (await isTakenFrom(db, asked)))
        break;
      const thread = await claimThread(db, asked);
      if (!thread) break;
      const place = await placeOf(db, asked, thread);
      if (place) return place;
    }
    throw threadForbidden(threadId);
  });
}

/** Claims nothing; null if none can be the asker's. @throws MemoryError `THREAD_FORBIDDEN` */
export async function findPlace(
  db: Database,
  asked: ThreadAddress,
): Promise<CheckpointPlace | null> {
  const { scope, threadId } = asked;
  return asTenant(scope.tenantId, async () => {
    const thread = await findThread(db, asked);
    if (thread === null) throw threadForbidden(threadId);
    if (thread) return placeOf(db, asked, thread);
    const isTaken = await isTakenFrom(db, asked);
    if (isTaken && scope === nobody) throw threadForbidden(threadId);
    if (isTaken || threadId.startsWith(ownNamePrefix)) return null;
    // Unclaimed checkpoints predate owners, or come from another checkpointer.
    return { threadId, scope, name: threadId, threadRef: null };
  });
}

async function placeOf(
  db: Database,
  asked: ThreadAddress,
  { threadRef, checkpointThreadId }: OwnedThread,
): Promise<CheckpointPlace | null> {
  const name = checkpointThreadId ?? (await nameCheckpoints(db, asked, threadRef));
  return name === null ? null : { ...asked, name, threadRef };
}

/** Whether checkpoints under the plain thread id may be another's. */
async function isTakenFrom(db: Database, { scope, threadId }: ThreadAddress): Promise<boolean> {
  const { tenantId = "" } = scope;
  const [found] = await findThreadsElsewhere(db, { tenantId, threadIds: [threadId] });
  if (!found) return false;
  return found.isTaken || found.isTakenByNobody || (scope !== nobody && found.tenants > 0);
}

/** @throws MemoryError `THREAD_FORBIDDEN` for a thread forgotten meanwhile */
export async function deleteCheckpoints(db: Database, place: CheckpointPlace): Promise<void> {
  const { schema } = db;
  const { name, scope, threadId, threadRef } = place;
  const [deleted] = await asTenant(scope.tenantId, () =>
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
