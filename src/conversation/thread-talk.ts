import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";

/** A thread's messages without its system messages. */
export interface RecordedTalk {
  /** How many there are, of the first `triggerMessages` and those just recorded. */
  readonly messages: number;
  /** Bytes of those of them that no summary covers. */
  readonly unsummarisedBytes: number;
  /** Seq of the last one; −1 when there is none. */
  readonly lastSeq: number;
  /** Seq of the first of the last `windowMessages`; 0 when there are no more than that. */
  readonly earliestSeq: number;
}

/** How much of a thread is looked at. */
export interface TalkWindow {
  /** How many of the last messages fill a window; system messages fill none. */
  readonly windowMessages: number;
  /** How many of the first messages `talk` counts. @default all */
  readonly triggerMessages?: number | undefined;
}

/**
 * CTEs about the talk of the thread `owned` with its `fresh` messages, which this statement's snapshot does not have:
 * `recent (seq, role)`, the last window and one more; `first (seq, bytes)`, the beginning and what is fresh;
 * `summarised (seq)`, where the latest summary ends; and `starts (seq)`, of the window's rounds and the last one of all.
 * None reads more of a longer thread.
 */
export function threadTalk(db: Connection, { windowMessages, triggerMessages }: TalkWindow): Sql {
  const { schema } = db;
  return sql`
    fresh_talk as (
      select seq, role, octet_length(content) as bytes from fresh where role <> 'system'
    ),
    recent as (
      select seq, role from (
        select seq, role from fresh_talk
        union all
        select m.seq, m.role from owned cross join lateral (
          select m.seq, m.role from ${schema}.message m where m.thread_ref = owned.id and m.role <> 'system'
          order by m.seq desc limit ${windowMessages}::bigint + 1
        ) m
      ) t
      order by seq desc limit ${windowMessages}::bigint + 1
    ),
    first as (
      select seq, bytes from fresh_talk
      union all
      select m.seq, m.bytes from owned cross join lateral (
        select m.seq, octet_length(m.content) as bytes
        from ${schema}.message m where m.thread_ref = owned.id and m.role <> 'system'
        order by m.seq limit ${triggerMessages ?? null}::bigint
      ) m
    ),
    summarised as (
      select s.end_seq as seq from owned cross join lateral (
        select s.end_seq from ${schema}.summary s
        where s.thread_ref = owned.id and s.status = 'completed' and s.rolled_back_at is null
        order by s.end_seq desc limit 1
      ) s
    ),
    starts as (
      select seq from recent where role = 'user'
      union all select seq from fresh where role = 'user'
      union all
      select m.seq from owned cross join lateral (
        select m.seq from ${schema}.message m
        where m.thread_ref = owned.id and m.role = 'user'
        order by m.seq desc limit 1
      ) m
    )`;
}

/** A `RecordedTalk` as JSON, from the CTEs of `threadTalk`. */
export function talkObject({ windowMessages }: TalkWindow): Sql {
  return sql`json_build_object(
        'messages', (select count(*) from first),
        'unsummarisedBytes', (
          select coalesce(sum(bytes), 0) from first where seq > coalesce((select seq from summarised), -1)
        ),
        'lastSeq', (select coalesce(max(seq), -1) from recent),
        'earliestSeq', case when (select count(*) from recent) > ${windowMessages}::bigint then (
          select seq from recent order by seq desc offset ${windowMessages}::bigint - 1 limit 1
        ) else 0 end
      )`;
}
