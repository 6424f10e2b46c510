import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, hasScope } from "../scope/erasure-scope.js";
import { delegatedMark, parseScoped, type Scope, scopeField } from "../scope/scope.js";
import { isId, type ScopeRow, scopeColumns, scopeOf, withinScope } from "../scope/scope-predicates.js";
import { pageRows } from "../text/parse-input.js";

export interface Thread {
  readonly threadId: string;
  readonly scope: Scope;
  readonly messages: number;
  readonly createdAt: Date;
  readonly lastActivityAt: Date;
  /** Null while the conversation is open. A message reopens it. */
  readonly endedAt: Date | null;
  readonly endedReason: string | null;
  /** Pass the last thread's as `after` for the next page. */
  readonly cursor: string;
}

export interface ListThreads {
  readonly scope: Scope;
  /** Rows, 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** Only threads after this `cursor`. */
  readonly after?: string | undefined;
  /** Only threads with a summary. @default false */
  readonly summarized?: boolean | undefined;
}

type Row = Omit<Thread, "scope"> & ScopeRow;

/** Most recently active first, without agents' threads. @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT` */
export async function listThreads(db: Connection, input: ListThreads): Promise<Thread[]> {
  const { scope, limit, after, summarized } = parsePage(input);
  const rows = await db.query<Row>(sql`
    select t.thread_id as "threadId", t.tenant_id, t.user_id, t.app_id, t.created_at as "createdAt",
      t.last_activity_at as "lastActivityAt", t.ended_at as "endedAt",
      case when t.ended_at is not null then t.ended_reason end as "endedReason",
      (
        select coalesce(max(m.seq) + 1, 0) from ${db.schema}.message m where m.thread_ref = t.id
      ) as messages,
      to_char(t.last_activity_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '/' || t.id as cursor
    from ${db.schema}.thread t
    where ${withinScope(scopeColumns(scope), "t")} and strpos(t.thread_id, ${delegatedMark}) = 0
      and (${after === null} or (t.last_activity_at, t.id) < (${after?.activeAt}::timestamptz, ${after?.ref}::bigint))
      and (not ${summarized}::boolean or exists (
        select from ${db.schema}.summary s where s.thread_ref = t.id and s.status = 'completed'
      ))
    order by t.last_activity_at desc, t.id desc
    limit ${limit}`);
  return rows.map(({ tenant_id, user_id, app_id, ...thread }) => ({
    ...thread,
    scope: scopeOf({ tenant_id, user_id, app_id }),
  }));
}

// In microseconds: a Date would skip threads active within the same millisecond.
const cursorForm = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\/(\d{1,18})$/;

const pageSchema = z.strictObject({
  scope: scopeField,
  limit: pageRows,
  after: z.string().optional(),
  summarized: z.boolean().default(false),
});

function parsePage(input: ListThreads) {
  const { after, ...page } = parseScoped(pageSchema, input, "page of threads");
  if (after === undefined) return { ...page, after: null };
  const [, activeAt = "", ref] = cursorForm.exec(after) ?? [];
  if (!Number.isNaN(Date.parse(activeAt))) return { ...page, after: { activeAt, ref } };
  throw new MemoryError("INVALID_INPUT", "`after` must be the `cursor` of a thread that was listed.");
}

export interface ErasableThread {
  readonly ref: string;
  readonly threadId: string;
  /** Thread id in the checkpoint tables; null without `memory.checkpointer()`. */
  readonly checkpointThreadId: string | null;
}

const columns = sql`x.id::text as ref, x.thread_id as "threadId",
  x.checkpoint_name as "checkpointThreadId"`;

/** Locks threads against recording, not against memories that refer to them. */
export function lockErasableThreads(tx: Connection, scope: ErasureScope, limit: number): Promise<ErasableThread[]> {
  return tx.query<ErasableThread & Record<string, unknown>>(sql`
    select ${columns} from ${tx.schema}.thread x
    where ${hasScope(scope)} order by x.id limit ${limit} for no key update`);
}

/** In order of refs, after `after`. @default all */
export async function findErasableThreads(
  db: Connection,
  scope: ErasureScope,
  { after = "0", limit = null }: { after?: string; limit?: number | null } = {},
): Promise<ErasableThread[]> {
  return db.query<ErasableThread & Record<string, unknown>>(sql`
    select ${columns} from ${db.schema}.thread x
    where ${hasScope(scope)} and x.id > ${after}::bigint order by x.id limit ${limit}`);
}

export async function findThreadsOfId(db: Connection, threadId: string): Promise<ErasableThread[]> {
  return db.query<ErasableThread & Record<string, unknown>>(sql`
    select ${columns} from ${db.schema}.thread x
    where ${isId(sql`x.thread_id`, threadId)}`);
}

export async function eraseThreads(tx: Connection, threads: readonly ErasableThread[]): Promise<number> {
  const rows = await tx.query(sql`
    delete from ${tx.schema}.thread where id = any (${threads.map(({ ref }) => ref)}::bigint[]) returning id`);
  return rows.length;
}
