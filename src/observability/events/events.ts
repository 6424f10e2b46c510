import sql, { join, type Sql } from "sql-template-tag";
import { z } from "zod";
import { pageRowsField, parseInput, storableDate, storableText } from "../../input/parse-input.js";
import type { Connection } from "../../postgres/connection.js";
import { parseScopeIn, type Scope, scopeField } from "../../scope/scope.js";
import { type ScopeRow, scopeColumns, scopeOf, withinScope } from "../../scope/scope-predicates.js";
import { eventOps, eventParts, eventSteps } from "./event-log.js";

/** Keys of counts. "day" is the day in UTC, as "2030-05-01". */
export const eventFields = ["op", "node", "step", "status", "category", "detail", "day"] as const;

type EventField = (typeof eventFields)[number];

/** A filter of events; `since` is inclusive, `until` exclusive. */
type EventSelection = z.input<typeof selectionSchema>;

export type EventCount = Readonly<Partial<Record<EventField, string | null>>> & {
  readonly count: number;
};

const eventColumns: Readonly<Record<EventField, Sql>> = {
  op: sql`e.op`,
  node: sql`e.node`,
  step: sql`e.step`,
  status: sql`e.status`,
  category: sql`e.category`,
  detail: sql`e.detail`,
  day: sql`to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD')`,
};

function selectedEvents({ scope, since, until, ...equal }: EventSelection): Sql {
  const conditions = [scope ? withinScope(scopeColumns(scope), "e") : sql`true`];
  if (since) conditions.push(sql`e.created_at >= ${since}::timestamptz`);
  if (until) conditions.push(sql`e.created_at < ${until}::timestamptz`);
  for (const [field, column] of Object.entries(filterColumns)) {
    const value = equal[field as keyof typeof equal];
    if (value !== undefined) conditions.push(sql`${column} = ${value}`);
  }
  return join(conditions, " and ");
}

const filterColumns = {
  ...eventColumns,
  threadId: sql`e.thread_id`,
  agentId: sql`e.agent_id`,
  runId: sql`e.run_id`,
};

export interface RecordedEvent {
  readonly id: number;
  readonly scope: Scope | null;
  readonly threadId: string | null;
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly node: string;
  readonly step: string;
  readonly op: string;
  readonly status: "ok" | "error" | "skipped";
  readonly detail: string | null;
  readonly memoryId: string | null;
  readonly category: string | null;
  readonly similarity: number | null;
  readonly at: Date;
}

/**
 * What happened in memory, without content: every search, write and decision, failed and skipped
 * ones too. `node` is the part of the system: "context" (recall for a turn), "hotpath" (writing
 * what was said), "episodic" (episodes), "worker" (background maintenance), "governance"
 * (decisions). `step` is the code within it.
 */
export interface EventsApi {
  /**
   * Most frequent first: `{ op: "create", node: "hotpath", count }`.
   * @example
   * ```ts
   * for (const { op, count } of await memory.events.count({ scope: { userId: "ana" }, by: "op" }))
   *   console.log(op, count);
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  count(
    selection: EventSelection & { readonly by: EventField | readonly EventField[] },
  ): Promise<EventCount[]>;
  /**
   * Latest first.
   * @example
   * ```ts
   * const latest = await memory.events.list({ scope: { userId: "ana" }, limit: 20 });
   * ```
   * @param selection.limit 1 to 1,000. @default 100
   * @param selection.before only events before this id: the last of the previous page
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  list(selection?: z.input<typeof listEventsSchema>): Promise<RecordedEvent[]>;
}

const selectionSchema = z.object({
  scope: scopeField,
  threadId: storableText.optional(),
  agentId: storableText.optional(),
  runId: storableText.optional(),
  since: storableDate.optional(),
  until: storableDate.optional(),
  op: z.enum(eventOps).optional(),
  node: z.enum(eventParts).optional(),
  step: z.enum(eventSteps).optional(),
  status: z.enum(["ok", "error", "skipped"]).optional(),
});
const eventField = z.enum(eventFields);
const countSchema = z.strictObject({
  ...selectionSchema.shape,
  by: z.union([eventField.transform((name) => [name]), z.array(eventField).min(1)]),
});
const listEventsSchema = z.strictObject({
  ...selectionSchema.shape,
  limit: pageRowsField,
  before: z.int().min(0).optional(),
});

export function createEventsApi(db: Connection): EventsApi {
  return {
    async count(selection) {
      const { by, ...filter } = parseInput(countSchema, selection, "selection of events");
      const counted = by.map((field) => eventColumns[field]);
      const isSelected = selectedEvents({ ...filter, scope: parseScopeIn(selection) });
      const rows = await db.query<{ values: (string | null)[]; count: number }>(sql`
        select values, count(*)::int as count
        from (select array[${join(counted)}]::text[] as values from ${db.schema}.event e where ${isSelected}) e
        group by values order by count(*) desc, values`);
      return rows.map(({ values, count }) => {
        const keys: Omit<EventCount, "count"> = Object.fromEntries(
          by.map((field, index) => [field, values[index]]),
        );
        return { ...keys, count };
      });
    },
    async list(selection = {}) {
      const input = parseInput(listEventsSchema, selection, "selection of events");
      const { limit, before = null, ...filter } = input;
      const isSelected = selectedEvents({ ...filter, scope: parseScopeIn(selection) });
      const rows = await db.query<
        Omit<RecordedEvent, "id" | "scope"> & ScopeRow & { id: string }
      >(sql`
        select e.id, e.tenant_id, e.user_id, e.app_id, e.thread_id as "threadId", e.agent_id as "agentId",
          e.run_id as "runId", e.node, e.step, e.op, e.status, e.detail, e.memory_id as "memoryId", e.category,
          e.similarity, e.created_at as at
        from ${db.schema}.event e
        where ${isSelected} and e.id < coalesce(${before}::bigint, 9223372036854775807)
        order by e.id desc limit ${limit}`);
      return rows.map(({ id, tenant_id, user_id, app_id, ...event }) => ({
        ...event,
        id: Number(id),
        scope: user_id === "" && app_id === "" ? null : scopeOf({ tenant_id, user_id, app_id }),
      }));
    },
  };
}
