import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { scopeColumns, withinScope } from "../scope/scope-predicates.js";

/** How memory has worked over the last 30 days. */
export interface MemoryStats {
  /**
   * Share of what models proposed that met the writing constraints as it came, neither cut nor rejected for its
   * form; null when nothing was proposed. Healthy: from 0.95.
   */
  readonly firstPassRate: number | null;
  /** Proposals that became, changed or confirmed a memory. */
  readonly written: number;
  /** Proposals that were not written, for whatever reason but that what holds their slot is believed more. */
  readonly rejected: number;
  /** Background work that was given up. */
  readonly deadLetters: number;
  /** Share of turns in which an agent searched memory by the tool; null without turns. Healthy: below 0.1. */
  readonly recallToolShare: number | null;
}

/** What the statistics are made of. */
export interface WorkCounts {
  readonly accepted: number;
  readonly untouched: number;
  readonly malformed: number;
  readonly written: number;
  readonly rejected: number;
  readonly dead_letters: number;
  readonly turns: number;
  readonly searched_turns: number;
}

/**
 * What the statistics of a scope's user or app are made of, or of all.
 *
 * A search belongs to the turn that is recorded next in its thread.
 *
 * @param formProblems details of the events of what was rejected for its form.
 */
export async function countWork(
  db: Connection,
  scope: Scope | null,
  formProblems: readonly string[],
): Promise<WorkCounts> {
  const { schema } = db;
  const since = sql`(${db.now()} - interval '30 days')`;
  const within = (row: "e" | "t" | "o") => (scope ? withinScope(scopeColumns(scope), row) : sql`true`);
  const [row] = await db.query<WorkCounts & Record<string, unknown>>(sql`
    with classified as (
      select e.status, coalesce(e.detail, '') as detail
      from ${schema}.event e
      where ${within("e")} and e.created_at >= ${since} and e.op = 'classify'
        and coalesce(e.step, e.node) in ('extract', 'compress', 'procedure')
    ),
    spoken as (
      select t.id, t.tenant_id, t.thread_id from ${schema}.thread t
      where ${within("t")} and t.last_activity_at >= ${since}
    ),
    searched as (
      select distinct s.id, m.seq
      from ${schema}.event e join spoken s on s.tenant_id = e.tenant_id and s.thread_id = e.thread_id
      cross join lateral (
        select m.seq from ${schema}.message m
        where m.thread_ref = s.id and m.role = 'user' and m.created_at >= e.created_at order by m.seq limit 1
      ) m
      where ${within("e")} and e.created_at >= ${since} and e.op = 'search' and coalesce(e.step, e.node) = 'tool'
    )
    select
      count(*) filter (where status = 'ok')::int as accepted,
      count(*) filter (where status = 'ok' and detail not like '%, %')::int as untouched,
      count(*) filter (where status = 'skipped' and detail = any (${formProblems}::text[]))::int as malformed,
      count(*) filter (where status = 'ok' and detail not like all (array['kept%', 'proposed%', 'refused%']))::int
        as written,
      count(*) filter (where status = 'skipped')::int as rejected,
      (
        select count(*) from ${schema}.dead_letter d left join ${schema}.thread t on t.id = d.thread_ref
        left join ${schema}.owner o on o.id = d.owner_ref
        where (${within("t")} or ${within("o")}) and d.created_at >= ${since}
      )::int as dead_letters,
      (
        select count(*) from spoken s join ${schema}.message m on m.thread_ref = s.id and m.role = 'user'
        where m.created_at >= ${since}
      )::int as turns,
      (select count(*) from searched)::int as searched_turns
    from classified`);
  return row as WorkCounts;
}

/** The statistics of what was counted. */
export function statsOfWork(counts: WorkCounts): MemoryStats {
  const proposed = counts.accepted + counts.malformed;
  return {
    firstPassRate: proposed === 0 ? null : counts.untouched / proposed,
    written: counts.written,
    rejected: counts.rejected,
    deadLetters: counts.dead_letters,
    recallToolShare: counts.turns === 0 ? null : counts.searched_turns / counts.turns,
  };
}
