import { setTimeout as sleep } from "node:timers/promises";
import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { errorCodeOf } from "../database/database-error.js";
import type { Scope } from "../domain/scope.js";
import { ownNamePrefix, type SaidMessage, saidDigest } from "../domain/thread-id.js";
import { MemoryError } from "../errors.js";
import { ownerIs } from "./owner-is.js";
import { ownerColumns, scopeColumns } from "./scope-columns.js";
import { threadIs } from "./thread-is.js";

/** A thread of a scope. */
export interface OwnedThread {
  readonly threadRef: number;
  /** The thread id that its checkpoints are kept under; null until somebody asks for them. */
  readonly checkpointThreadId: string | null;
}

interface Row {
  id: string;
  owned: boolean;
  checkpoint_thread_id: string | null;
}

/** Who else claims the same thread, or makes the same owner, has done so by the next try. */
const mostCollisions = 20;

/**
 * The thread named, which becomes the scope's if its tenant has none of that id; `null` when it belongs to another
 * scope. One round trip; nothing is written when the thread is there.
 */
export async function claimThread(
  db: Connection,
  { scope, threadId }: { scope: Scope; threadId: string },
): Promise<OwnedThread | null> {
  for (let collisions = 1; ; collisions++) {
    try {
      const row = await tryClaim(db, scope, threadId);
      if (row) return row.owned ? ownedThread(row) : null;
    } catch (error) {
      // 23503: the owner was forgotten after the snapshot was taken; the next one makes it anew.
      const collided = error instanceof Error && errorCodeOf(error.cause) === "23503";
      if (!collided || collisions > mostCollisions) throw error;
    }
    if (collisions > mostCollisions)
      throw new MemoryError(
        "CONFLICT",
        `Thread "${threadId}" could not be claimed: it is made and forgotten again and again.`,
      );
    await sleep(Math.random() * 5 * collisions);
  }
}

/** The thread named: `undefined` when there is none, `null` when it belongs to another scope. */
export async function findOwnedThread(
  db: Connection,
  { scope, threadId }: { scope: Scope; threadId: string },
): Promise<OwnedThread | null | undefined> {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const [row] = await db.query<Row>(sql`
    select t.id, t.user_id = ${userId} and t.app_id = ${appId} as owned, t.checkpoint_thread_id
    from ${db.schema}.thread t where ${threadIs(tenantId, threadId)}`);
  if (!row) return undefined;
  return row.owned ? ownedThread(row) : null;
}

/** Undefined when another got in between: its row is not in this statement's snapshot. */
async function tryClaim(db: Connection, scope: Scope, threadId: string): Promise<Row | undefined> {
  const { schema } = db;
  const { tenantId, userId, appId } = scopeColumns(scope);
  const owner = ownerColumns(scope);
  const [row] = await db.query<Row>(
    sql`
    with known as (
      select t.id, t.user_id = ${userId} and t.app_id = ${appId} as owned, t.checkpoint_thread_id
      from ${schema}.thread t where ${threadIs(tenantId, threadId)}
    ),
    known_owner as (
      select o.id, o.revision from ${schema}.owner o where ${ownerIs(owner)}
    ),
    new_owner as (
      insert into ${schema}.owner (tenant_id, user_id, app_id)
      select ${tenantId}, ${userId}, ${owner.appId}
      where not exists (select from known) and not exists (select from known_owner)
      on conflict do nothing
      returning id, revision
    ),
    made as (
      insert into ${schema}.thread
        (tenant_id, thread_id, user_id, app_id, owner_ref, rev_seen, created_at, last_activity_at)
      -- A new thread is told of no changes: all that is known is news to it.
      select ${tenantId}, ${threadId}, ${userId}, ${appId}, o.id, o.revision, ${db.now()}, ${db.now()}
      from (select * from known_owner union all select * from new_owner) o
      where not exists (select from known)
      on conflict do nothing
      returning id
    )
    select id, owned, checkpoint_thread_id from known
    union all select id, true, null from made`,
    { prepare: true },
  );
  return row;
}

function ownedThread({ id, checkpoint_thread_id }: Row): OwnedThread {
  return { threadRef: Number(id), checkpointThreadId: checkpoint_thread_id };
}

/**
 * Names what the thread's checkpoints are kept under, where they have no name yet: the thread id, or, where other
 * tenants have one of the same id, a name of its own.
 *
 * In a statement after the thread was made: of two tenants that make theirs at once, at least one then sees the other.
 * Null when it was forgotten, or another has named it since this statement began: then ask again.
 */
export async function nameCheckpoints(db: Connection, threadRef: number): Promise<string | null> {
  const [row] = await db.query<{ name: string }>(sql`
    with named as (
      update ${db.schema}.thread t
      set checkpoint_thread_id = case
        when t.thread_id like ${`${ownNamePrefix}%`}
          or exists (select from ${db.schema}.threads_elsewhere(array[t.thread_id], t.tenant_id))
        then ${ownNamePrefix} || gen_random_uuid() else t.thread_id end
      where t.id = ${threadRef} and t.checkpoint_thread_id is null
      returning checkpoint_thread_id
    )
    select checkpoint_thread_id as name from named
    union all
    select checkpoint_thread_id from ${db.schema}.thread t
    where t.id = ${threadRef} and t.checkpoint_thread_id is not null`);
  return row?.name ?? null;
}

/** A thread id that other tenants use as well. */
export interface ThreadElsewhere {
  readonly id: string;
  /** Whether one of those keeps its checkpoints under the id itself. */
  readonly holdsCheckpoints: boolean;
}

/** Those of `threadIds` that other tenants use as well. */
export async function findThreadsElsewhere(
  db: Connection,
  { tenantId, threadIds }: { tenantId: string; threadIds: readonly string[] },
): Promise<ThreadElsewhere[]> {
  if (threadIds.length === 0) return [];
  return db.query<ThreadElsewhere & Record<string, unknown>>(sql`
    select id, holds_checkpoints as "holdsCheckpoints"
    from ${db.schema}.threads_elsewhere(${threadIds}::text[], ${tenantId})`);
}

/** What a run finds in checkpoints that keep nobody apart. */
export interface CheckpointMeeting {
  /** Whether they are somebody else's. */
  readonly refused: boolean;
  /** Ids of the messages that refused runs left in them. */
  readonly strangers: readonly string[];
}

/**
 * Tells the owner of a thread's checkpoints which messages strangers left there, and notes those of a run that is not
 * the owner's. Both count from the first thread of that id, of whatever tenant.
 *
 * @param input.threadRef the thread of the run; null when it has none, since it is refused.
 * @param input.said what users say in the state that the run begins with.
 */
export async function meetInCheckpoints(
  db: Connection,
  { threadRef, threadId, said }: { threadRef: number | null; threadId: string; said: readonly SaidMessage[] },
): Promise<CheckpointMeeting> {
  const [row] = await db.query<CheckpointMeeting & Record<string, unknown>>(sql`
    select refused, strangers from ${db.schema}.meet_in_checkpoints(
      ${threadRef}::bigint, ${threadId}, ${said.map(({ id }) => id)}::text[], ${said.map(saidDigest)}::text[]
    )`);
  return row as CheckpointMeeting;
}
