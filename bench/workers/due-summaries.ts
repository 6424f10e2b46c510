import type pg from "pg";

interface Place {
  readonly pool: pg.Pool;
  readonly schema: string;
}

/** Makes as many conversations of three rounds, each with a summary that failed once and is due again. @returns the summaries. */
export async function insertDueSummaries({ pool, schema }: Place, threads: number): Promise<number[]> {
  await pool.query(
    `insert into "${schema}".owner (tenant_id, user_id, app_id, turns)
     select 'tenant ' || n % 7, 'user ' || n, '', 3 from generate_series(1, $1::int) n`,
    [threads],
  );
  await pool.query(
    `insert into "${schema}".thread (tenant_id, thread_id, user_id, app_id, owner_ref, turns)
     select o.tenant_id, 'thread of ' || o.user_id, o.user_id, '', o.id, 3 from "${schema}".owner o`,
  );
  await pool.query(
    `insert into "${schema}".message (thread_ref, seq, message_id, role, content, serialised)
     select t.id, seq, seq || ' of ' || t.thread_id, role, content,
       json_build_object('role', role, 'content', content)
     from "${schema}".thread t cross join lateral (
       select seq, case when seq % 2 = 0 then 'user' else 'assistant' end as role,
         'Message ' || seq || ': the train to Porto leaves at nine, and the hotel is near the river.' as content
       from generate_series(0, 5) seq
     ) m`,
  );
  const { rows } = await pool.query<{ id: string }>(
    `insert into "${schema}".summary (thread_ref, start_seq, end_seq, status, attempts, retry_at)
     select id, 0, 5, 'failed', 1, now() - interval '1 second' from "${schema}".thread
     returning id`,
  );
  return rows.map(({ id }) => Number(id));
}

/** Threads whose summary was made more than once, or not at all. */
export async function readSummaries({ pool, schema }: Place): Promise<{ duplicates: number; lost: number }> {
  const { rows } = await pool.query<{ duplicates: number; lost: number }>(
    `with made as (
       select t.id,
         (select count(*) from "${schema}".event e
          where e.thread_id = t.thread_id and e.tenant_id = t.tenant_id and e.step = 'summarize' and e.status = 'ok') as times,
         (select count(*) from "${schema}".summary s where s.thread_ref = t.id and s.status = 'completed') as stored
       from "${schema}".thread t
     )
     select coalesce(sum(greatest(times, stored) - 1) filter (where greatest(times, stored) > 1), 0)::int as duplicates,
       count(*) filter (where stored = 0)::int as lost
     from made`,
  );
  return rows[0] ?? { duplicates: 0, lost: 0 };
}
