import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";

/** What decides whether a summary is due, and of which messages. */
export interface RecordedTalk {
  /** Counts the first `triggerMessages` and those just recorded. */
  readonly messages: number;
  /** Latest messages without a summary, up to the limit, and their bytes. */
  readonly unsummarised: number;
  readonly unsummarisedBytes: number;
  readonly lastSeq: number;
  /** Seq of the first of the last `windowMessages`; 0 if there are no more. */
  readonly earliestSeq: number;
}

export interface TalkWindow {
  /** Messages in a summary's window, without system messages. Null: it begins with the thread. */
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
export function threadTalk(
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

export function talkObject({ windowMessages }: TalkWindow): Sql {
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
