import sql, { empty, type Sql } from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { pageRowsField, parseInput, storableText } from "../input/parse-input.js";
import { insertEvent } from "../observability/events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import { asListed } from "../postgres/isolation.js";
import { listed, type Scope, scopeField, tenantField } from "../scope/scope.js";
import { ofTenant, type ScopeRow, scopeColumns, withScope } from "../scope/scope-predicates.js";
import type { JobRuntime } from "./jobs-options.js";
import { type Job, type ModelWorkKind, type WorkKind, workKinds } from "./work-kinds.rule.js";

export const jobStates = ["waiting", "running", "failed"] as const;

/**
 * "waiting": due, now or at `dueAt`; "running": a worker has it; "failed": its last try failed, or
 * it was given up.
 */
type JobState = (typeof jobStates)[number];

/** A piece of background work. It holds no words of a conversation but the error and its detail. */
export interface ListedJob {
  readonly id: string;
  readonly kind: WorkKind;
  readonly state: JobState;
  readonly scope: Scope;
  /** Null for work of a user or an app. */
  readonly threadId: string | null;
  /** Null after it was given up. */
  readonly attempts: number | null;
  readonly error: string | null;
  /** What the model answered or its provider said at the last try, redacted; it may quote a prompt. */
  readonly detail: string | null;
  readonly givenUpAt: Date | null;
  /** Null while it runs, and when it is not tried again. */
  readonly dueAt: Date | null;
  /** When the last try began; null while it runs, before the first, and after it was given up. */
  readonly triedAt: Date | null;
  /**
   * The process that took it, "host:pid". A worker that is alive extends `leaseUntil`; after it
   * another takes over.
   */
  readonly worker: string | null;
  readonly since: Date | null;
  readonly leaseUntil: Date | null;
}

interface ListJobs extends z.input<typeof listSchema> {}
interface DismissJob extends z.input<typeof dismissSchema> {}

export interface JobsApi {
  /**
   * Jobs of a scope or of everybody that wait, run or failed, by id; not ageing, expiry and purging.
   * @example
   * ```ts
   * for (const { id, kind, state } of await memory.jobs.list()) console.log(id, kind, state);
   * ```
   * @throws MemoryError `INVALID_INPUT`
   */
  list(listing?: ListJobs): Promise<ListedJob[]>;
  /**
   * Makes failed and given-up jobs due now: one by its id, or all of a kind, at most 1,000 at a
   * time.
   * @example
   * ```ts
   * const [failed] = await memory.jobs.list({ state: "failed" });
   * if (failed) await memory.jobs.retry({ id: failed.id });
   * ```
   * @returns how many are due now. While this process calls no model, since its provider failed or
   * limits calls, they wait until `pausedUntil`, and each is listed with it as its `dueAt`.
   * @throws MemoryError `NOT_FOUND`, `INVALID_INPUT`; `WRONG_STATE` while a worker has it, and for
   * an episode or a note that was given up when later work on its thread is done.
   */
  retry(
    which: ({ readonly id: string } | { readonly kind: WorkKind }) & {
      readonly tenantId?: string | undefined;
    },
  ): Promise<{ readonly retried: number; readonly pausedUntil: Date | null }>;
  /**
   * Takes a job that was given up off the list for good: nothing of it is done. An event, `dismiss`,
   * keeps who did it and why.
   * @example
   * ```ts
   * const [failed] = await memory.jobs.list({ state: "failed" });
   * if (failed?.givenUpAt)
   *   await memory.jobs.dismiss({ id: failed.id, actor: "admin", reason: "Only a test." });
   * ```
   * @returns the job as it was.
   * @throws MemoryError `NOT_FOUND`, `INVALID_INPUT`; `WRONG_STATE` for one that was not given up
   */
  dismiss(which: DismissJob): Promise<ListedJob>;
}

const kindField = z.enum(workKinds);
const listSchema = z.strictObject({
  /** Only work of this user or app and their threads. @default everybody's */
  scope: scopeField,
  /** Without a scope: only this tenant. @default all tenants */
  tenantId: tenantField,
  state: z.enum(jobStates).optional(),
  kind: kindField.optional(),
  /** Rows, 1 to 1,000. @default 100 */
  limit: pageRowsField,
  /** The id of the last job of the page before. */
  after: storableText.optional(),
});
const retrySchema = z
  .strictObject({
    id: storableText.min(1).optional(),
    kind: kindField.optional(),
    tenantId: tenantField,
  })
  .refine(({ id, kind }) => (id === undefined) !== (kind === undefined), {
    error: "names jobs by an `id` or by a `kind`",
  });

const dismissSchema = z.strictObject({
  id: storableText.min(1),
  tenantId: tenantField,
  /** @default "api" */
  actor: storableText.default("api"),
  /** Why, in at most 2,000 characters, for the event. @default none */
  reason: storableText.max(2_000).optional(),
});

const maxRetried = 1_000;

