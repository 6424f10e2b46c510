import { randomUUID } from "node:crypto";
import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { collided, retryOn } from "../postgres/retry.js";
import { nobody, ownNamePrefix, type ThreadAddress } from "../scope/scope.js";
import {
  isOwnThread,
  ownerColumns,
  ownerIs,
  scopeColumns,
  threadIs,
} from "../scope/scope-predicates.js";

const noCounts = { turns: sql`0`, messages: sql`0`, messageLength: sql`0` };

/**
 * CTEs `known_thread`, `known_owner` and `its_owner`, created if new, empty while another
 * transaction creates it.
 */
export function threadAndOwner(
  db: Connection,
  { scope, threadId }: ThreadAddress,
  counts = noCounts,
): Sql {
  const { schema } = db;
  const { tenantId, userId } = scopeColumns(scope);
  const owner = ownerColumns(scope);
  return sql`
    known_thread as materialized (
      select t.id, ${isOwnThread(scope)} as owned, t.checkpoint_name
      from ${schema}.thread t where ${threadIs(tenantId, threadId)}
    ),
    known_owner as materialized (
      select o.id, o.revision from ${schema}.owner o where ${ownerIs(owner)}
    ),
    new_owner as (
      insert into ${schema}.owner (tenant_id, user_id, app_id, turns, message_count, message_length)
      select ${tenantId}, ${userId}, ${owner.appId}, ${counts.turns}, ${counts.messages}, ${counts.messageLength}
      where not exists (select from known_owner) and not exists (select from known_thread where not owned)
      on conflict do nothing
      returning id, revision
    ),
    its_owner as (
      select id, revision from known_owner union all select id, revision from new_owner
    )`;
}

export interface OwnedThread {
  readonly threadRef: number;
  /** Thread id in the checkpoint tables; null until a checkpointer needs it. */
  readonly checkpointThreadId: string | null;
}

type ClaimRow = OwnedThread & { readonly owned: boolean };

/** Null for another scope's thread. One round trip. @throws MemoryError `BUSY` */
export async function claimThread(
  db: Connection,
  address: ThreadAddress,
): Promise<OwnedThread | null> {
  // 23503: the owner was forgotten after the snapshot; the next try creates it again.
  const claimed = await retryOn(["23503"], () => tryClaim(db, address), {
    // Competing claims are committed by the next try.
    most: 21,
    stepMs: 5,
    busy: `Thread "${address.threadId}" could not be claimed: it is made and forgotten again and again. Try again.`,
  });
  return claimed.owned ? claimed : null;
}

/** Undefined without a thread, null for another scope's. */
export async function findThread(
  db: Connection,
  address: ThreadAddress,
): Promise<OwnedThread | null | undefined> {
  const { scope, threadId } = address;
  const [found] = await db.query<ClaimRow>(sql`
    select t.id::float8 as "threadRef", ${isOwnThread(scope)} as owned, t.checkpoint_name as "checkpointThreadId"
    from ${db.schema}.thread t
    where ${threadIs(scope.tenantId ?? "", threadId)}`);
  return found && (found.owned ? found : null);
}

async function tryClaim(
  db: Connection,
  { scope, threadId }: ThreadAddress,
): Promise<ClaimRow | typeof collided> {
  const { schema } = db;
  const { tenantId, userId, appId } = scopeColumns(scope);
  const [claimed] = await db.query<ClaimRow>(
    sql`
    with ${threadAndOwner(db, { scope, threadId })},
    made as (
      insert into ${schema}.thread
        (tenant_id, thread_id, user_id, app_id, owner_ref, rev_seen, created_at, last_activity_at)
      -- All existing memories are new to a new thread: it has no changes to report.
      select ${tenantId}, ${threadId}, ${userId}, ${appId}, o.id, o.revision, ${db.now()}, ${db.now()}
      from its_owner o
      where not exists (select from known_thread)
      on conflict do nothing
      returning id
    )
    select k.id::float8 as "threadRef", k.owned, k.checkpoint_name as "checkpointThreadId" from known_thread k
    union all select id::float8, true, null from made`,
    { prepare: true },
  );
  // Another transaction inserted it after this snapshot.
  return claimed ?? collided;
}

/**
 * Null for a forgotten thread. Call it after the insert, so that one of two concurrent tenants sees
 * the other.
 */
export async function nameCheckpoints(
  db: Connection,
  { scope, threadId }: ThreadAddress,
  threadRef: number,
): Promise<string | null> {
  const { tenantId } = scopeColumns(scope);
  // Citus refuses volatile functions in an update: they are called before it.
  const [named] = await db.query<{ name: string }>(sql`
    with taken as materialized (
      select id from ${db.schema}.threads_elsewhere(${[threadId]}::text[], ${tenantId})
      where is_taken or is_taken_by_nobody or (tenants > 0 and ${scope !== nobody})
    )
    update ${db.schema}.thread
    set checkpoint_name = coalesce(checkpoint_name, case
      when ${threadId.startsWith(ownNamePrefix)} or exists (select from taken) then ${ownNamePrefix + randomUUID()} else thread_id end)
    where id = ${threadRef}
    returning checkpoint_name as name`);
  return named?.name ?? null;
}

type ThreadElsewhere = {
  readonly id: string;
  readonly tenants: number;
  /** Whether another tenant's checkpoints have the plain id. */
  readonly isTaken: boolean;
  /** Whether unowned checkpoints have it. */
  readonly isTakenByNobody: boolean;
};

export async function findThreadsElsewhere(
  db: Connection,
  { tenantId, threadIds }: { tenantId: string; threadIds: readonly string[] },
) {
  if (threadIds.length === 0) return [];
  return db.query<ThreadElsewhere>(sql`
    select id, tenants, is_taken as "isTaken", is_taken_by_nobody as "isTakenByNobody"
    from ${db.schema}.threads_elsewhere(${threadIds}::text[], ${tenantId})`);
}
