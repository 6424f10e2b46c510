import sql, { join, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { eventPart, eventStep } from "./event-columns.js";
import { scopeColumns } from "./scope-columns.js";
import { withinScope } from "./within-scope.js";

/** What events can be counted by. "day" is the day in UTC, as "2030-05-01". */
export const eventFields = ["op", "node", "step", "status", "category", "detail", "day"] as const;

/** What events can be counted by. */
export type EventField = (typeof eventFields)[number];

/** Which events: unset fields leave none out. */
export interface EventSelection {
  readonly scope?: Scope;
  readonly threadId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  /** Not before. */
  readonly since?: Date | undefined;
  /** Before. */
  readonly until?: Date | undefined;
  readonly op?: string | undefined;
  readonly node?: string | undefined;
  readonly step?: string | undefined;
  readonly status?: "ok" | "error" | "skipped" | undefined;
}

/** How many events have the same fields. */
export type EventCount = Readonly<Partial<Record<EventField, string | null>>> & { readonly count: number };

const columns: Readonly<Record<EventField, Sql>> = {
  op: sql`e.op`,
  node: eventPart,
  step: eventStep,
  status: sql`e.status`,
  category: sql`e.category`,
  detail: sql`e.detail`,
  day: sql`to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD')`,
};

/** Counts of the selected events by `fields`, most frequent first. */
export async function countEvents(
  db: Connection,
  { fields, ...selection }: EventSelection & { fields: readonly EventField[] },
): Promise<EventCount[]> {
  const values = join(
    fields.map((field) => columns[field]),
    ", ",
  );
  const rows = await db.query<{ values: (string | null)[]; count: number }>(sql`
    select values, count(*)::int as count
    from (select array[${values}]::text[] as values from ${db.schema}.event e where ${selected(selection)}) e
    group by values order by count(*) desc, values`);
  return rows.map(
    (row) =>
      ({
        ...Object.fromEntries(fields.map((field, index) => [field, row.values[index]])),
        count: row.count,
      }) as EventCount,
  );
}

/** Whether the event `e` is selected. A scope without an id has that of any. */
export function selected(selection: EventSelection): Sql {
  const { scope, threadId, agentId, runId, since, until, op, node, step, status } = selection;
  return join(
    [
      scope ? withinScope(scopeColumns(scope), "e") : sql`true`,
      ...(threadId === undefined ? [] : [sql`e.thread_id = ${threadId}`]),
      ...(agentId === undefined ? [] : [sql`e.agent_id = ${agentId}`]),
      ...(runId === undefined ? [] : [sql`e.run_id = ${runId}`]),
      ...(since ? [sql`e.created_at >= ${since}::timestamptz`] : []),
      ...(until ? [sql`e.created_at < ${until}::timestamptz`] : []),
      ...(op === undefined ? [] : [sql`e.op = ${op}`]),
      ...(node === undefined ? [] : [sql`${eventPart} = ${node}`]),
      ...(step === undefined ? [] : [sql`${eventStep} = ${step}`]),
      ...(status === undefined ? [] : [sql`e.status = ${status}`]),
    ],
    " and ",
  );
}
