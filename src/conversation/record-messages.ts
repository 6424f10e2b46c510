import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { collided, retryOn } from "../postgres/retry.js";
import {
  type AppendedTurn,
  inputMessages,
  lockedThread,
  notedTurn,
  rewrittenMessages,
  writtenMessages,
} from "./append-messages.js";

interface RecordedTalk {
  /** Counts the first `triggerMessages` and those just recorded. */
  readonly messages: number;
  /** Latest messages without a summary, up to the limit, and their bytes. */
  readonly unsummarised: number;
  readonly unsummarisedBytes: number;
  readonly lastSeq: number;
  /** Seq of the first of the last `windowMessages`; 0 if there are no more. */
  readonly earliestSeq: number;
}

interface TalkWindow {
  /** Messages in a window, without system messages. Null: it begins with the thread. */
  readonly windowMessages: number | null;
  /** How many of the first messages `talk` counts. @default all */
  readonly triggerMessages?: number | undefined;
  /** How many of the last messages are checked for a summary, if more than a window. @default 0 */
  readonly everyMessages?: number | undefined;
}

/**
 * CTEs about `before` and `fresh`: `recent (seq, role, bytes)`, the last window and one more;
 * `first (seq)`; `summarised (seq)`, the latest summary's end; `starts (seq)` of the window's turns
 * and the last one. Limits bound what a longer thread reads. Citus shows `before` with the added
 * rows: hence `last_seq`.
 */
function threadTalk(
  db: Connection,
  { windowMessages, triggerMessages, everyMessages = 0 }: TalkWindow,
): Sql {
  const { schema } = db;
  const most = Math.max(windowMessages ?? 0, triggerMessages ?? 0, everyMessages) + 1;
  return sql`
    fresh_talk as (
      select seq, role, octet_length(content) as bytes from fresh where role <> 'system'
    ),
    recent as (
      select seq, role, bytes from (
        select seq, role, bytes from fresh_talk
        union all
        select m.seq, m.role, m.bytes from before b cross join lateral (
          select m.seq, m.role, octet_length(m.content) as bytes
          from ${schema}.message m where m.thread_ref = b.thread_ref and m.seq <= b.last_seq and m.role <> 'system'
          order by m.seq desc limit ${most}::bigint
        ) m
      ) t
      order by seq desc limit ${most}::bigint
    ),
    first as (
      select seq from fresh_talk
      union all
      select m.seq from before b cross join lateral (
        select m.seq
        from ${schema}.message m where m.thread_ref = b.thread_ref and m.seq <= b.last_seq and m.role <> 'system'
        order by m.seq limit ${triggerMessages ?? null}::bigint
      ) m
    ),
    summarised as (
      select s.end_seq as seq from owned cross join lateral (
        select s.end_seq from ${schema}.summary s
        where s.thread_ref = owned.id and s.status = 'completed'
        order by s.end_seq desc limit 1
      ) s
    ),
    starts as (
      select seq from recent where role = 'user'
      union all select seq from fresh where role = 'user'
      union all
      select m.seq from before b cross join lateral (
        select m.seq from ${schema}.message m
        where m.thread_ref = b.thread_ref and m.seq <= b.last_seq and m.role = 'user'
        order by m.seq desc limit 1
      ) m
    )`;
}

function talkObject({ windowMessages }: TalkWindow): Sql {
  return sql`json_build_object(
        'messages', (select count(*) from first),
        'unsummarised', (select count(*) from recent where seq > coalesce((select seq from summarised), -1)),
        'unsummarisedBytes', (
          select coalesce(sum(bytes), 0) from recent where seq > coalesce((select seq from summarised), -1)
        ),
        'lastSeq', (select coalesce(max(seq), -1) from recent),
        'earliestSeq', case when (select count(*) from recent) > ${windowMessages}::bigint then (
          select seq from recent order by seq desc offset greatest(0, ${windowMessages}::bigint - 1) limit 1
        ) else 0 end
      )`;
}

type RecordStatement = AppendedTurn & TalkWindow;

/** Id of LangChain's summary: marks a thread that LangChain summarises. */
export const othersSummaryId = "mnemograph.others_summary";

