import sql, { type Sql } from "sql-template-tag";
import type { TokenUsage } from "../models/token-usage.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import {
  idDigest,
  isId,
  ownerColumns,
  ownerIs,
  scopeColumns,
  threadIs,
  withinScope,
} from "../scope/scope-predicates.js";
import { type LeftUnits, refillShare } from "./energy-level.rule.js";
import { type EnergyOptions, keepUsageDays, tokensPerUnit } from "./energy-options.js";

/** What a background call of a model is for. The last four can wait: they are put off while a tenant's energy is low. */
export type UsageKind =
  | ("summary" | "facts" | "episode" | "procedure")
  | ("note" | "compaction" | "insights" | "consolidation");

/** Whose a call is, and what it is for. */
export interface UsageOf {
  readonly scope: Scope;
  readonly threadId?: string | undefined;
  readonly kind: UsageKind;
}

/** A call of a model, and what it took. */
interface ChargedCall extends UsageOf, TokenUsage {
  /** A UUID: the same call is charged once, however often it is sent. */
  readonly id: string;
}

/**
 * Writes down what a call took, and takes it from its tenant's energy, which is refilled first. One statement.
 *
 * Of a user or a thread that was forgotten meanwhile the row says nothing.
 */
export async function chargeCall(
  db: Connection,
  call: ChargedCall,
  { capacityUnits: capacity }: Pick<EnergyOptions, "capacityUnits">,
): Promise<void> {
  const { schema } = db;
  const { id, scope, threadId = null, kind, inputTokens, outputTokens } = call;
  const { tenantId, userId, appId } = scopeColumns(scope);
  const units = (inputTokens + outputTokens) / tokensPerUnit;
  await db.query(
    sql`
    with place as (
      select exists (select from ${schema}.thread t where ${threadIs(tenantId, threadId)}) as thread,
        exists (select from ${schema}.owner o where ${ownerIs(ownerColumns(scope))}) as owner
    ),
    charged as (
      insert into ${schema}.usage
        (id, tenant_id, user_id, app_id, thread_id, kind, input_tokens, output_tokens, units, created_at)
      select ${id}::uuid, ${tenantId}, case when p.thread or p.owner then ${userId} else '' end,
        case when p.thread or p.owner then ${appId} else '' end, case when p.thread then ${threadId} end,
        ${kind}, ${inputTokens}::integer, ${outputTokens}::integer, ${units}::float8, ${db.now()}
      from place p
      on conflict (id) do nothing
      returning 1
    )
    insert into ${schema}.energy as e (tenant_id, units, refilled_at, capacity_units, refill_units_per_hour)
    select ${tenantId}, ${capacity}::float8 - ${units}::float8, ${db.now()}, ${capacity}::float8,
      ${capacity}::float8 * ${refillShare}::float8
    from charged where ${capacity}::float8 is not null
    on conflict (${idDigest(sql`tenant_id`)}) do update set
      units = ${refilledUnits(sql`excluded.refilled_at`, sql`excluded`)} - ${units}::float8,
      -- Clocks of two machines differ: what was refilled is not refilled again.
      refilled_at = greatest(e.refilled_at, excluded.refilled_at),
      capacity_units = excluded.capacity_units,
      refill_units_per_hour = excluded.refill_units_per_hour`,
    { prepare: true },
  );
}

/** Units added up as decimals: 20.7 and 4.56 are 25.26. */
const sumOfUnits = (units: Sql): Sql => sql`sum(${units}::numeric)::float8`;

/** What the row `e` of `energy` has at a time, as the rule `energyLevel` reckons it. @param by the row whose settings count. */
function refilledUnits(at: Sql, by: Sql): Sql {
  return sql`least(
    ${by}.capacity_units,
    e.units + greatest(0, extract(epoch from ${at} - e.refilled_at))::float8 / 3600 * ${by}.refill_units_per_hour
  )`;
}

/** What is left of a tenant's energy, and the time now. Null: it was never charged, or is full. */
export async function findLeft(
  db: Connection,
  tenantId: string,
): Promise<{ readonly left: LeftUnits | null; readonly now: Date }> {
  const [row] = await db.query<{ now: Date; units: number | null; elapsed_ms: number | null }>(sql`
    select n.now, e.units, (extract(epoch from n.now - e.refilled_at) * 1000)::float8 as elapsed_ms
    from (select ${db.now()} as now) n
    left join ${db.schema}.energy e on ${isId(sql`e.tenant_id`, tenantId)}`);
  const { now = new Date(), units = null, elapsed_ms: elapsedMs = null } = row ?? {};
  return { now, left: units === null || elapsedMs === null ? null : { units, elapsedMs } };
}

