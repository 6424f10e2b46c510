import sql from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { asListed } from "../postgres/isolation.js";
import { tenantField } from "../scope/scope.js";
import { pageRows, parseInput, storableText } from "../text/parse-input.js";
import { type JobKind, type JobTicket, jobKinds, type WorkName } from "./job-kinds.rule.js";
import { findJobs, type JobState, jobStates, type ListedJob } from "./listed-jobs.js";

/** Which jobs to list. */
interface ListJobs {
  /** Only those of this tenant. @default those of all tenants */
  readonly tenantId?: string | undefined;
  readonly state?: JobState | undefined;
  readonly kind?: JobKind | undefined;
  /** Rows, 1 to 1,000. @default 100 */
  readonly limit?: number | undefined;
  /** Only those after this id: the last of the page before. */
  readonly after?: string | undefined;
}

/** Background work that is not done, for operators: what waits, runs and failed, and trying it again. */
export interface JobsApi {
  /**
   * Jobs that wait, run or failed, in the order of their ids, as the tables have them, with queues or without. Ageing, expiry
   * and tidying up are found anew each time and not listed.
   *
   * @throws MemoryError `INVALID_INPUT`
   */
  list(listing?: ListJobs): Promise<ListedJob[]>;
  /**
   * Makes what failed due now, what was given up too: one job by its id, or all of a kind, at most 1,000 at a time.
   *
   * @example
   * ```ts
   * const [failed] = await memory.jobs.list({ state: "failed" });
   * if (failed) await memory.jobs.retry(failed.id);
   * ```
   * @returns how many are due now.
   * @throws MemoryError `NOT_FOUND`, `INVALID_INPUT`; `WRONG_STATE` while a worker has it, and of an episode or a note that was
   *   given up when what came later in its thread is done.
   */
  retry(
    which: string | { readonly kind: JobKind },
    of?: { readonly tenantId?: string | undefined },
  ): Promise<{ readonly retried: number }>;
}

const kindField = z.enum(jobKinds as [JobKind, ...JobKind[]]);
const listSchema = z.strictObject({
  ...{ tenantId: tenantField, state: z.enum(jobStates).optional(), kind: kindField.optional() },
  ...{ limit: pageRows, after: storableText.optional() },
});
const retrySchema = z.union([storableText.min(1), z.strictObject({ kind: kindField })]);
const ofSchema = z.strictObject({ tenantId: tenantField });

/** Most jobs that one call has tried again. */
const mostRetried = 1_000;

/** @param start has a job done that has become due. */
export function createJobsApi(db: Database, start: (ticket: JobTicket) => Promise<void>): JobsApi {
  const retryOne = async (id: string) => {
    const ticket = await db.transaction((tx) => makeDue(tx, id));
    if (ticket) await start(ticket);
    return ticket !== null;
  };
  const retryKind = async (kind: JobKind, tenantId: string | undefined) => {
    const failed = await findJobs(db, { tenantId, kind, state: "failed", limit: mostRetried });
    let retried = 0;
    for (const { id } of failed) if (await retryOne(id)) retried++;
    return { retried };
  };
  const retryNamed = async (id: string, tenantId: string | undefined) => {
    if ((await findJobs(db, { tenantId, id, limit: 1 })).length === 0) {
      throw new MemoryError("NOT_FOUND", `There is no job "${id}" that could be tried again.`);
    }
    if (await retryOne(id)) return { retried: 1 };
    const why = "a worker has it, or what came after it in its thread is done already";
    throw new MemoryError("WRONG_STATE", `The job "${id}" cannot be tried again: ${why}.`);
  };
  return {
    async list(listing = {}) {
      const which = parseInput(listSchema, listing, "list of jobs");
      return asListed(which, () => findJobs(db, which));
    },
    async retry(requested, of = {}) {
      const which = parseInput(retrySchema, requested, "jobs to retry");
      const { tenantId } = parseInput(ofSchema, of, "retry of jobs");
      return asListed({ tenantId }, () =>
        typeof which === "string" ? retryNamed(which, tenantId) : retryKind(which.kind, tenantId),
      );
    },
  };
}

/** Makes a job due now; null where that is not possible. */
async function makeDue(tx: Connection, id: string): Promise<JobTicket | null> {
  const [, work = "", number = ""] = /^(.+)-(\d+)$/.exec(id) ?? [];
  const ref = Number(number);
  if (work === "given-up") return reviveDeadLetter(tx, ref);
  const due = isThreadTask(work)
    ? sql`update ${tx.schema}.thread_task set retry_at = ${tx.now()}, attempts = 0
        where thread_ref = ${ref} and task = ${work} and lease_until is null returning 1`
    : work === "summarize"
      ? sql`update ${tx.schema}.summary set retry_at = ${tx.now()}, attempts = 0
        where id = ${ref} and status = 'failed' returning 1`
      : sql`update ${tx.schema}.owner_task set retry_at = ${tx.now()}, attempts = 0
        where owner_ref = ${ref} and task = ${work} and lease_until is null returning 1`;
  const rows = await tx.query(due);
  return rows.length > 0 ? { work: work as WorkName, ref } : null;
}

function isThreadTask(work: string): boolean {
  return work === "extract" || work === "compress" || work === "note";
}

/**
 * Makes work due that was given up, and takes its letter away. A thread's cursor goes back to where that work began, where nothing
 * later is done that would be done twice; facts that are there already are not written again.
 */
async function reviveDeadLetter(tx: Connection, letterId: number): Promise<JobTicket | null> {
  const [letter] = await tx.query<{
    task: WorkName;
    thread_ref: string | null;
    owner_ref: string | null;
  }>(sql`
    select task, thread_ref, owner_ref from ${tx.schema}.dead_letter where id = ${letterId} for update`);
  if (!letter) return null;
  const { task: work } = letter;
  const ref = Number(letter.thread_ref ?? letter.owner_ref);
  const turnsUntil = sql`(
    select count(*)::int from ${tx.schema}.message m
    where m.thread_ref = k.thread_ref and m.role = 'user' and m.seq`;
  const due =
    letter.thread_ref === null
      ? // It was not done, so it rests from nothing.
        sql`update ${tx.schema}.owner_task set retry_at = ${tx.now()}, attempts = 0, done_until = 0, done_at = null
          where owner_ref = ${ref} and task = ${work} and lease_until is null returning 1`
      : sql`update ${tx.schema}.thread_task k set retry_at = ${tx.now()}, attempts = 0,
          done_until = case when k.task = 'compress' then ${turnsUntil} < d.start_seq)
            else least(k.done_until, d.start_seq - 1) end
        from ${tx.schema}.dead_letter d
        where d.id = ${letterId} and k.thread_ref = d.thread_ref and k.task = d.task and k.lease_until is null
          and case k.task when 'compress' then k.done_until <= ${turnsUntil} <= d.end_seq)
            when 'note' then k.done_until <= d.end_seq else true end
        returning 1`;
  if ((await tx.query(due)).length === 0) return null;
  await tx.query(sql`delete from ${tx.schema}.dead_letter where id = ${letterId}`);
  return { work, ref };
}
