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

/** Where the checkpoints of somebody's thread are. */
export interface CheckpointPlace {
  readonly threadId: string;
  /** Null where nobody is named. */
  readonly scope: Scope | null;
  /** The thread id that they are kept under. */
  readonly name: string;
  /** The thread's row; null when it has none, and they are only read. */
  readonly threadRef: number | null;
}

/** Whose checkpoints are asked for; `scope` is null where nobody is named. */
interface Asked {
  readonly scope: Scope | null;
  readonly threadId: string;
}

/** Each means that another process has named or forgotten the thread in between. */
const mostTries = 5;

/**
 * Where the checkpoints of the thread are, which becomes the asker's if it is nobody's yet.
 *
 * @throws MemoryError `THREAD_FORBIDDEN`
 */
export async function claimPlace(db: Database, asked: Asked): Promise<CheckpointPlace> {
  const { threadId, scope } = asked;
  const claimant = scope ?? nobody;
  return asTenant(claimant.tenantId, async () => {
    for (let tries = 0; tries < mostTries; tries++) {
      if (scope === null && !(await findThread(db, { scope: claimant, threadId }))) {
        await requireUnowned(db, threadId);
      }
      const thread = await claimThread(db, { scope: claimant, threadId });
      if (!thread) break;
      const place = await placeOf(db, asked, thread);
      if (place) return place;
    }
    throw threadForbidden(threadId);
  });
}

/**
 * Where the checkpoints of the thread are, without claiming it; null where there are none for the asker.
 *
 * @throws MemoryError `THREAD_FORBIDDEN`
 */
export async function findPlace(db: Database, asked: Asked): Promise<CheckpointPlace | null> {
  const { threadId, scope } = asked;
  const asker = scope ?? nobody;
  return asTenant(asker.tenantId, async () => {
    const thread = await findThread(db, { scope: asker, threadId });
    if (thread === null) throw threadForbidden(threadId);
    if (thread) return placeOf(db, asked, thread);
    if (scope === null) await requireUnowned(db, threadId);
    const isTaken = threadId.startsWith(ownNamePrefix) || (await isTakenFrom(db, asker, threadId));
    // What nobody has claimed was written before there were owners, or by another checkpointer.
    return isTaken ? null : { threadId, scope, name: threadId, threadRef: null };
  });
}

/** Where the checkpoints of a thread that is the asker's are; null when it was forgotten meanwhile. */
async function placeOf(
  db: Database,
  { threadId, scope }: Asked,
  { threadRef, checkpointThreadId }: OwnedThread,
): Promise<CheckpointPlace | null> {
  const name = checkpointThreadId ?? (await nameCheckpoints(db, threadRef));
  return name === null ? null : { threadId, scope, name, threadRef };
}

/** Nobody's checkpoints and a tenant's do not share a name. @throws MemoryError `THREAD_FORBIDDEN` */
async function requireUnowned(db: Database, threadId: string): Promise<void> {
  if (await isTakenFrom(db, nobody, threadId)) throw threadForbidden(threadId);
}

/** Whether what lies under the thread id itself is not, or may not be, the asker's. */
async function isTakenFrom(db: Database, asker: Scope, threadId: string): Promise<boolean> {
  const { tenantId = "" } = asker;
  const [found] = await findThreadsElsewhere(db, { tenantId, threadIds: [threadId] });
  if (!found) return false;
  return found.isTaken || found.isTakenByNobody || (asker !== nobody && found.tenants > 0);
}

/**
 * `client` as a pool for one write of `PostgresSaver`: its transaction begins by holding the thread of `place`.
 *
 * The lock waits for whoever is forgetting the thread, and makes the next one wait.
 *
 * @throws MemoryError `THREAD_FORBIDDEN` there when the thread was forgotten.
 */
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