export function createJobsApi(
  { db, pause, redactor }: Pick<JobRuntime, "db" | "pause" | "redactor">,
  start: (job: Job) => Promise<void>,
): JobsApi {
  return {
    list: (listing) => listed(listSchema, listing, "list of jobs", (which) => findJobs(db, which)),
    async retry(requested) {
      const which = parseInput(retrySchema, requested, "jobs to retry");
      const { id } = which;
      const state = id === undefined ? "failed" : undefined;
      return asListed(which, async () => {
        const found = await findJobs(db, { ...which, state, limit: maxRetried });
        if (id !== undefined && found.length === 0)
          throw new MemoryError("NOT_FOUND", `There is no job "${id}" that could be tried again.`);
        let retried = 0;
        for (const each of found) {
          const job = await db.transaction((tx) => makeDue(tx, Number(each.id)));
          if (!job) continue;
          await start(job);
          retried++;
        }
        if (id === undefined || retried > 0) return { retried, pausedUntil: pause.until() };
        const why = "a worker has it, or what came after it in its thread is done already";
        throw new MemoryError("WRONG_STATE", `The job "${id}" cannot be tried again: ${why}.`);
      });
    },
    async dismiss(requested) {
      const which = parseInput(dismissSchema, requested, "job to dismiss");
      const { id, actor } = which;
      const { reason } = await redactor.json({ reason: which.reason });
      return asListed(which, async () => {
        const [job] = await findJobs(db, { id, tenantId: which.tenantId, limit: 1 });
        if (!job) throw new MemoryError("NOT_FOUND", `There is no job "${id}".`);
        await db.transaction(async (tx) => {
          const given = sql`id = ${rowId(id)} and given_up_at is not null`;
          const gone = await tx.query(
            sql`delete from ${tx.schema}.work where ${given} returning 1`,
          );
          if (gone.length === 0) {
            const why =
              "it was not given up. It is tried again by itself, or when its thread goes on";
            throw new MemoryError("WRONG_STATE", `The job "${id}" cannot be dismissed: ${why}.`);
          }
          const { scope, threadId } = job;
          const step = job.kind as ModelWorkKind;
          const detail = reason === undefined ? actor : `${actor}: ${reason}`;
          await insertEvent(tx, {
            scope,
            threadId,
            step,
            op: "dismiss",
            status: "skipped",
            detail,
          });
        });
        return job;
      });
    },
  };
}

/** No row has the id -1. */
const rowId = (id: string): number => (/^\d{1,15}$/.test(id) ? Number(id) : -1);

async function findJobs(
  db: Connection,
  {
    scope,
    tenantId,
    state,
    kind,
    id,
    after,
    limit,
  }: ListJobs & { readonly id?: string | undefined },
): Promise<ListedJob[]> {
  const { schema, now } = db;
  const where = (value: unknown, condition: Sql) =>
    value === undefined ? empty : sql`and ${condition}`;
  const { userId, appId } = scopeColumns(scope ?? {});
  const rows = await db.query<ScopeRow & Omit<ListedJob, "scope">>(sql`
    select j.* from (
      select k.id::text, k.kind, coalesce(t.tenant_id, o.tenant_id) as tenant_id, coalesce(t.user_id, o.user_id) as user_id,
        coalesce(t.app_id, o.app_id) as app_id, t.thread_id as "threadId", k.error, k.output as detail,
        k.given_up_at as "givenUpAt", case when k.lease_until is null then k.taken_at end as "triedAt",
        case when k.given_up_at is null then k.attempts end as attempts,
        case when k.lease_until > ${now()} then 'running' when k.error is not null then 'failed' else 'waiting' end as state,
        case when k.lease_until > ${now()} then null else coalesce(k.lease_until, k.retry_at) end as "dueAt",
        case when k.lease_until is not null then k.worker end as worker,
        case when k.lease_until is not null then k.taken_at end as since, k.lease_until as "leaseUntil"
      from ${schema}.work k
      left join ${schema}.thread t on t.id = k.thread_ref left join ${schema}.owner o on o.id = k.owner_ref
      where (k.retry_at is not null or k.lease_until is not null or k.error is not null)
        ${where(kind, sql`k.kind = ${kind}`)} ${where(id, sql`k.id = ${rowId(id ?? "")}`)}
        ${where(after, sql`k.id > ${rowId(after ?? "")}`)}
      order by k.id
    ) j
    where ${ofTenant(sql`j.tenant_id`, scope ? (scope.tenantId ?? "") : tenantId)}
      ${where(userId || undefined, sql`j.user_id = ${userId}`)} ${where(appId || undefined, sql`j.app_id = ${appId}`)}
      ${where(state, sql`j.state = ${state}`)}
    limit ${limit}`);
  return rows.map(withScope);
}

/** Kinds in order only: an earlier piece after a later one would be stored twice. */
const onlyForward: readonly WorkKind[] = ["episodes", "notes"];

async function makeDue(tx: Connection, id: number): Promise<Job | null> {
  const { schema, now } = tx;
  const [row] = await tx.query<{ kind: WorkKind; ref: string; given_up: boolean }>(sql`
    select kind, coalesce(thread_ref, owner_ref) as ref, given_up_at is not null as given_up
    from ${schema}.work where id = ${id} for update`);
  if (!row) return null;
  const { kind, ref, given_up } = row;
  // A retried dead letter starts at its beginning, immediately.
  const due = await tx.query(
    given_up
      ? sql`update ${schema}.work k set retry_at = ${now()}, attempts = 0, done_at = null,
            done_until = least(k.done_until, d.done_until)
          from ${schema}.work d
          where d.id = ${id} and k.kind = d.kind and k.given_up_at is null and k.lease_until is null
            and (k.thread_ref = d.thread_ref or k.owner_ref = d.owner_ref)
            and (d.kind <> all (${onlyForward}) or k.done_until <= (d.progress ->> 'doneUntil')::bigint)
          returning 1`
      : sql`update ${schema}.work set retry_at = ${now()}, attempts = 0
          where id = ${id} and lease_until is null returning 1`,
  );
  if (due.length === 0) return null;
  if (given_up) await tx.query(sql`delete from ${schema}.work where id = ${id}`);
  return { kind, ref: Number(ref) };
}
