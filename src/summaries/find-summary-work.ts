import sql from "sql-template-tag";
import { isHeld } from "../jobs/lease.js";
import { limitMaterial } from "../jobs/limit-material.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import type { Scope } from "../scope/scope.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import type { MessageRole } from "../text/message-text.js";
import type { PieceBounds } from "../text/text-pieces.js";
import { type SummaryClaim, summaryLeases } from "./claim-summary.js";

/** One message of a summary's input, which is no system message: those are instructions, and always shown. */
export interface SummaryMessage {
  readonly seq: number;
  readonly role: MessageRole;
  readonly actor: string | null;
  readonly text: string;
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
  const [row] = await db.query<Omit<SummaryWork, "scope"> & ScopeRow>(sql`
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
      select m.seq, json_build_object('seq', m.seq, 'role', m.role, 'actor', m.actor, 'text', m.content) as entry
      from ${db.schema}.message m
      where m.thread_ref = s.thread_ref and m.role <> 'system'
        and m.seq between coalesce(b.start_seq, 0) and s.end_seq
    ) m on true
    where s.id = (select id from ${db.schema}.summary where ${isHeld(summaryLeases, claim)})
    group by t.id, s.id, b.id, b.start_seq, b.end_seq, b.content`);
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
