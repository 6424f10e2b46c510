import sql, { type Sql } from "sql-template-tag";
import type { MemoryEvent } from "../events/event-log.js";
import type { Job, Worker } from "../jobs/background-work.js";
import {
  endLease,
  isDue,
  isHeld,
  type Lease,
  LeaseLost,
  type LeaseTable,
  leaseEnd,
  renewLease,
  takeLeases,
} from "../jobs/lease.js";
import { limitMaterial } from "../jobs/limit-material.js";
import type { Connection } from "../postgres/connection.js";
import { retryOn } from "../postgres/retry.js";
import type { Runtime } from "../runtime.js";
import type { Scope } from "../scope/scope.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import type { MessageRole } from "../text/message-text.js";
import type { PieceBounds } from "../text/text-pieces.js";
import type { SummaryOptions, SummaryWindow } from "./summary-window.rule.js";

/** One message of a summary's input, which is no system message: those are instructions, and always shown. */
export interface SummaryMessage {
  readonly seq: number;
  readonly role: MessageRole;
  readonly actor: string | null;
  readonly text: string;
  /** When it was said, in UTC, as in "2025-03-01". */
  readonly day: string;
}

/** All that is needed to make a claimed summary. */
export interface SummaryWork {
  readonly scope: Scope;
  readonly threadId: string;
  readonly startSeq: number;
  readonly endSeq: number;
  readonly base: { readonly startSeq: number; readonly endSeq: number; readonly text: string } | null;
  /** What the base does not cover yet, up to `endSeq`: without a base all that was said, also before the window. */
  readonly added: SummaryMessage[];
  /** What the base covers and the window no longer holds. */
  readonly dropped: SummaryMessage[];
}

/** The work behind `claim`, in one round trip; null when the claim was lost. */
export async function findSummaryWork(db: Connection, claim: SummaryClaim): Promise<SummaryWork | null> {
  const [row] = await db.query<Omit<SummaryWork, "scope"> & ScopeRow>(
    sql`
    select t.tenant_id, t.user_id, t.app_id, t.thread_id as "threadId", s.start_seq as "startSeq",
      s.end_seq as "endSeq",
      case when b.id is not null then json_build_object(
        'startSeq', b.start_seq, 'endSeq', b.end_seq, 'text', b.content
      ) end as base,
      coalesce(json_agg(m.entry order by m.seq) filter (where m.seq > coalesce(b.end_seq, -1)), '[]')
        as added,
      coalesce(json_agg(m.entry order by m.seq) filter (where m.seq < s.start_seq and m.seq <= b.end_seq), '[]')
        as dropped
    from ${db.schema}.summary s
    join ${db.schema}.thread t on t.id = s.thread_ref
    left join lateral (select * from ${db.schema}.summary where id = s.base_id limit 1) b on true
    left join lateral (
      select m.seq, json_build_object(
        'seq', m.seq, 'role', m.role, 'actor', m.actor, 'text', m.content,
        'day', to_char(m.said_at at time zone 'UTC', 'YYYY-MM-DD')
      ) as entry
      from ${db.schema}.message m
      where m.thread_ref = s.thread_ref and m.role <> 'system'
        and m.seq between coalesce(b.start_seq, 0) and s.end_seq
    ) m on true
    where s.id = (select id from ${db.schema}.summary where ${isHeld(summaryLeases, claim)})
    group by t.id, s.id, b.id, b.start_seq, b.end_seq, b.content`,
    { prepare: true },
  );
  if (!row) return null;
  const { tenant_id, user_id, app_id, ...work } = row;
  return { ...work, scope: scopeOf({ tenant_id, user_id, app_id }) };
}

/**
 * The rounds of `work` that are within `bounds`. The next summary has the rounds after them; a round is never parted.
 */
export async function limitSummary(
  deps: Pick<Runtime, "db" | "logger">,
  work: SummaryWork,
  bounds: PieceBounds,
): Promise<SummaryWork> {
  const { scope, threadId } = work;
  const beginsRound = ({ role }: SummaryMessage) => role === "user";
  const of = { scope, threadId, step: "summarize" } as const;
  const { messages: added, taken } = await limitMaterial(deps, of, work.added, bounds, beginsRound);
  const last = work.added[taken - 1];
  if (last === undefined || taken === work.added.length) return { ...work, added };
  const lastRound = work.added.slice(0, taken).findLast(beginsRound) ?? last;
  const startSeq = Math.min(work.startSeq, lastRound.seq);
  const dropped = work.dropped.filter(({ seq }) => seq < startSeq);
  return { ...work, added, dropped, startSeq, endSeq: last.seq };
}

