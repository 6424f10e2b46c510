import sql from "sql-template-tag";
import { column, fields, names, recordset } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope, ThreadRef } from "../scope/scope.js";
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
