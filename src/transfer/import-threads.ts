import sql from "sql-template-tag";
import type { NewMessage } from "../conversation/append-messages.js";
import { column, fields, names, recordset } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef, Scope, ThreadRef } from "../scope/scope.js";
import { scopeColumns, threadIs } from "../scope/scope-predicates.js";
import type { ExportLineOf } from "./export-line.js";
import type { NumberedLine } from "./read-export.js";
import { appColumn, type ImportTarget, inApp, recordTypes } from "./record-types.js";

/** A summary to import. */
export type ImportedSummary = Omit<ExportLineOf<"summary">, "type"> & { readonly threadRef: ThreadRef };

/**
 * Adds the summaries that are not there yet, in their order, which their ids keep. Returns how many.
 *
 * A summary is told by its thread, window and time: its id is only this database's.
 */
export async function importSummaries(
  tx: Connection,
  summaries: readonly ImportedSummary[],
): Promise<number> {
  const { schema } = tx;
  const columns = { threadRef: column.bigint("thread_ref"), ...recordTypes.summary.columns };
  const input = sql`(
    select row_number() over () as position, i.*, (i.base ->> 'startSeq')::int as base_start,
      (i.base ->> 'endSeq')::int as base_end, (i.base ->> 'createdAt')::timestamptz as base_at
    from json_to_recordset(${JSON.stringify(summaries)}::json) as i (${recordset(columns)}, base json)
  )`;
  const added = await tx.query<{ id: string }>(sql`
    insert into ${schema}.summary (${names(columns)})
    select ${fields(columns)}
    from ${input} i
    where not exists (
      select from ${schema}.summary s
      where s.thread_ref = i."threadRef" and s.start_seq = i."startSeq" and s.end_seq = i."endSeq"
        and s.created_at = i."createdAt"
    )
    order by i.position
    returning id`);
  if (added.length === 0) return 0;
  // Those they were made from are there by now, in this batch or an earlier one.
  await tx.query(sql`
    update ${schema}.summary s set base_id = b.id
    from ${input} i
    join ${schema}.summary b
      on b.thread_ref = i."threadRef" and b.start_seq = i.base_start and b.end_seq = i.base_end
      and b.created_at = i.base_at
    where s.id = any (${added.map(({ id }) => id)}::bigint[]) and b.id < s.id and s.thread_ref = i."threadRef"
      and s.start_seq = i."startSeq" and s.end_seq = i."endSeq" and s.created_at = i."createdAt"`);
  return added.length;
}

/** Makes the threads that are not there yet, and how far background work on them has come. Returns how many. */
export async function importThreads(
  tx: Connection,
  target: ImportTarget,
  lines: readonly NumberedLine<ExportLineOf<"thread">>[],
): Promise<number> {
  if (lines.length === 0) return 0;
  const { tenantId, userId } = scopeColumns(target.scope);
  const threads = JSON.stringify(lines.map(({ line }) => inApp(target, line)));
  const columns = { ...appColumn, ...recordTypes.thread.columns };
  const [row] = await tx.query<{ made: number }>(sql`
    with input as (
      select row_number() over () as position, i.* from json_to_recordset(${threads}::json) as i (
        ${recordset(columns)}, tasks json
      )
    ),
    made as (
      insert into ${tx.schema}.thread (tenant_id, user_id, owner_ref, ${names(columns)})
      select ${tenantId}, ${userId}, ${target.ownerRef}::bigint, ${fields(columns)} from input i order by i.position
      on conflict do nothing
      returning id, thread_id
    ),
    task as (
      insert into ${tx.schema}.thread_task (thread_ref, task, done_until, retry_at)
      select m.id, k.task, k."doneUntil", case when k.due then ${tx.now()} end
      from made m join input i on i."threadId" = m.thread_id
      cross join lateral json_to_recordset(i.tasks) as k (task text, "doneUntil" integer, due boolean)
    )
    select count(*)::int as made from made`);
  return row?.made ?? 0;
}

/** The refs of threads by their ids; null for one that belongs to another scope. */
export async function findThreadRefs(
  tx: Connection,
  { scope, threadIds }: { scope: Scope; threadIds: readonly string[] },
): Promise<Map<string, { readonly ref: ThreadRef; readonly appId: string } | null>> {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const rows = await tx.query<{ id: string; ref: ThreadRef; app: string; own: boolean }>(sql`
    select t.thread_id as id, t.id::float8 as ref, t.app_id as app,
      t.user_id = ${userId} and ${appId} in ('', t.app_id) as own
    from unnest(${threadIds}::text[]) i (id)
    join ${tx.schema}.thread t
      on ${threadIs(tenantId, sql`i.id`)}`);
  return new Map(rows.map(({ id, ref, app, own }) => [id, own ? { ref, appId: app } : null]));
}