/** The right to make one summary. */
export interface SummaryClaim extends Lease {
  readonly summaryId: number;
}

/** Summaries in the making. Their rows stay as the record of what was tried. */
export const summaryLeases: LeaseTable<SummaryClaim> = {
  name: "summary",
  row: ({ summaryId }) => sql`id = ${summaryId}`,
  label: ({ summaryId }) => `Summary ${summaryId}`,
  statusLabel: ({ summaryId }) => `Memory ${summaryId}`,
  status: { taken: sql`status = 'processing',`, failed: sql`status = 'failed',` },
};

/**
 * Claims the next summary of a thread by inserting its `processing` row, based on the latest completed one.
 *
 * The row begins before `window` where something would be lost else: with the first message that no summary has covered,
 * as of a thread that was long before its first summary. From such a long row on, the next ones give up twice as many
 * messages as are new, until they are as short as `window`.
 *
 * A `processing` row whose lease ran out is failed first. `null` when another process holds a live claim, or
 * has summarised the same messages meanwhile: the partial unique index `summary_processing` decides races.
 */
export async function claimSummary(
  db: Connection,
  input: { threadRef: number; window: SummaryWindow; leaseMs: number },
): Promise<{ readonly claim: SummaryClaim; readonly window: SummaryWindow } | null> {
  const { threadRef, window, leaseMs } = input;
  // The insert reads `expired`, so that the lapsed row has left the index before the new one enters it.
  const [row] = await db.query<{ id: string; start_seq: number }>(sql`
    with expired as (
      ${failLapsed(db)} and thread_ref = ${threadRef} returning id
    ),
    base as (
      select s.id, s.start_seq, s.end_seq from ${db.schema}.summary s
      where s.thread_ref = ${threadRef} and s.status = 'completed'
      order by s.end_seq desc, s.id desc limit 1
    ),
    longer as (
      select m.seq from base cross join lateral (
        select m.seq from ${db.schema}.message m
        where m.thread_ref = ${threadRef} and m.role = 'user'
          and m.seq >= base.start_seq + 2 * (${window.endSeq}::int - base.end_seq)
        order by m.seq limit 1
      ) m
    )
    insert into ${db.schema}.summary
      (thread_ref, start_seq, end_seq, base_id, status, lease_until, created_at)
    select ${threadRef},
      least(${window.startSeq}::int, (select seq from longer), coalesce((select end_seq from base), -1) + 1),
      ${window.endSeq}, (select id from base), 'processing', ${leaseEnd(db, leaseMs)}, ${db.now()}
    where not exists (
      select from ${db.schema}.summary s
      where s.thread_ref = ${threadRef} and (
        (s.status = 'processing' and s.id not in (select id from expired))
        or (s.status = 'completed' and s.end_seq >= ${window.endSeq})
      )
    )
    on conflict (thread_ref) where status = 'processing' do nothing
    returning id, start_seq`);
  if (!row) return null;
  return {
    claim: { summaryId: Number(row.id), attempt: 1 },
    window: { startSeq: row.start_seq, endSeq: window.endSeq },
  };
}

/**
 * Summaries that should be tried again: left `processing` past their lease, or `failed` with their
 * retry time come, fewer than `maxAttempts` tries so far, and nothing newer in their thread. Oldest first.
 *
 * Those left `processing` by their last try are failed for good.
 */
async function findDueSummaries(
  db: Connection,
  { maxAttempts, limit }: { readonly maxAttempts: number; readonly limit: number },
): Promise<number[]> {
  const rows = await db.query<{ id: string }>(sql`
    with given_up as (${failLapsed(db)} and attempts >= ${maxAttempts})
    select s.id from ${db.schema}.summary s where ${toTryAgain(db, maxAttempts)} order by s.id limit ${limit}`);
  return rows.map(({ id }) => Number(id));
}

/** Of the summaries `s`, those that should be tried again. */
function toTryAgain(db: Connection, maxAttempts: number): Sql {
  return sql`s.attempts < ${maxAttempts} and s.status in ('processing', 'failed') and ${isDue(db)}
    and not exists (
      select from ${db.schema}.summary newer
      where newer.thread_ref = s.thread_ref and newer.id > s.id
    )`;
}

