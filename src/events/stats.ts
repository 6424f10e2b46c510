import sql from "sql-template-tag";
import { z } from "zod";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { asListed } from "../postgres/isolation.js";
import { parseListed, type Scope, scopeField, tenantField } from "../scope/scope.js";
import {
  type EnergyToday,
  findEnergyToday,
  findUsedByKind,
  type UsedByKind,
} from "../usage/energy-statements.js";
import { type AppsStats, statsByApp } from "./stats-by-app.js";
import { type StatsByDay, statsByDay } from "./stats-by-day.js";
import { isSelected, type StatsSelection, share } from "./stats-selection.js";

/** Whose statistics, of how many days, by what. */
export interface StatsOf<By extends "day" | "app" | undefined = "day" | "app" | undefined> {
  /** "day": a row for each day. "app": how apps remember their conversations. @default all together */
  readonly by?: By;
  /** A user, a user within an app, or an app with all its users; with `by: "app"` an app. @default everybody */
  readonly scope?: Scope;
  /** Without a scope: only this tenant. @default all tenants */
  readonly tenantId?: string | undefined;
  /** The last so many days; 1 to 366. @default 30 */
  readonly days?: number | undefined;
}

/** How memory has worked. */
export interface MemoryStats {
  /**
   * Share of what models proposed that met the writing constraints as it came, neither cut nor rejected for its
   * form; null when nothing was proposed. Healthy: from 0.95.
   */
  readonly firstPassRate: number | null;
  /** Proposals that became, changed or confirmed a memory. */
  readonly written: number;
  /** Proposals that were not written, except those that lost their slot to a value that is believed more. */
  readonly rejected: number;
  /** Background work that was given up. */
  readonly deadLetters: number;
  /** Share of turns in which an agent searched memory by the tool; null without turns. Healthy: below 0.1. */
  readonly recallToolShare: number | null;
  /** What background calls of models used today, and in all those days by kind of work, most units first. */
  readonly energy: EnergyToday & { readonly kinds: readonly UsedByKind[] };
}

/** Statistics of a memory. */
export interface StatsCall {
  /**
   * How memory has worked, and the energy it used: for a scope's user or app, for a tenant, or for all.
   *
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  (of?: StatsOf<undefined>): Promise<MemoryStats>;
  /**
   * The same by day: memories by kind, writes by outcome, turns with memory and the duration of their recalls, tokens and
   * energy by kind of work.
   *
   * @example
   * ```ts
   * const { days } = await memory.stats({ by: "day", days: 7 });
   * for (const { day, recalls, recallLatencyMs } of days) console.log(day, recalls, recallLatencyMs?.p95);
   * ```
   */
  (of: StatsOf<"day">): Promise<StatsByDay>;
  /**
   * How apps remember their conversations: notes written an hour, compactions an app and day, the share of apps that have
   * notes and of conversations that were shown some, and the share of notes in their energy.
   *
   * @example
   * ```ts
   * const { appsWithNotesShare, apps } = await memory.stats({ by: "app" });
   * ```
   */
  (of: StatsOf<"app">): Promise<AppsStats>;
}

const inputSchema = z.strictObject({
  by: z.enum(["day", "app"]).optional(),
  ...{ scope: scopeField, tenantId: tenantField },
  days: z.int().min(1).max(366).default(30),
});

/** The statistics of `db`. @param formProblems details of the events of proposals that were rejected for their form. */
export function createStats(db: Database, formProblems: readonly string[], clock: () => Date): StatsCall {
  return (async (of?: StatsOf) => {
    const { by, ...selection } = parseListed(inputSchema, of, "statistics");
    return asListed(selection, async () => {
      if (by === "day") return statsByDay(db, clock(), selection);
      if (by === "app") return statsByApp(db, selection);
      return statsOfAll(db, selection, formProblems);
    });
  }) as StatsCall;
}

interface WorkCounts {
  readonly [column: string]: number;
  readonly accepted: number;
  readonly untouched: number;
  readonly malformed: number;
  readonly written: number;
  readonly rejected: number;
  readonly dead_letters: number;
  readonly turns: number;
  readonly searched_turns: number;
}

/** A search belongs to the turn that is recorded next in its thread. */
async function statsOfAll(
  db: Connection,
  selection: StatsSelection,
  formProblems: readonly string[],
): Promise<MemoryStats> {
  const { schema } = db;
  const since = sql`(${db.now()} - ${selection.days}::int * interval '1 day')`;
  const within = (row: "e" | "t" | "o" | "x") => isSelected(selection, row);
  const [counts] = (await db.query(sql`
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
    from classified`)) as [WorkCounts];
  return {
    firstPassRate: share(counts.untouched, counts.accepted + counts.malformed),
    ...{ written: counts.written, rejected: counts.rejected, deadLetters: counts.dead_letters },
    recallToolShare: share(counts.searched_turns, counts.turns),
    energy: {
      ...(await findEnergyToday(db, { tenantId: tenantOf(selection), used: within("x") })),
      kinds: await findUsedByKind(db, sql`${within("x")} and x.created_at >= ${since}`),
    },
  };
}

/** The tenant of a scope, "" where it has none; undefined for all. */
function tenantOf({ scope, tenantId }: StatsSelection): string | undefined {
  return scope ? (scope.tenantId ?? "") : tenantId;
}