/** A message to import. */
export interface ImportedMessage extends NewMessage {
  readonly threadRef: ThreadRef;
  readonly seq: number;
  readonly saidAt: string;
  readonly createdAt: string;
  readonly agentId?: string | null | undefined;
  readonly runId?: string | null | undefined;
}

/** The positions, from 0, of messages whose place in their thread is taken by another, or that stand elsewhere in it. */
export async function findMisplacedMessages(
  tx: Connection,
  messages: readonly ImportedMessage[],
): Promise<number[]> {
  const rows = await tx.query<{ position: number }>(sql`
    select i.position::int - 1 as position
    from unnest(
      ${messages.map(({ threadRef }) => threadRef)}::bigint[], ${messages.map(({ seq }) => seq)}::int[],
      ${messages.map(({ messageId }) => messageId)}::text[]
    ) with ordinality as i (thread_ref, seq, message_id, position)
    where exists (
      select from ${tx.schema}.message m
      where m.thread_ref = i.thread_ref and m.seq = i.seq and m.message_id <> i.message_id
    ) or exists (
      select from ${tx.schema}.message m
      where m.thread_ref = i.thread_ref and m.message_id = i.message_id and m.seq <> i.seq
    )
    order by 1`);
  return rows.map(({ position }) => position);
}

/** What was added to a thread. */
export interface AddedMessages {
  readonly threadRef: ThreadRef;
  readonly messages: number;
  readonly lastSeq: number;
}

/** What is stored of a message. */
const importedColumns = {
  threadRef: column.bigint("thread_ref"),
  ...recordTypes.message.columns,
  ...{ role: column.text("role"), actor: column.text("actor"), text: column.text("content") },
};

/** Adds the messages that are not there yet, indexes and counts them. Returns how many, by thread. One statement. */
export async function importMessages(
  tx: Connection,
  input: { ownerRef: OwnerRef; messages: readonly ImportedMessage[] },
): Promise<AddedMessages[]> {
  const { schema } = tx;
  return tx.query<AddedMessages & Record<string, unknown>>(sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input.messages)}::json) as i (
        ${recordset(importedColumns)}, terms text, "actorTerms" text
      )
    ),
    added as (
      insert into ${schema}.message (${names(importedColumns)})
      select ${fields(importedColumns)}
      from input i
      on conflict do nothing
      returning thread_ref, seq
    ),
    fresh as (
      select i.* from input i join added a on a.thread_ref = i."threadRef" and a.seq = i.seq
    ),
    term as (
      select f."threadRef" as thread_ref, f.seq, v.lexeme,
        least(coalesce(cardinality(v.positions), 1), 32767) as frequency,
        sum(coalesce(cardinality(v.positions), 1)) over (partition by f."threadRef", f.seq) as length
      from fresh f cross join lateral unnest(to_tsvector(${tx.language}::regconfig, f.terms)) v
    ),
    indexed as (
      insert into ${schema}.message_term (owner_ref, lexeme, thread_ref, seq, frequency, length)
      select ${input.ownerRef}::bigint, lexeme, thread_ref, seq, frequency, length from term
      union
      select ${input.ownerRef}::bigint, '@' || word, f."threadRef", f.seq, 1, 1
      from fresh f cross join lateral regexp_split_to_table(f."actorTerms", '\\s+') word
      where f.role in ('user', 'assistant') and word <> ''
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count + (select count(distinct (thread_ref, seq)) from term),
        message_length = o.message_length + (select coalesce(sum(frequency), 0) from term)
      where o.id = ${input.ownerRef}
    ),
    rounds as (
      update ${schema}.thread t set turns = t.turns + f.rounds
      from (select "threadRef" as ref, count(*) as rounds from fresh where role = 'user' group by 1) f
      where t.id = f.ref
    )
    select thread_ref::float8 as "threadRef", count(*)::int as messages, max(seq) as "lastSeq"
    from added group by thread_ref`);
}

/** Counts background work on what was added as done: no facts are learned from it, no episodes are made of it, and it leaves no note. */
export async function skipThreadWork(tx: Connection, added: readonly AddedMessages[]): Promise<void> {
  await tx.query(sql`
    insert into ${tx.schema}.thread_task as k (thread_ref, task, done_until)
    select a.ref, t.task, case when t.task <> 'compress' then a.last_seq else (
      select count(*)::int from ${tx.schema}.message m
      where m.thread_ref = a.ref and m.role = 'user' and m.seq <= a.last_seq
    ) end
    from unnest(
      ${added.map(({ threadRef }) => threadRef)}::bigint[], ${added.map(({ lastSeq }) => lastSeq)}::int[]
    ) as a (ref, last_seq)
    cross join (values ('extract'), ('compress'), ('note')) as t (task)
    where t.task <> 'note' or exists (select from ${tx.schema}.thread h where h.id = a.ref and h.app_id <> '')
    on conflict (thread_ref, task) do update set done_until = greatest(k.done_until, excluded.done_until)`);
}
