import sql, { join, raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { dateOrMoment, pageRowsField, storableDate } from "../input/parse-input.js";
import type { Connection } from "../postgres/connection.js";
import { type ErasureScope, hasScope } from "../scope/erasure-scope.js";
import { delegatedMark, listed, type Scope, scopeField, tenantField } from "../scope/scope.js";
import { isId, isListed, isSomebody, type ScopeRow, withScope } from "../scope/scope-predicates.js";

export const threadStates = ["open", "ended", "failed"] as const;

export interface Thread {
  readonly threadId: string;
  readonly scope: Scope;
  /** The first words of the user, at most 120 characters; null without any. */
  readonly title: string | null;
  /** The last words of the user or the assistant, at most 160 characters; null without any. */
  readonly last: { readonly role: "user" | "assistant"; readonly text: string } | null;
  /** Whether background work of it failed, or was given up, and was not done since. */
  readonly failed: boolean;
  readonly messages: number;
  readonly createdAt: Date;
  readonly lastActivityAt: Date;
  /** Null while the conversation is open. A message reopens it. */
  readonly endedAt: Date | null;
  readonly endedReason: string | null;
  /** Pass the last thread's as `after` for the next page. */
  readonly cursor: string;
}

const pageSchema = z.strictObject({
  scope: scopeField,
  /** Without a scope: only this tenant. @default all tenants */
  tenantId: tenantField,
  /** Only threads last active at this time or later. */
  since: storableDate.optional(),
  /** Only threads last active before this time. */
  until: storableDate.optional(),
  /** @default any */
  state: z.enum(threadStates).optional(),
  /** Rows, 1 to 1000. @default 100 */
  limit: pageRowsField,
  /** Only threads after this `cursor`. */
  after: z.string().optional(),
  /** Only threads with a summary. @default false */
  summarized: z.boolean().default(false),
});

export interface ListThreads extends Omit<z.input<typeof pageSchema>, "scope"> {
  /** @default everybody's, for operators */
  readonly scope?: Scope | undefined;
}

type ThreadRow = Omit<Thread, "scope"> & ScopeRow;

/**
 * Most recently active first, without agents' threads.
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`
 */
export function listThreads(db: Connection, input?: ListThreads): Promise<Thread[]> {
  return listed(pageSchema, input, "page of threads", async (page) =>
    (await findThreads(db, page)).map(withScope),
  );
}

function findThreads(
  db: Connection,
  page: z.output<typeof pageSchema> & { readonly scope: Scope | undefined },
): Promise<ThreadRow[]> {
  const { scope, tenantId, since, until, state, limit, summarized } = page;
  const after = page.after === undefined ? undefined : parseCursor(page.after);
  const { schema } = db;
  const failed = hasFailed(db);
  const states = { open: sql`t.ended_at is null`, ended: sql`t.ended_at is not null`, failed };
  // What is not asked for is no condition, and what always is asked for is literal: else a plan for
  // any parameters expects few threads, and reads and sorts all instead of walking an index.
  const conditions = [isListed({ scope, tenantId }, "t"), isSomebody("t"), isNotDelegated];
  if (state !== undefined) conditions.push(states[state]);
  if (since !== undefined) conditions.push(sql`t.last_activity_at >= ${since}`);
  if (until !== undefined) conditions.push(sql`t.last_activity_at < ${until}`);
  if (after !== undefined)
    conditions.push(
      sql`(t.last_activity_at, t.id) < (${after.activeAt}::timestamptz, ${after.ref}::bigint)`,
    );
  if (summarized)
    conditions.push(sql`exists (
        select from ${schema}.summary s where s.thread_ref = t.id and s.status = 'completed'
      )`);
  return db.query<ThreadRow>(sql`
    select t.thread_id as "threadId", t.tenant_id, t.user_id, t.app_id, t.created_at as "createdAt",
      (${said(db, sql`= 'user'`, sql`asc`, 120)}) ->> 'text' as title, ${failed} as failed,
      (${said(db, sql`in ('user', 'assistant')`, sql`desc`, 160)}) as last,
      t.last_activity_at as "lastActivityAt", t.ended_at as "endedAt",
      case when t.ended_at is not null then t.ended_reason end as "endedReason",
      (
        select coalesce(max(m.seq) + 1, 0) from ${schema}.message m where m.thread_ref = t.id
      ) as messages,
      to_char(t.last_activity_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '/' || t.id as cursor
    from ${schema}.thread t
    where ${join(conditions, " and ")}
    order by t.last_activity_at desc, t.id desc
    limit ${limit}`);
}

export const isNotDelegated = raw(`t.thread_id not like '%${delegatedMark}%'`);

/** The first message in `order` with words, as JSON. */
const said = (db: Connection, role: Sql, order: Sql, characters: number): Sql => sql`
        select json_build_object('role', w.role, 'text', w.text)
        from (
          -- Of a long message its start is read only.
          select m.role, m.seq, substring(left(m.content, 2000) from ${`\\S.{0,${characters - 1}}`}::text) as text
          from ${db.schema}.message m where m.thread_ref = t.id and m.role ${role}
        ) w
        where w.text is not null order by w.seq ${order} limit 1`;

/** Two lookups, since each state of work has its index. */
const hasFailed = ({ schema }: Connection): Sql => sql`(
        exists (select from ${schema}.work k where k.thread_ref = t.id and k.given_up_at is not null)
        or exists (select from ${schema}.work k where k.thread_ref = t.id and k.given_up_at is null and k.error is not null)
      )`;

// In microseconds: a Date would skip threads active within the same millisecond.
const cursorForm = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\/(\d{1,18})$/;

function parseCursor(after: string) {
  const [, activeAt = "", ref] = cursorForm.exec(after) ?? [];
  if (dateOrMoment.safeParse(activeAt).success) return { activeAt, ref };
  throw new MemoryError(
    "INVALID_INPUT",
    "`after` must be the `cursor` of a thread that was listed.",
  );
}

export type ErasableThread = {
  readonly ref: string;
  readonly threadId: string;
  /** Thread id in the checkpoint tables; null without `memory.checkpointer()`. */
  readonly checkpointThreadId: string | null;
};

/** @param which the end of a query of threads `x` */
const erasable = (db: Connection, which: Sql): Promise<ErasableThread[]> =>
  db.query<ErasableThread>(sql`
    select x.id::text as ref, x.thread_id as "threadId", x.checkpoint_name as "checkpointThreadId"
    from ${db.schema}.thread x where ${which}`);

/** Locks threads against recording, not against memories that refer to them. */
export const lockErasableThreads = (tx: Connection, scope: ErasureScope, limit: number) =>
  erasable(tx, sql`${hasScope(scope)} order by x.id limit ${limit} for no key update`);

export const findErasableThreads = (db: Connection, scope: ErasureScope) =>
  erasable(db, sql`${hasScope(scope)} order by x.id`);

export const findThreadsOfId = (db: Connection, threadId: string) =>
  erasable(db, isId(sql`x.thread_id`, threadId));

export async function eraseThreads(
  tx: Connection,
  threads: readonly ErasableThread[],
): Promise<number> {
  const rows = await tx.query(sql`
    delete from ${tx.schema}.thread where id = any (${threads.map(({ ref }) => ref)}::bigint[]) returning id`);
  return rows.length;
}
