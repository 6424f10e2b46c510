import sql, { join, type Sql } from "sql-template-tag";
import type { Connection, QueryOptions } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { isId, isSeenFrom, scopeColumns, uuidOf } from "../../scope/scope-predicates.js";
import { refillMs } from "../usage/energy-options.js";

/**
 * "context": recall; "hotpath": writing; "episodic": episodes; "worker": background; "governance":
 * people.
 */
export const eventParts = ["context", "hotpath", "episodic", "worker", "governance"] as const;

export type EventNode = (typeof eventParts)[number];

const eventNodes = {
  recall: "context",
  tool: "context",
  embed: "context",
  rerank: "context",
  remember: "hotpath",
  facts: "hotpath",
  api: "hotpath",
  episodes: "episodic",
  summaries: "worker",
  notes: "worker",
  compaction: "worker",
  insights: "worker",
  consolidation: "worker",
  procedure: "worker",
  lifecycle: "worker",
  database: "worker",
  energy: "worker",
  consent: "governance",
  quarantine: "governance",
  forget: "governance",
  import: "governance",
  merge: "governance",
} as const satisfies Record<string, EventNode>;

export type EventStep = keyof typeof eventNodes;

export const eventSteps = Object.keys(eventNodes) as [EventStep, ...EventStep[]];

export const eventNode = (step: EventStep): EventNode => eventNodes[step];

export interface EventPlace {
  readonly threadId?: string | null | undefined;
  readonly agentId?: string | null | undefined;
  readonly runId?: string | null | undefined;
}

// "ttl": forgotten by age; "resume": the database answers again; "exhaust": a tenant's energy is
// used up; "doubt": what a memory rests on has ended; "dismiss": an operator gives a dead letter up.
export const eventOps = [
  "search",
  "classify",
  "create",
  "update",
  "merge",
  "delete",
  "link",
  "ttl",
  "restore",
  "quarantine",
  "forget",
  "propose",
  "approve",
  "refuse",
  "expire",
  "resume",
  "exhaust",
  "doubt",
  "settle",
  "dismiss",
] as const;

export type EventOp = (typeof eventOps)[number];

/** The step and operation of what nodes and calls do, in events, streams and spans. */
export const actions = {
  recall: { step: "recall", op: "search" },
  remember: { step: "remember", op: "create" },
  query: { step: "tool", op: "search" },
  consent: { step: "consent", op: "approve" },
  database: { step: "database", op: "resume" },
} as const satisfies Record<string, { step: EventStep; op: EventOp }>;

export type Action = keyof typeof actions;

export interface MemoryEvent extends EventPlace {
  readonly scope: Scope;
  readonly step: EventStep;
  readonly op: EventOp;
  readonly status: "ok" | "error" | "skipped";
  readonly detail?: string | undefined;
  readonly memoryId?: string | undefined;
  readonly category?: string | undefined;
  readonly similarity?: number | undefined;
  /** Memories shown to an agent; they count as used if the scope sees them. */
  readonly shownIds?: readonly string[] | undefined;
}

export const insertEvent = (
  db: Connection,
  event: MemoryEvent,
  deadline?: Pick<QueryOptions, "timeoutMs">,
) => insertEvents(db, [event], deadline);

export async function insertEvents(
  db: Connection,
  events: readonly MemoryEvent[],
  { timeoutMs }: Pick<QueryOptions, "timeoutMs"> = {},
): Promise<void> {
  if (events.length === 0) return;
  const shown = events.filter(({ shownIds = [] }) => shownIds.length > 0);
  const insertion = eventsInserted(db, events);
  const statement = shown.length > 0 ? withUsedMemories(db, shown, insertion) : insertion;
  await db.query(statement, { prepare: shown.length < 2, timeoutMs });
}

/** Inserts without counting used memories; a `where` may follow. */
export function eventsInserted(db: Connection, events: readonly MemoryEvent[]): Sql {
  const rows = events.map(({ scope, shownIds: _, ...event }) => {
    return { ...event, ...scopeColumns(scope), node: eventNode(event.step) };
  });
  return sql`
    insert into ${db.schema}.event
      (tenant_id, user_id, app_id, thread_id, agent_id, run_id, node, step, op, status, detail, memory_id, category,
        similarity, created_at)
    select "tenantId", "userId", "appId", "threadId", "agentId", "runId", node, step, op, status, detail, "memoryId", category,
      similarity, ${db.now()}
    from json_to_recordset(${JSON.stringify(rows)}::json) as e (
      "tenantId" text, "userId" text, "appId" text, "threadId" text, "agentId" text, "runId" text, node text, step text, op text, status text, detail text,
      "memoryId" uuid, category text, similarity real
    )`;
}

/** Records that a tenant's budget is used up; false if it was recorded since the last refill. */
export async function recordExhausted(
  db: Connection,
  tenantId: string,
  detail: string,
): Promise<boolean> {
  const event = {
    scope: { tenantId },
    step: "energy",
    op: "exhaust",
    status: "skipped",
    detail,
  } as const;
  const rows = await db.query(sql`
    ${eventsInserted(db, [event])}
    where not exists (
      select from ${db.schema}.event o
      where ${isId(sql`o.tenant_id`, tenantId)} and ${isId(sql`o.user_id`, "")} and o.step = 'energy'
        and o.created_at > ${db.now()} - ${refillMs}::float8 * interval '1 millisecond'
    )
    returning id`);
  return rows.length > 0;
}

/** Skips locked memories, whose writer marks them as used. */
function withUsedMemories(db: Connection, events: readonly MemoryEvent[], insertion: Sql): Sql {
  const shown = events.map(({ scope, shownIds = [] }) => {
    return sql`(m.id = any (${shownIds.map(uuidOf)}::uuid[]) and ${isSeenFrom(scope)})`;
  });
  return sql`
    with used as (
      update ${db.schema}.memory u
      set last_accessed_at = ${db.now()}, access_count = u.access_count + 1
      where u.ref in (
        select m.ref from ${db.schema}.memory m where (${join(shown, " or ")}) and m.state = 'active'
        order by m.ref for update skip locked
      )
    ),
    event as (${insertion})
    select 1 as done`;
}
