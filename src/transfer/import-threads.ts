import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { type ScopeColumns, threadIs } from "../scope/scope-predicates.js";
import type { ExportLineOf } from "./export-line.js";

/** A summary to import. */
export type ImportedSummary = Omit<ExportLineOf<"summary">, "type"> & { readonly threadRef: string };

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
  const input = sql`(
    select row_number() over () as position, i.*, (i.base ->> 'startSeq')::int as base_start,
      (i.base ->> 'endSeq')::int as base_end, (i.base ->> 'createdAt')::timestamptz as base_at
    from json_to_recordset(${JSON.stringify(summaries)}::json) as i (
      "threadRef" bigint, "startSeq" integer, "endSeq" integer, "createdAt" timestamptz, base json, status text,
      text text, "generationTimeMs" integer, attempts integer, error text, "rolledBackAt" timestamptz,
      "startRound" integer, "endRound" integer
    )
  )`;
  const added = await tx.query<{ id: string }>(sql`
    insert into ${schema}.summary (thread_ref, start_seq, end_seq, status, content, generation_time_ms, attempts, error,
      rolled_back_at, created_at, start_round, end_round)
    select i."threadRef", i."startSeq", i."endSeq", i.status, i.text, i."generationTimeMs", i.attempts, i.error,
      i."rolledBackAt", i."createdAt", i."startRound", i."endRound"
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

/** A thread to import. */
export interface ImportedThread {
  readonly threadId: string;
  readonly appId: string;
  readonly revSeen: number;
  readonly createdAt: string;
  readonly lastActivityAt: string;
  readonly tasks: readonly { readonly task: string; readonly doneUntil: number; readonly due: boolean }[];
}

/** Makes the threads that are not there yet, and how far background work on them has come. Returns how many. */
export async function importThreads(
  tx: Connection,
  input: { scope: ScopeColumns; ownerRef: number; threads: readonly ImportedThread[] },
): Promise<number> {
  const { tenantId, userId } = input.scope;
  const [row] = await tx.query<{ made: number }>(sql`
    with input as (
      select row_number() over () as position, i.* from json_to_recordset(${JSON.stringify(input.threads)}::json) as i (
        "threadId" text, "appId" text, "revSeen" bigint, "createdAt" timestamptz, "lastActivityAt" timestamptz,
        tasks json
      )
    ),
    made as (
      insert into ${tx.schema}.thread
        (tenant_id, thread_id, user_id, app_id, owner_ref, rev_seen, created_at, last_activity_at)
      select ${tenantId}, "threadId", ${userId}, "appId", ${input.ownerRef}::bigint, "revSeen", "createdAt",
        "lastActivityAt"
      from input order by position
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
  input: { scope: ScopeColumns; threadIds: readonly string[] },
): Promise<Map<string, { readonly ref: string; readonly appId: string } | null>> {
  const { tenantId, userId, appId } = input.scope;
  const rows = await tx.query<{ id: string; ref: string; app: string; own: boolean }>(sql`
    select t.thread_id as id, t.id::text as ref, t.app_id as app,
      t.user_id = ${userId} and ${appId} in ('', t.app_id) as own
    from unnest(${input.threadIds}::text[]) i (id)
    join ${tx.schema}.thread t
      on ${threadIs(tenantId, sql`i.id`)}`);
  return new Map(rows.map(({ id, ref, app, own }) => [id, own ? { ref, appId: app } : null]));
}