/** The beginning of today, in UTC. */
const today = (db: Connection): Sql =>
  sql`(date_trunc('day', ${db.now()} at time zone 'UTC') at time zone 'UTC')`;

/**
 * Tokens that calls of a kind took today, by UTC, for what has a cap a day: of a user, of a user within an app, of
 * an app with all its users, or of a whole tenant, `{ tenantId }`. `endsAt` is when the day ends.
 */
export async function spentToday(
  db: Connection,
  { scope, kind }: { readonly scope: Scope; readonly kind: UsageKind },
): Promise<{ readonly tokens: number; readonly endsAt: Date }> {
  const [row] = await db.query<{ tokens: number; ends_at: Date }>(sql`
    select coalesce(sum(x.input_tokens::bigint + x.output_tokens), 0)::float8 as tokens,
      ${today(db)} + interval '24 hours' as ends_at
    from ${db.schema}.usage x
    where ${withinScope(scopeColumns(scope), "x")} and x.created_at >= ${today(db)} and x.kind = ${kind}`);
  const { tokens, ends_at: endsAt } = row as NonNullable<typeof row>;
  return { tokens, endsAt };
}

/** The energy of the tenants that a reader sees. */
export interface EnergyToday {
  /** 0 to 100: of a scope its tenant's level, of all the lowest one. By the settings of who charged last. */
  readonly level: number;
  /** Units used since midnight in UTC. */
  readonly unitsToday: number;
  /** Calls of models since then. */
  readonly callsToday: number;
}

/**
 * What is left to a tenant and what was used today.
 *
 * @param of.tenantId whose level. @default of all tenants the lowest
 * @param of.used condition of the rows `x` of `usage`.
 */
export async function findEnergyToday(
  db: Connection,
  of: { readonly tenantId?: string | undefined; readonly used: Sql },
): Promise<EnergyToday> {
  const { schema } = db;
  const ofTenant = of.tenantId === undefined ? sql`true` : isId(sql`e.tenant_id`, of.tenantId);
  const [row] = await db.query<{ share: number | null; units: number; calls: number }>(sql`
    select (
        select min(${refilledUnits(db.now(), sql`e`)} / e.capacity_units) from ${schema}.energy e where ${ofTenant}
      ) as share, coalesce(${sumOfUnits(sql`x.units`)}, 0) as units, count(*)::int as calls
    from ${schema}.usage x where ${of.used} and x.created_at >= ${today(db)}`);
  const { share, units = 0, calls = 0 } = row ?? {};
  return { level: Math.max(0, (share ?? 1) * 100), unitsToday: units, callsToday: calls };
}

/** What background calls of one kind used. */
export interface UsedByKind {
  /** "summary", "facts", "episode", "procedure", "note", "compaction", "insights" or "consolidation". */
  readonly kind: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly units: number;
}

/** What the calls of the rows `x` of `usage` used of which `used` holds, most units first. */
export async function findUsedByKind(db: Connection, used: Sql): Promise<UsedByKind[]> {
  return db.query<UsedByKind & Record<string, unknown>>(sql`
    select x.kind, count(*)::int as calls, sum(x.input_tokens)::float8 as "inputTokens",
      sum(x.output_tokens)::float8 as "outputTokens", ${sumOfUnits(sql`x.units`)} as units
    from ${db.schema}.usage x where ${used}
    group by x.kind order by units desc, x.kind`);
}

/** Rows deleted by one statement, some 50 ms. */
const trimmedAtOnce = 5_000;

/** Deletes what old calls took, of a scope or of all, and rows of tenants that are full again. */
export async function trimUsage(db: Connection, scope?: Scope): Promise<void> {
  const { schema } = db;
  const within = scope ? withinScope(scopeColumns(scope), "x") : sql`true`;
  for (;;) {
    const [row] = await db.query<{ trimmed: number }>(sql`
      with trimmed as (
        delete from ${schema}.usage d where d.id = any (array(
          select x.id from ${schema}.usage x
          where ${within} and x.created_at < ${db.now()} - ${keepUsageDays}::int * interval '1 day'
          order by x.created_at limit ${trimmedAtOnce} for update skip locked
        ))
        returning 1
      )
      select count(*)::int as trimmed from trimmed`);
    if ((row?.trimmed ?? 0) < trimmedAtOnce) break;
  }
  if (scope) return;
  await db.query(sql`
    delete from ${schema}.energy e where ${refilledUnits(db.now(), sql`e`)} >= e.capacity_units`);
}
