import type pg from "pg";

/** Rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

/**
 * Makes what the pages list beside conversations and memories: for each memory an entry of the audit
 * trail, a line of what changed and an event; for each turn what it was shown, a search and a call of
 * a model; for each owner and thread work that is done, and some that failed; requests for consent,
 * of which one in fifty waits; and erasures.
 *
 * @returns how many rows each table got.
 */
export async function deriveRows(pool: pg.Pool, schema: string): Promise<RowCounts> {
  const counts: Record<string, number> = {};
  for (const statement of statements.split(";\n")) {
    const { rowCount } = await pool.query(statement.replaceAll("mnemograph.", `"${schema}".`));
    const [, table = ""] = /insert into mnemograph\.(\w+)/.exec(statement) ?? [];
    counts[table] = (counts[table] ?? 0) + (rowCount ?? 0);
  }
  return counts;
}

const statements = `
insert into mnemograph.history (owner_ref, memory_id, event, new, actor, rev, memory_revision, created_at)
  select owner_ref, id, 'ADD', jsonb_build_object('state', 'active', 'content', content, 'category', category),
    'facts', row_number() over (partition by owner_ref order by ref), 1, created_at from mnemograph.memory;
insert into mnemograph.history (owner_ref, memory_id, event, old, new, actor, memory_revision, created_at)
  select owner_ref, id, 'DELETE', '{"state": "active"}', '{"state": "soft_deleted", "evidence": "Forget it."}',
    'user', 2, created_at from mnemograph.memory where state = 'soft_deleted';
insert into mnemograph.change_log (owner_ref, rev, memory_id, event, category, line, importance, created_at)
  select owner_ref, row_number() over (partition by owner_ref order by ref), id, 'created', category, content, 3,
    created_at from mnemograph.memory;
insert into mnemograph.event (tenant_id, user_id, app_id, node, op, status, memory_id, created_at)
  select '', user_id, '', 'facts', 'create', 'ok', id, created_at from mnemograph.memory;
insert into mnemograph.event (tenant_id, user_id, app_id, thread_id, node, op, status, step, created_at)
  select '', t.user_id, '', t.thread_id, 'context', 'search', 'ok', 'tool', m.created_at
  from mnemograph.message m join mnemograph.thread t on t.id = m.thread_ref where m.role = 'user';
insert into mnemograph.shown
  (thread_ref, seq, turn, revision, memory_ids, parts, omitted, recall_ms, first_seq, created_at)
  select m.thread_ref, m.seq, 1 + m.seq / 2, 1, array[k.id], '{relevant}', 0, 3 + m.seq,
    case when m.seq = 0 then 0 end, m.created_at
  from mnemograph.message m join mnemograph.memory k on k.ref = (select min(ref) from mnemograph.memory) + m.seq
  where m.role = 'user';
insert into mnemograph.usage
  (id, tenant_id, user_id, app_id, thread_id, kind, input_tokens, output_tokens, units, created_at)
  select gen_random_uuid(), '', t.user_id, '', t.thread_id,
    (array['summaries', 'facts', 'episodes', 'notes'])[1 + m.seq % 4], 900, 100, 10, m.created_at
  from mnemograph.message m join mnemograph.thread t on t.id = m.thread_ref where m.role = 'user';
insert into mnemograph.summary (thread_ref, start_seq, end_seq, status, content, created_at)
  select id, 0, 9, 'completed', 'They talked.', created_at from mnemograph.thread;
insert into mnemograph.work (kind, owner_ref, done_until) select 'insights', id, 1 from mnemograph.owner;
insert into mnemograph.work (kind, thread_ref, done_until, attempts, retry_at, error)
  select 'facts', id, 20, 1, case when n <= 5 then now() end, case when n <= 5 then '503: overloaded' end
  from (select id, row_number() over (order by id) as n from mnemograph.thread) t;
insert into mnemograph.consent_request
  (id, owner_ref, tenant_id, user_id, app_id, rule, category, key, slot, normal_value, content_hash, draft,
   proposed_by, status, decided_at, expires_at, created_at)
  select gen_random_uuid(), id, '', user_id, '', 'consent', 'profile', 'name', 'name', user_id, user_id,
    jsonb_build_object('text', 'Is called ' || user_id || '.', 'category', 'profile', 'key', 'name', 'value', user_id),
    'facts', case when n % 50 = 1 then 'pending' else 'approved' end, case when n % 50 <> 1 then now() end,
    now() + interval '1 day', now() - n * interval '1 hour'
  from (select *, row_number() over (order by id) as n from mnemograph.owner) o;
insert into mnemograph.erasure (id, tenant_id, kind, actor, rows_before, rows_after, began_at, ended_at)
  select gen_random_uuid(), '', 'user', 'joe', '{"memory": 3}', '{}', at, at
  from (select now() - n * interval '1 hour' as at from generate_series(1, 2000) n) e`;
