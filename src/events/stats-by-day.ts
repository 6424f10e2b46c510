import sql, { type Sql } from "sql-template-tag";
import { dayMs } from "../clock.js";
import type { Connection } from "../postgres/connection.js";
import { isSelected, type StatsSelection } from "./stats-selection.js";

/** What memory did on a day. */
export interface DayStats {
  /** In UTC, as "2030-05-01". */
  readonly day: string;
  /** Memories in use now that were there by the end of the day, by kind. */
  readonly memoriesByKind: Readonly<Record<string, number>>;
  /** Events of writing by outcome, such as "create", "merge" or "ttl"; "rejected" for what was not written. */
  readonly writesByOutcome: Readonly<Record<string, number>>;
  /** Turns that were told of memory, and those of them that were shown any. */
  readonly recalls: number;
  readonly recallsWithMemory: number;
  /** Duration of the recalls of those turns; null where none was timed. */
  readonly recallLatencyMs: { readonly p50: number; readonly p95: number } | null;
  /** Input and output together, by kind of background work. */
  readonly tokens: Readonly<Record<string, number>>;
  readonly energyUnits: number;
}

/** How memory went over time. */
export interface StatsByDay {
  /** Oldest first, a row for each day in UTC, today being the last. */
  readonly days: readonly DayStats[];
}

/** What was counted on a day, by name. */
interface Count {
  readonly [column: string]: unknown;
  readonly what: "memories" | "writes" | "turns" | "tokens" | "units";
  readonly day: string;
  readonly name: string;
  readonly value: number;
}

/** A row for each day of `selection`. */
export async function statsByDay(db: Connection, now: Date, selection: StatsSelection): Promise<StatsByDay> {
  const today = Math.floor(now.getTime() / dayMs) * dayMs;
  const since = new Date(today - (selection.days - 1) * dayMs);
  const counts = await findCounts(db, selection, since);
  const sums = (what: Count["what"], isCounted: (day: string) => boolean) => {
    const found: Record<string, number> = {};
    for (const { name, value } of counts.filter((each) => each.what === what && isCounted(each.day))) {
      found[name] = (found[name] ?? 0) + value;
    }
    return found;
  };
  const days = Array.from({ length: selection.days }, (_, index): DayStats => {
    const day = new Date(since.getTime() + index * dayMs).toISOString().slice(0, 10);
    const of = (what: Count["what"]) => sums(what, (each) => each === day);
    const { recalls = 0, shown = 0, p50, p95 } = of("turns");
    return {
      day,
      memoriesByKind: sums("memories", (each) => each <= day),
      writesByOutcome: of("writes"),
      ...{ recalls, recallsWithMemory: shown },
      recallLatencyMs: p50 === undefined || p95 === undefined ? null : { p50, p95 },
      ...{ tokens: of("tokens"), energyUnits: of("units").units ?? 0 },
    };
  });
  return { days };
}

const dayOf = (at: Sql) => sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD')`;

async function findCounts(db: Connection, selection: StatsSelection, since: Date): Promise<Count[]> {
  const { schema } = db;
  const within = (row: "e" | "t" | "x") => isSelected(selection, row);
  return db.query<Count>(sql`
    select 'memories' as what, ${dayOf(sql`x.created_at`)} as day, x.kind as name, count(*)::float8 as value
    from ${schema}.memory x
    where ${within("x")} and x.state = 'active' and (x.expires_at is null or x.expires_at > ${db.now()})
    group by 2, 3
    union all
    select 'writes', ${dayOf(sql`e.created_at`)}, case when e.op = 'classify' then 'rejected' else e.op end, count(*)
    from ${schema}.event e
    where ${within("e")} and e.created_at >= ${since}
      and case when e.op = 'classify' then e.status = 'skipped' else e.status = 'ok' and e.op not in ('search', 'resume') end
    group by 2, 3
    union all
    select 'turns', d.day, v.name, v.value
    from (
      select ${dayOf(sql`s.created_at`)} as day, count(*) as recalls, count(*) filter (where s.memory_ids <> '{}') as shown,
        percentile_cont(array[0.5, 0.95]) within group (order by s.recall_ms) as took
      from ${schema}.shown s join ${schema}.thread t on t.id = s.thread_ref
      where ${within("t")} and s.created_at >= ${since}
      group by 1
    ) d
    cross join lateral (
      values ('recalls', d.recalls::float8), ('shown', d.shown::float8), ('p50', d.took[1]), ('p95', d.took[2])
    ) v (name, value)
    where v.value is not null
    union all
    select v.what, d.day, v.name, v.value
    from (
      select ${dayOf(sql`x.created_at`)} as day, x.kind, sum(x.input_tokens + x.output_tokens) as tokens, sum(x.units) as units
      from ${schema}.usage x where ${within("x")} and x.created_at >= ${since}
      group by 1, 2
    ) d
    cross join lateral (values ('tokens', d.kind, d.tokens::float8), ('units', 'units', d.units::float8)) v (what, name, value)`);
}
