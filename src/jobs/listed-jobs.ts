import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { ofTenant, type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import { type JobKind, kindOfWork, type WorkName } from "./job-kinds.rule.js";

/** How a job stands, by the tables. */
export const jobStates = ["waiting", "running", "failed"] as const;

/** "waiting": due, now or at `dueAt`; "running": a worker has it; "failed": its last try failed, or it was given up. */
export type JobState = (typeof jobStates)[number];

/** A piece of background work, whoever does it. It tells nothing of what was said but the error. */
export interface ListedJob {
  readonly id: string;
  readonly kind: JobKind;
  readonly state: JobState;
  /** Whose it is. */
  readonly scope: Scope;
  /** The thread that it is about; null where it is about a user or an app. */
  readonly threadId: string | null;
  /** Tries so far; null of what was given up. */
  readonly attempts: number | null;
  /** Why its last try failed. */
  readonly error: string | null;
  /** When it came about, where that is kept: of summaries, and of what was given up. */
  readonly createdAt: Date | null;
  /** When it is tried next; null while it runs, and when it was given up. */
  readonly dueAt: Date | null;
}

/** Which jobs are meant. */
export interface WhichJobs {
  readonly tenantId?: string | undefined;
  readonly state?: JobState | undefined;
  readonly kind?: JobKind | undefined;
  readonly id?: string | undefined;
}

interface Row extends ScopeRow {
  readonly id: string;
  readonly task: WorkName;
  readonly state: JobState;
  readonly thread_id: string | null;
  readonly attempts: number | null;
  readonly error: string | null;
  readonly created_at: Date | null;
  readonly due_at: Date | null;
}

/** Jobs by their ids, those after `after`. */
export async function findJobs(
  db: Connection,
  { after, limit, ...which }: WhichJobs & { readonly after?: string | undefined; readonly limit: number },
): Promise<ListedJob[]> {
  const rows = await db.query<Row>(sql`
    select j.* from (${allJobs(db)}) j
    where ${isOf(which)} ${after === undefined ? empty : sql`and j.id collate "C" > ${after}`}
    order by j.id collate "C" limit ${limit}`);
  return rows.map((row) => ({
    ...{ id: row.id, kind: kindOfWork[row.task], state: row.state, scope: scopeOf(row) },
    ...{ threadId: row.thread_id, attempts: row.attempts, error: row.error },
    ...{ createdAt: row.created_at, dueAt: row.due_at },
  }));
}

function isOf({ tenantId, state, kind, id }: Omit<WhichJobs, "after">): Sql {
  const tasks = Object.keys(kindOfWork).filter((work) => kindOfWork[work as WorkName] === kind);
  return join(
    [
      ofTenant(sql`j.tenant_id`, tenantId),
      ...(state === undefined ? [] : [sql`j.state = ${state}`]),
      ...(kind === undefined ? [] : [sql`j.task = any(${tasks})`]),
      ...(id === undefined ? [] : [sql`j.id = ${id}`]),
    ],
    " and ",
  );
}

/** What the tables hold of work that is not done: tasks, summaries in the making, and what was given up. */
function allJobs(db: Connection): Sql {
  const { schema } = db;
  const state = (row: string) => sql`case
    when ${raw(row)}.lease_until > ${db.now()} then 'running'
    when ${raw(row)}.error is not null then 'failed' else 'waiting' end`;
  const dueAt = (row: string) =>
    sql`case when ${raw(row)}.lease_until > ${db.now()} then null else coalesce(${raw(row)}.lease_until, ${raw(row)}.retry_at) end`;
  const open = (row: string) =>
    sql`(${raw(row)}.retry_at is not null or ${raw(row)}.lease_until is not null)`;
  return sql`
    select k.task || '-' || k.thread_ref as id, k.task, ${state("k")} as state,
      t.tenant_id, t.user_id, t.app_id, t.thread_id, k.attempts, k.error,
      null::timestamptz as created_at, ${dueAt("k")} as due_at
    from ${schema}.thread_task k join ${schema}.thread t on t.id = k.thread_ref where ${open("k")}
    union all
    select k.task || '-' || k.owner_ref, k.task, ${state("k")},
      o.tenant_id, o.user_id, o.app_id, null, k.attempts, k.error, null, ${dueAt("k")}
    from ${schema}.owner_task k join ${schema}.owner o on o.id = k.owner_ref where ${open("k")}
    union all
    select 'summarize-' || s.id, 'summarize', ${state("s")},
      t.tenant_id, t.user_id, t.app_id, t.thread_id, s.attempts, s.error, s.created_at, ${dueAt("s")}
    from ${schema}.summary s join ${schema}.thread t on t.id = s.thread_ref
    where s.status in ('processing', 'failed')
      and not exists (select from ${schema}.summary n where n.thread_ref = s.thread_ref and n.id > s.id)
    union all
    select 'given-up-' || d.id, d.task, 'failed', coalesce(t.tenant_id, o.tenant_id), coalesce(t.user_id, o.user_id),
      coalesce(t.app_id, o.app_id), t.thread_id, null, d.error, d.created_at, null
    from ${schema}.dead_letter d
    left join ${schema}.thread t on t.id = d.thread_ref
    left join ${schema}.owner o on o.id = d.owner_ref`;
}
