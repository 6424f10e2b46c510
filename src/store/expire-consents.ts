import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { eventNode } from "../domain/event-step.js";

/** Whether a request's time is over that is still marked as waiting. */
export async function hasExpiredConsents(db: Connection): Promise<boolean> {
  const [row] = await db.query<{ due: boolean }>(sql`
    select exists (
      select from ${db.schema}.consent_request where status = 'pending' and expires_at <= ${db.now()}
    ) as due`);
  return row?.due ?? false;
}

/** Marks requests whose time is over as expired, at most `limit`, with an event for each. Returns how many. */
export async function expireConsents(db: Connection, limit: number): Promise<number> {
  const [row] = await db.query<{ expired: number }>(sql`
    with due as (
      select ref from ${db.schema}.consent_request
      where status = 'pending' and expires_at <= ${db.now()}
      order by expires_at limit ${limit} for update skip locked
    ),
    expired as (
      update ${db.schema}.consent_request c set status = 'expired', decided_at = c.expires_at
      from due where c.ref = due.ref
      returning c.tenant_id, c.user_id, c.app_id, c.category
    ),
    event as (
      insert into ${db.schema}.event (tenant_id, user_id, app_id, node, step, op, status, category, created_at)
      select tenant_id, user_id, app_id, ${eventNode("consent")}, 'consent', 'expire', 'ok', category, ${db.now()} from expired
    )
    select count(*)::int as expired from expired`);
  return row?.expired ?? 0;
}
