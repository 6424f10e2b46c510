import sql from "sql-template-tag";
import { eventsInserted } from "../observability/events/event-log.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import type { Scope } from "../scope/scope.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import type { PieceBounds } from "../text/text-pieces.js";
import type { TurnMessage } from "../transcript/find-messages.js";
import { isMaterial } from "../transcript/forgotten-messages.js";
import { isSummaryUnderWay } from "../transcript/record-messages.js";
import { limitMaterial } from "../work/limit-material.js";
import type { Taken } from "../work/work-definition.js";
import { type Claim, completeWork, hasLease } from "../work/work-table.js";
import type { SummaryWindow } from "./summary-window.rule.js";

/** Without system messages: prompts always show them. */
export type SummaryMessage = Pick<
  TurnMessage,
  "seq" | "role" | "actor" | "text" | "saidAt" | "timeZone"
>;

export interface SummaryWork {
  readonly summaryId: number;
  readonly scope: Scope;
  readonly threadId: string;
  readonly startSeq: number;
  readonly endSeq: number;
  readonly base: {
    readonly startSeq: number;
    readonly endSeq: number;
    readonly text: string;
  } | null;
  /** Not covered by the base; without a base also messages before the window. */
  readonly added: SummaryMessage[];
  /** Covered by the base and before the window. */
  readonly dropped: SummaryMessage[];
}

type MessageJson = Omit<SummaryMessage, "saidAt"> & { readonly saidAt: number };

type SummaryRow = Omit<SummaryWork, "scope" | "added" | "dropped"> &
  Readonly<Record<"added" | "dropped", readonly MessageJson[]>> &
  ScopeRow;

/** Replaces a forgotten message, so that windows keep their turns. */
const forgottenText = "(left out)";

/** The latest summary of the claimed thread, set to `processing`; null if it is completed. */
export async function findSummaryWork(db: Connection, claim: Claim): Promise<SummaryWork | null> {
  const { schema } = db;
  const latest = sql`(
      select s.id from ${schema}.summary s join ${schema}.work k on k.thread_ref = s.thread_ref
      where ${hasLease(claim)} order by s.id desc limit 1
    )`;
  if (claim.attempt > 1) {
    await db.query(sql`
      update ${schema}.summary s set status = 'processing' where s.id = ${latest} and s.status = 'failed'`);
  }
  const [row] = await db.query<SummaryRow>(
    sql`
    select s.id::float8 as "summaryId", t.tenant_id, t.user_id, t.app_id, t.thread_id as "threadId",
      s.start_seq as "startSeq", s.end_seq as "endSeq",
      case when b.id is not null then json_build_object(
        'startSeq', b.start_seq, 'endSeq', b.end_seq, 'text', b.content
      ) end as base,
      coalesce(json_agg(m.entry order by m.seq) filter (where m.seq > coalesce(b.end_seq, -1)), '[]')
        as added,
      coalesce(json_agg(m.entry order by m.seq) filter (where m.seq < s.start_seq and m.seq <= b.end_seq), '[]')
        as dropped
    from ${schema}.summary s
    join ${schema}.thread t on t.id = s.thread_ref
    left join lateral (select * from ${schema}.summary where id = s.base_id limit 1) b on true
    left join lateral (
      select m.seq, json_build_object(
        'seq', m.seq, 'role', m.role, 'actor', m.actor,
        'text', case when ${isMaterial(db, claim.ref)} then m.content else ${forgottenText}::text end,
        'saidAt', date_part('epoch', m.said_at) * 1000, 'timeZone', m.time_zone
      ) as entry
      from ${schema}.message m
      where m.thread_ref = s.thread_ref and m.role <> 'system'
        and m.seq between coalesce(case when b.start_seq < s.start_seq then b.start_seq else b.end_seq + 1 end, 0) and s.end_seq
    ) m on true
    where s.id = ${latest} and s.status <> 'completed'
    group by t.id, s.id, b.id, b.start_seq, b.end_seq, b.content`,
    { prepare: true },
  );
  if (!row) return null;
  const { tenant_id, user_id, app_id, ...work } = row;
  return {
    ...work,
    added: row.added.map(summaryMessage),
    dropped: row.dropped.map(summaryMessage),
    scope: scopeOf({ tenant_id, user_id, app_id }),
  };
}

function summaryMessage({ saidAt, ...message }: MessageJson): SummaryMessage {
  return { ...message, saidAt: new Date(saidAt) };
}

/** Cuts `work` to `bounds`, between turns. The next summary has the others. */
export async function limitSummary(
  deps: Pick<Runtime, "db" | "logger">,
  work: SummaryWork,
  bounds: PieceBounds,
): Promise<SummaryWork> {
  const { scope, threadId } = work;
  const beginsTurn = ({ role }: SummaryMessage) => role === "user";
  const of = { scope, threadId, step: "summaries" } as const;
  const { messages: added, taken } = await limitMaterial(deps, of, work.added, bounds, beginsTurn);
  const last = work.added[taken - 1];
  if (last === undefined || taken === work.added.length) return { ...work, added };
  const lastTurn = work.added.slice(0, taken).findLast(beginsTurn) ?? last;
  const startSeq = Math.min(work.startSeq, lastTurn.seq);
  const dropped = work.dropped.filter(({ seq }) => seq < startSeq);
  return { ...work, added, dropped, startSeq, endSeq: last.seq };
}

