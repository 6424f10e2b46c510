import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { errorCodeOf } from "../database/database-error.js";
import type { Scope } from "../domain/scope.js";
import type { TranscriptMessage } from "../domain/transcript-message.js";
import { scopeColumns } from "./scope-columns.js";

/** A message not yet in the transcript: it has no seq. */
export type NewMessage = Omit<TranscriptMessage, "seq">;

/** A thread's state right after messages were recorded. */
export interface RecordedThread {
  readonly threadRef: number;
  /** How many of the messages were new. */
  readonly recorded: number;
  /** −1 when the transcript is empty. */
  readonly lastSeq: number;
  /** Seqs of the user messages among the last `windowMessages` messages, and the last one of all; ascending. */
  readonly roundStarts: number[];
  readonly processing: boolean;
  readonly summarisedSeq: number | null;
}

interface Row {
  id: string;
  recorded: number;
  last_seq: number;
  round_starts: number[];
  processing: boolean;
  summarised_seq: number | null;
}

/** Another writer of the same thread got in between; each retry means that it made progress. */
const mostCollisions = 50;

/**
 * Appends those of `messages` whose ids the thread does not have yet, in order, and makes the thread if it
 * is new. One round trip, atomic; `null` when the thread belongs to another scope.
 *
 * The thread's row is locked while messages are added, but the statement's snapshot may be older than the
 * lock: then it collides with the (thread, seq) or (thread, message id) key, nothing is written, and a new
 * snapshot is taken. So seqs have no gaps and no message is stored twice.
 */
export async function recordMessages(
  db: Connection,
  input: { scope: Scope; threadId: string; messages: readonly NewMessage[]; windowMessages: number },
): Promise<RecordedThread | null> {
  for (let collisions = 0; ; collisions++) {
    try {
      return await tryRecord(db, input);
    } catch (error) {
      const collided = error instanceof Error && errorCodeOf(error.cause) === "23505";
      if (!collided || collisions >= mostCollisions) throw error;
    }
  }
}

async function tryRecord(
  db: Connection,
  { scope, threadId, messages, windowMessages }: Parameters<typeof recordMessages>[1],
): Promise<RecordedThread | null> {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const column = <Key extends keyof NewMessage>(key: Key) => messages.map((message) => message[key]);
  const [row] = await db.query<Row>(sql`
    with owned as (
      insert into ${db.schema}.thread as t (tenant_id, thread_id, user_id, app_id)
      values (${tenantId}, ${threadId}, ${userId}, ${appId})
      on conflict (md5(tenant_id), md5(thread_id)) do update set last_activity_at = ${db.now()}
        where t.tenant_id = excluded.tenant_id and t.thread_id = excluded.thread_id
          and t.user_id = excluded.user_id and t.app_id = excluded.app_id
      returning id
    ),
    fresh as (
      select input.*, row_number() over (order by input.position) as number
      from owned, unnest(
        ${column("messageId")}::text[], ${column("role")}::text[], ${column("actor")}::text[],
        ${column("text")}::text[], ${column("serialised")}::text[]
      ) with ordinality as input (message_id, role, actor, content, serialised, position)
      where not exists (
        select from ${db.schema}.message m where m.thread_ref = owned.id and m.message_id = input.message_id
      )
    ),
    before as (
      select coalesce(max(m.seq), -1) as last_seq
      from owned join ${db.schema}.message m on m.thread_ref = owned.id
    ),
    added as (
      insert into ${db.schema}.message (thread_ref, seq, message_id, role, actor, content, serialised)
      select owned.id, before.last_seq + fresh.number, message_id, role, actor, content, serialised
      from owned, before, fresh
      returning seq, role
    ),
    after as (
      select before.last_seq + (select count(*) from added)::int as last_seq from before
    ),
    starts as (
      select m.seq from owned, ${db.schema}.message m
      where m.thread_ref = owned.id and m.role = 'user'
        and m.seq > (select last_seq from after) - ${windowMessages}::int
      union all select seq from added where role = 'user'
      union all (
        select m.seq from owned, ${db.schema}.message m
        where m.thread_ref = owned.id and m.role = 'user'
        order by m.seq desc limit 1
      )
    )
    select owned.id,
      (select count(*) from added)::int as recorded,
      after.last_seq,
      array(select distinct seq from starts order by seq) as round_starts,
      exists (
        select from ${db.schema}.summary s
        where s.thread_ref = owned.id and s.status = 'processing' and s.lease_until > ${db.now()}
      ) as processing,
      (
        select max(s.end_seq) from ${db.schema}.summary s
        where s.thread_ref = owned.id and s.status = 'completed' and s.rolled_back_at is null
      ) as summarised_seq
    from owned, after`);
  if (!row) return null;
  return {
    threadRef: Number(row.id),
    recorded: row.recorded,
    lastSeq: row.last_seq,
    roundStarts: row.round_starts,
    processing: row.processing,
    summarisedSeq: row.summarised_seq,
  };
}
