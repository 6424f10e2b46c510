import sql, { type Sql } from "sql-template-tag";
import { z } from "zod";
import { dayMs } from "../clock.js";
import type { Connection } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { asListed } from "../postgres/isolation.js";
import { type TableSize, tableSizes } from "../postgres/table-sizes.js";
import { parseListed, type Scope, scopeField, tenantField } from "../scope/scope.js";
import { ofTenant, scopeColumns, withinScope } from "../scope/scope-predicates.js";

/** Of whom, and of how many days. */
export interface StatsByDayOf {
  readonly by: "day";
  /** A user, a user within an app, or an app with all its users. @default everybody */
  readonly scope?: Scope;
  /** Without a scope: only this tenant. @default all tenants */
  readonly tenantId?: string | undefined;
  /** Days in UTC, today being the last; 1 to 366. @default 30 */
  readonly days?: number | undefined;
}

/** What memory did on a day. */
export interface DayStats {
  /** In UTC, as "2030-05-01". */
  readonly day: string;
  /** Memories in use now that were there by the end of the day, by kind. */
  readonly memoriesByKind: Readonly<Record<string, number>>;
  /** Events of writing by what came of it, such as "create", "merge" or "ttl"; "rejected" for what was not written. */
  readonly writesByOutcome: Readonly<Record<string, number>>;
  /** Turns that were told of memory, and those of them that were shown any. */
  readonly recalls: number;
  readonly recallsWithMemory: number;
  /** How long the recalls of those turns took; null where none was timed. */
  readonly recallLatencyMs: { readonly p50: number; readonly p95: number } | null;
  /** Input and output together, by kind of background work. */
  readonly tokens: Readonly<Record<string, number>>;
  readonly energyUnits: number;
}

/** How memory went over time. */
export interface StatsByDay {
  /** Oldest first, a row for each day. */
  readonly days: readonly DayStats[];
  /** Of the whole schema, the largest first; none where the statistics are of a scope or tenant. */
  readonly tables: readonly TableSize[];
}

const inputSchema = z.strictObject({
  by: z.literal("day"),
  ...{ scope: scopeField, tenantId: tenantField },
  days: z.int().min(1).max(366).default(30),
});

interface Selection {
  /** Which rows of a table that bears the ids of a scope. */
  readonly within: (row: "e" | "t" | "x") => Sql;
  /** The first day, and how many there are. */
  readonly since: Date;
  readonly days: number;
}

/** @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED` */
export async function statsByDay(db: Database, now: Date, input: StatsByDayOf): Promise<StatsByDay> {
  const { days, scope, tenantId } = parseListed(inputSchema, input, "statistics");
  const today = Math.floor(now.getTime() / dayMs) * dayMs;
  const since = new Date(today - (days - 1) * dayMs);
  const selection: Selection = {
    ...{ since, days },
    within: (row) =>
      scope ? withinScope(scopeColumns(scope), row) : ofTenant(sql`${column(row)}`, tenantId),
  };
  return asListed({ scope, tenantId }, async () => {
    const memories = await memoriesByDay(db, selection);
    const writes = await writesByDay(db, selection);
    const turns = new Map((await turnsByDay(db, selection)).map(({ day, ...counts }) => [day, counts]));
    const tokens = await tokensByDay(db, selection);
    const units = tokens.map(({ day, units: value }) => ({ day, name: "units", value }));
    const whole = scope === undefined && tenantId === undefined;
    return {
      days: Array.from({ length: days }, (_, index): DayStats => {
        const day = new Date(since.getTime() + index * dayMs).toISOString().slice(0, 10);
        return {
          day,
          memoriesByKind: countsUntil(memories, day),
          writesByOutcome: countsOf(writes, day),
          ...(turns.get(day) ?? { recalls: 0, recallsWithMemory: 0, recallLatencyMs: null }),
          tokens: countsOf(tokens, day),
          energyUnits: countsOf(units, day).units ?? 0,
        };
      }),
      tables: whole ? await tableSizes(db) : [],
    };
  });
}

const tenants = { e: sql`e.tenant_id`, t: sql`t.tenant_id`, x: sql`x.tenant_id` };
const column = (row: keyof typeof tenants) => tenants[row];

/** How often something was counted on a day. */
interface DayCount {
  readonly [column: string]: unknown;
  readonly day: string;
  readonly name: string;
  readonly value: number;
}

type Count = Pick<DayCount, "day" | "name" | "value">;

function countsOf(counts: readonly Count[], day: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { day: of, name, value } of counts) if (of === day) sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

function countsUntil(counts: readonly Count[], day: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { day: of, name, value } of counts) if (of <= day) sums[name] = (sums[name] ?? 0) + value;
  return sums;
}

const dayOf = (at: Sql) => sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD')`;

async function memoriesByDay(db: Connection, { within }: Selection): Promise<DayCount[]> {
  return db.query<DayCount>(sql`
    select ${dayOf(sql`x.created_at`)} as day, x.kind as name, count(*)::int as value from ${db.schema}.memory x
    where ${within("x")} and x.state = 'active' and (x.expires_at is null or x.expires_at > ${db.now()})
    group by 1, 2`);
}

async function writesByDay(db: Connection, { within, since }: Selection): Promise<DayCount[]> {
  return db.query<DayCount>(sql`
    select ${dayOf(sql`e.created_at`)} as day, case when e.op = 'classify' then 'rejected' else e.op end as name,
      count(*)::int as value
    from ${db.schema}.event e
    where ${within("e")} and e.created_at >= ${since}
      and case when e.op = 'classify' then e.status = 'skipped' else e.status = 'ok' and e.op not in ('search', 'resume') end
    group by 1, 2`);
}

type TurnCounts = Pick<DayStats, "day" | "recalls" | "recallsWithMemory" | "recallLatencyMs">;

async function turnsByDay(db: Connection, { within, since }: Selection): Promise<TurnCounts[]> {
  return db.query<TurnCounts & Record<string, unknown>>(sql`
    select day, recalls, "recallsWithMemory",
      case when took is not null then json_build_object('p50', took[1], 'p95', took[2]) end as "recallLatencyMs"
    from (
      select ${dayOf(sql`s.created_at`)} as day, count(*)::int as recalls,
        count(*) filter (where s.memory_ids <> '{}')::int as "recallsWithMemory",
        percentile_cont(array[0.5, 0.95]) within group (order by s.recall_ms) as took
      from ${db.schema}.shown s join ${db.schema}.thread t on t.id = s.thread_ref
      where ${within("t")} and s.created_at >= ${since}
      group by 1
    ) d`);
}

async function tokensByDay(
  db: Connection,
  { within, since }: Selection,
): Promise<(DayCount & { readonly units: number })[]> {
  return db.query<DayCount & { readonly units: number }>(sql`
    select ${dayOf(sql`x.created_at`)} as day, x.kind as name,
      sum(x.input_tokens + x.output_tokens)::float8 as value, sum(x.units)::float8 as units
    from ${db.schema}.usage x where ${within("x")} and x.created_at >= ${since}
    group by 1, 2`);
}