export type MarkedSummary = {
  readonly summaryId: number;
  readonly window: SummaryWindow;
};

/**
 * Marks the next summary of a thread as due by inserting its `processing` row, based on the latest
 * completed one. The row begins before `window` at the first uncovered message, as in a thread that
 * was long before its first summary. After such a long row, the next ones drop twice as many
 * messages as are new, until they are as short as `window`. A `processing` row whose lease has ended
 * fails. Null if another one is due or under way, or the same messages are summarised: the row in
 * `work` decides races, and the index `summary_processing` those of rows.
 */
export async function markSummary(
  db: Connection,
  { threadRef, window }: { threadRef: number; window: SummaryWindow },
): Promise<MarkedSummary | null> {
  const { schema } = db;
  // The insert reads `expired`, so that the expired row leaves the index first.
  const [row] = await db.query<{ id: string; start_seq: number }>(sql`
    with base as (
      select s.id, s.start_seq, s.end_seq from ${schema}.summary s
      where s.thread_ref = ${threadRef} and s.status = 'completed'
      order by s.end_seq desc, s.id desc limit 1
    ),
    longer as (
      select m.seq from base cross join lateral (
        select m.seq from ${schema}.message m
        where m.thread_ref = ${threadRef} and m.role = 'user'
          and m.seq >= base.start_seq + 2 * (${window.endSeq}::int - base.end_seq)
        order by m.seq limit 1
      ) m
    ),
    marked as (
      insert into ${schema}.work as k (kind, thread_ref, done_until, retry_at)
      select 'summaries', ${threadRef}::bigint, coalesce((select end_seq from base), -1), ${db.now()}
      where not exists (select from base where end_seq >= ${window.endSeq})
      on conflict (thread_ref, kind) where given_up_at is null do update
        set attempts = 0, lease = k.lease + 1, lease_until = null, due_since = null, error = null,
          retry_at = excluded.retry_at, done_until = greatest(k.done_until, excluded.done_until)
        -- Its time stands for now(), which Citus does not take here.
        where k.done_until < ${window.endSeq} and not ${isSummaryUnderWay(sql`excluded.retry_at`)}
      returning k.id
    ),
    expired as (
      update ${schema}.summary s set status = 'failed'
      from marked where s.thread_ref = ${threadRef} and s.status = 'processing' returning s.id
    ),
    made as (
      insert into ${schema}.summary (thread_ref, start_seq, end_seq, base_id, status, created_at)
      select ${threadRef}::bigint,
        least(${window.startSeq}::int, (select seq from longer), coalesce((select end_seq from base), -1) + 1),
        ${window.endSeq}::int, (select id from base), 'processing', ${db.now()}
      from marked where (select count(*) from expired) >= 0
      returning id, start_seq
    )
    select id, start_seq from made`);
  if (!row) return null;
  return {
    summaryId: Number(row.id),
    window: { startSeq: row.start_seq, endSeq: window.endSeq },
  };
}

export async function failSummary(db: Connection, { ref }: Claim): Promise<void> {
  await db.query(sql`
    update ${db.schema}.summary set status = 'failed' where thread_ref = ${ref} and status = 'processing'`);
}

/** What the model made of a window. */
export type Summarized = { summary: string | null; dropped: number; generationTimeMs: number };

/**
 * Completes a summary with the claimed window, or its beginning.
 * @throws LeaseLost before it writes anything
 */
export async function completeSummary(
  db: Connection,
  { claim, work, summary, dropped, generationTimeMs }: Taken<SummaryWork, Summarized>,
): Promise<void> {
  const { summaryId, startSeq, endSeq, threadId, scope } = work;
  const detail = dropped > 0 ? "instruction" : undefined;
  const event = { scope, threadId, step: "summaries", op: "create", status: "ok", detail } as const;
  const turnsUntil = (seq: number) => sql`(
    select count(*) from ${db.schema}.message m
    where m.thread_ref = ${claim.ref} and m.role = 'user' and m.seq <= ${seq}
  )`;
  const done = sql`
    completed as (
      update ${db.schema}.summary s
      set status = 'completed', content = ${summary ?? ""}, generation_time_ms = ${generationTimeMs},
        start_seq = ${startSeq}, end_seq = ${endSeq}, start_turn = ${turnsUntil(startSeq)},
        end_turn = ${turnsUntil(endSeq)}
      from fenced where s.id = ${summaryId}
    ),
    reported as (${eventsInserted(db, [event])} where exists (select from fenced))`;
  await completeWork(db, claim, { doneUntil: endSeq }, done);
}
