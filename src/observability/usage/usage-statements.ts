import sql, { raw, type Sql } from "sql-template-tag";
import type { TokenUsage } from "../../models/token-usage.js";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import {
  ownerColumns,
  ownerIs,
  scopeColumns,
  threadIs,
  withinScope,
} from "../../scope/scope-predicates.js";
import { keepDays, refillMs, tokensPerUnit } from "./energy-options.js";

/** The kind of work that a call was for. The last four wait while a tenant's energy is low. */
export type UsageKind =
  | ("summaries" | "facts" | "episodes" | "procedure")
  | ("notes" | "compaction" | "insights" | "consolidation");

export interface UsageOf {
  readonly scope: Scope;
  readonly threadId?: string | undefined;
  readonly kind: UsageKind;
}

/**
 * Records the tokens of a call once by its id, a UUID, without the ids of a user or thread that was
 * forgotten meanwhile.
 */
export async function chargeCall(
  db: Connection,
  call: UsageOf & TokenUsage & { id: string },
): Promise<void> {
  const { schema } = db;
  const { id, scope, threadId = null, kind, inputTokens, outputTokens } = call;
  const { tenantId, userId, appId } = scopeColumns(scope);
  await db.query(
    sql`
    with place as (
      select exists (select from ${schema}.thread t where ${threadIs(tenantId, threadId)}) as thread,
        exists (select from ${schema}.owner o where ${ownerIs(ownerColumns(scope))}) as owner
    )
    insert into ${schema}.usage
      (id, tenant_id, user_id, app_id, thread_id, kind, input_tokens, output_tokens, units, created_at)
    select ${id}::uuid, ${tenantId}, case when p.thread or p.owner then ${userId} else '' end,
      case when p.thread or p.owner then ${appId} else '' end, case when p.thread then ${threadId} end,
      ${kind}, ${inputTokens}::integer, ${outputTokens}::integer, ${(inputTokens + outputTokens) / tokensPerUnit}::float8,
      ${db.now()}
    from place p
    on conflict (id) do nothing`,
    { prepare: true },
  );
}

export const today = (db: Connection): Sql =>
  sql`(date_trunc('day', ${db.now()} at time zone 'UTC') at time zone 'UTC')`;

/**
 * Tokens today, by UTC, of a user, app or tenant (`{ tenantId }`); `endsAt` is the end of the day.
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

/** The units that one tenant spent since the last refill, of those that spent most. */
export const maxSpent = (db: Connection, counted: Sql = sql`true`): Sql => sql`
        select max(u.units) from (
          select sum(x.units::numeric) as units from ${db.schema}.usage x
          where x.created_at > ${db.now()} - ${refillMs}::float8 * interval '1 millisecond' and x.created_at <= ${db.now()}
            and ${counted}
          group by x.tenant_id
        ) u`;

/** Some 50 ms. */
const rowsPerDelete = 5_000;

/** Deletes calls and events older than `keepDays`. */
export async function trimRecords(db: Connection): Promise<void> {
  for (const table of ["usage", "event"]) {
    for (let trimmed = rowsPerDelete; trimmed === rowsPerDelete; ) {
      const rows = await db.query(sql`
        delete from ${db.schema}.${raw(table)} d where d.id = any (array(
          select x.id from ${db.schema}.${raw(table)} x
          where x.created_at < ${db.now()} - ${keepDays}::int * interval '1 day'
          order by x.created_at limit ${rowsPerDelete} for update skip locked
        ))
        returning 1`);
      trimmed = rows.length;
    }
  }
}