export interface RecordedThread {
  readonly threadRef: number;
  readonly recorded: number;
  /** −1 for an empty transcript. */
  readonly lastSeq: number;
  readonly talk: RecordedTalk;
  /** Ascending seqs of user messages in the last window, and of the last one. */
  readonly turnStarts: number[];
  readonly processing: boolean;
  readonly summarisedSeq: number | null;
  readonly turns: number;
  /** The last compressed turn; 0 for none. */
  readonly compressedTurns: number;
  /** Milliseconds until extraction is due; null if it is not. */
  readonly extractInMs: number | null;
  /** Whether these messages belong to the turn that ended the conversation. */
  readonly closed: boolean;
  /** Ids of given messages that were recorded with other words. */
  readonly edited: readonly string[];
  /** Since when LangChain's middleware summarises the thread; null if it does not. */
  readonly summarisedByOthers: "now" | "before" | null;
}

/** Waits grow to some 250 ms: enough for hundreds of concurrent writers. */
const collisions = {
  most: 50,
  stepMs: 10,
  busy: "Nothing was recorded: others wrote to the same thread each of the 50 times it was tried. Try again.",
};

/**
 * Appends the messages that the thread lacks, in one atomic statement; null for another scope's
 * thread. The thread's row is locked, but the snapshot may be older than the lock: then the insert
 * violates the key (thread, seq) or (thread, message id), and the next try has a new snapshot. So
 * seqs have no gaps and no message is stored twice.
 * @throws MemoryError `BUSY`
 */
export async function recordMessages(
  db: Connection,
  input: RecordStatement,
): Promise<RecordedThread | null> {
  // 23503: the owner was forgotten after the snapshot; the next try creates it again.
  return retryOn(["23505", "23503"], () => tryRecord(db, input), collisions);
}

interface Row extends Omit<RecordedThread, "threadRef"> {
  readonly [column: string]: unknown;
  /** Whether another transaction is creating the owner or thread. */
  readonly unsettled: boolean;
  readonly id: string | null;
}

async function tryRecord(
  db: Connection,
  input: RecordStatement,
): Promise<RecordedThread | null | typeof collided> {
  const { schema } = db;
  const [row] = await db.query<Row>(
    sql`
    with
    ${inputMessages(db, input)},
    ${lockedThread(db, input)},
    ${writtenMessages(db, input)},
    ${notedTurn(db, input)},
    ${threadTalk(db, input)}${rewrittenMessages(db, input)}
    select owned.id, not exists (select from owned) and not exists (select from known_thread where not owned) as unsettled,
      (select count(*) from fresh)::int as recorded,
      (select last_seq + (select count(*) from fresh) from before)::int as "lastSeq",
      ${talkObject(input)} as talk,
      array(select distinct seq::int from starts order by 1) as "turnStarts",
      exists (
        select from ${schema}.work k
        where k.thread_ref = owned.id and k.kind = 'summaries' and k.given_up_at is null and k.lease_until > ${db.now()}
      ) as processing,
      (select seq from summarised) as "summarisedSeq",
      owned.turns,
      coalesce((
        select k.done_until from ${schema}.work k
        where k.thread_ref = owned.id and k.kind = 'episodes' and k.given_up_at is null
      ), 0)::int as "compressedTurns",
      (
        select extract(epoch from due.retry_at - ${db.now()})::float8 * 1000 from due where due.kind = 'facts' limit 1
      ) as "extractInMs",
      coalesce(owned.ended, false) and exists (select from fresh) as closed,
      array(
        select i.message_id from before b cross join input i cross join lateral (
          select m.seq, m.words_check from ${schema}.message m
          where m.thread_ref = b.thread_ref and m.message_id = i.message_id and m.seq <= b.last_seq
            and m.role in ('user', 'assistant') offset 0
        ) m
        where m.words_check <> i.words_check
          and ${
            input.edited
              ? sql`i.message_id = any (${input.edited}::text[])`
              : sql`${schema}.is_edit(owned.id, m.seq, i.words_check, array(select message_id from input))`
          }
      ) as edited,
      (
        select 'now' from fresh where message_id = ${othersSummaryId}
        union all select 'before' from before b join ${schema}.message m on m.thread_ref = b.thread_ref
        where m.seq <= b.last_seq and m.message_id = ${othersSummaryId}
      ) as "summarisedByOthers"
    from (values (1)) one left join owned on true`,
    { prepare: true },
  );
  const { id, unsettled, ...thread } = row as Row;
  if (unsettled) return collided;
  return id === null
    ? null
    : { threadRef: Number(id), ...(thread as Omit<RecordedThread, "threadRef">) };
}