/** Claims a summary that should be tried again; null where another worker was faster. */
async function claimDueSummary(db: Connection, limits: ClaimLimits): Promise<SummaryClaim | null> {
  // A round of one of these threads may have claimed a newer window since the statement began: look again.
  return retryOn(["23505"], () => tryClaim(db, limits), {
    most: 2,
    busy: "Others kept claiming the summaries that are due.",
  });
}

interface ClaimLimits {
  readonly leaseMs: number;
  readonly maxAttempts: number;
  readonly summaryId: number;
}

async function tryClaim(
  db: Connection,
  { leaseMs, maxAttempts, summaryId }: ClaimLimits,
): Promise<SummaryClaim | null> {
  const [row] = await takeLeases<{ id: string; attempts: number }, SummaryClaim>(db, summaryLeases, {
    rows: sql`id in (
      select s.id from ${db.schema}.summary s
      where s.id = ${summaryId} and ${toTryAgain(db, maxAttempts)}
      for update skip locked
    )`,
    leaseMs,
    returning: sql`id, attempts`,
  });
  return row ? { summaryId, attempt: row.attempts } : null;
}

/** Fails the summaries whose worker is gone; conditions may follow. */
function failLapsed(db: Connection): Sql {
  return sql`
    update ${db.schema}.summary
    set status = 'failed', error = 'the worker stopped before it was done', lease_until = null
    where status = 'processing' and lease_until <= ${db.now()}`;
}

/**
 * Completes a claimed summary.
 *
 * @param result.window what it stands for: the window claimed, or its beginning.
 * @param result.event told of it.
 * @throws LeaseLost when another worker has taken it over; nothing is written then.
 */
export async function completeSummary(
  db: Connection,
  claim: SummaryClaim,
  result: { text: string; generationTimeMs: number; window: SummaryWindow; event: MemoryEvent },
): Promise<void> {
  const { text, generationTimeMs, window, event } = result;
  const roundsUntil = (seq: number) => sql`(
    select count(*) from ${db.schema}.message m
    where m.thread_ref = w.thread_ref and m.role = 'user' and m.seq <= ${seq}
  )`;
  const set = sql`status = 'completed', content = ${text}, generation_time_ms = ${generationTimeMs},
    start_seq = ${window.startSeq}, end_seq = ${window.endSeq}, start_round = ${roundsUntil(window.startSeq)},
    end_round = ${roundsUntil(window.endSeq)}, error = null`;
  await endLease(db, summaryLeases, claim, set, event);
}

/** Makes summaries. */
export interface SummaryWorker extends Worker {
  /** Making one claimed summary. */
  of(claim: SummaryClaim): Job;
}

/** The worker for summaries; `summarize` makes a claimed one. */
export function createSummaryWorker(
  db: Connection,
  { leaseMs, maxAttempts }: SummaryOptions,
  summarize: (claim: SummaryClaim) => Promise<unknown>,
): SummaryWorker {
  const named = (ref: number) => ({ name: `Summary ${ref}`, ticket: { work: "summarize", ref } as const });
  const again = (summaryId: number): Job => ({
    ...named(summaryId),
    async run() {
      const claim = await claimDueSummary(db, { leaseMs, maxAttempts, summaryId });
      if (claim) await summarize(claim);
    },
  });
  /** Goes on with a lease that waited in a queue, which is as good as new where nobody took it over. */
  const goOn = (claim: SummaryClaim): Job => ({
    ...named(claim.summaryId),
    async run() {
      try {
        await renewLease(db, summaryLeases, claim, leaseMs);
      } catch (error) {
        if (error instanceof LeaseLost) return;
        throw error;
      }
      await summarize(claim);
    },
  });
  return {
    works: ["summarize"],
    of: (claim) => {
      const { name, ticket } = named(claim.summaryId);
      const run = async () => void (await summarize(claim));
      return { name, ticket: { ...ticket, attempt: claim.attempt }, run };
    },
    at: ({ ref = 0, attempt }) => (attempt === undefined ? again(ref) : goOn({ summaryId: ref, attempt })),
    due: async (limit) => (await findDueSummaries(db, { maxAttempts, limit })).map(again),
  };
}
