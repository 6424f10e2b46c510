import sql, { join, raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { pageRowsField } from "../input/parse-input.js";
import { askAgainMs, consentRules } from "../memories/consent/consent-policy.rule.js";
import { type ConsentRequest, consentStatuses } from "../memories/consent/consent-request.rule.js";
import { consentColumns } from "../memories/consent/consent-statements.js";
import type { MemoryDraft } from "../memories/item/memory.js";
import { isActive } from "../memories/item/memory-row.js";
import { eventNode } from "../observability/events/event-log.js";
import { jsonRow, readRow, without } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import { isAfter, requireEnd } from "../scope/page-bookmark.js";
import { type Scope, scopeField, type ThreadAddress, tenantField } from "../scope/scope.js";
import { belongsTo, isId, ofTenant, scopeOf, uuidOf } from "../scope/scope-predicates.js";

const requestColumns = without(consentColumns, "slot", "normalValue", "contentHash");

interface ConsentRow {
  readonly request: readonly unknown[];
  readonly current: string | null;
}

function selectedRequest(db: Connection): Sql {
  return sql`${jsonRow(requestColumns, "c", { status: consentStatus(db) })} as request, ${currentValue(db)} as current`;
}

/** Conditions of literals: with parameters, a generic plan uses no partial index of a status. */
function hasStatus(db: Connection, statuses: readonly ConsentRequest["status"][]): Sql {
  const isOverdue = sql`c.status = 'pending' and c.expires_at <= ${db.now()}`;
  const conditions = consentStatuses
    .filter((status) => statuses.includes(status))
    .map((status) => {
      if (status === "pending") return sql`(c.status = 'pending' and c.expires_at > ${db.now()})`;
      if (status === "expired") return sql`(c.status = 'expired' or ${isOverdue})`;
      return raw(`c.status = '${status}'`);
    });
  return sql`(${join([sql`false`, ...conditions], " or ")})`;
}

/** Overdue requests read as expired before the sweep marks them. */
function consentStatus(db: Connection): Sql {
  return sql`case when c.status = 'pending' and c.expires_at <= ${db.now()} then 'expired' else c.status end`;
}

function currentValue(db: Connection): Sql {
  return sql`(
    select coalesce(m.value, m.content) from ${db.schema}.memory m
    where m.owner_ref = c.owner_ref and ${isId(sql`m.app_id`, sql`c.app_id`)}
      and m.category = c.category and m.key = c.key and ${isActive(db)}
  )`;
}

/** A user's scope neither sees nor decides its app's requests: they change what all users see. */
const isDecidedIn = (db: Connection, scope: Scope): Sql =>
  sql`${belongsTo(db, scope, "c")} and c.user_id = ${scope.userId ?? ""}`;

function consentOf({ request, current }: ConsentRow): DraftedConsent {
  const { tenantId, userId, appId, draft, signals, ...columns } = readRow(requestColumns, request);
  const { text, value = null, source = null } = draft;
  const scope = scopeOf({ tenant_id: tenantId, user_id: userId, app_id: appId });
  const decidedAt = columns.decidedAt ?? (columns.status === "expired" ? columns.expiresAt : null);
  const described = { scope, text, value, current, source, decidedAt, signals: signals.length };
  return { request: { ...columns, ...described }, draft };
}

export const consentListing = z.strictObject({
  scope: scopeField,
  /** Only this tenant. @default all tenants */
  tenantId: tenantField,
  /** @default ["pending"] */
  status: z.array(z.enum(consentStatuses)).readonly().optional(),
  /** What requests wait for. @default both */
  rule: z.enum(consentRules).optional(),
  /**
   * Only requests that may be asked about now: not postponed, not waiting for signals.
   * @default false
   */
  due: z.boolean().optional(),
  /** Rows. @default 100 */
  limit: pageRowsField,
  /** Id of the last request of the previous page. */
  after: z.string().optional(),
});

export interface ConsentListing extends Omit<z.input<typeof consentListing>, "scope"> {
  /** @default everybody's, for operators */
  readonly scope?: Scope | undefined;
}

export interface DraftedConsent {
  readonly request: ConsentRequest;
  readonly draft: MemoryDraft;
}

export async function findConsent(
  db: Connection,
  scope: Scope,
  id: string,
): Promise<DraftedConsent | null> {
  const [row] = await db.query<ConsentRow>(sql`
    select ${selectedRequest(db)} from ${db.schema}.consent_request c
    where c.id = ${uuidOf(id)}::uuid and ${isDecidedIn(db, scope)}`);
  return row ? consentOf(row) : null;
}

export async function listConsents(
  db: Connection,
  listing: ConsentListing,
): Promise<ConsentRequest[]> {
  const { scope, status, rule, due, limit, after } = listing;
  const isVisible = scope ? isDecidedIn(db, scope) : ofTenant(sql`c.tenant_id`, listing.tenantId);
  const table = sql`${db.schema}.consent_request`;
  const bookmark = { table, alias: raw("c"), after, what: "a request", isListed: isVisible };
  const rows = await db.query<ConsentRow>(sql`
    select ${selectedRequest(db)} from ${table} c
    where ${isVisible} and ${isAfter(bookmark)}
      and ${hasStatus(db, status ?? ["pending"])}
      and (${rule ?? null}::text is null or c.rule = ${rule ?? null})
      and (not ${due ?? false}::boolean or (c.rule = 'consent' and c.ask_at <= ${db.now()}))
    order by c.ref desc
    limit ${limit ?? 100}`);
  if (rows.length === 0) await requireEnd(db, bookmark);
  return rows.map((row) => consentOf(row).request);
}

const askAgainAt = (db: Connection): Sql =>
  sql`${db.now()} + ${askAgainMs} * interval '1 millisecond'`;

/** Requests to ask about by an interrupt. */
export interface ConsentAsk extends ThreadAddress {
  /** The same when the interrupted run resumes, another one in a new run. */
  readonly taskId: string;
  readonly limit: number;
}

/**
 * What `taskId` asked and is not decided; if it never asked, what is due and arose in this thread,
 * or in none: newest first. No other run asks about it for a day, so that a user who writes on is
 * answered.
 */
export async function askConsents(db: Connection, ask: ConsentAsk): Promise<ConsentRequest[]> {
  const { scope, threadId, taskId, limit } = ask;
  const table = sql`${db.schema}.consent_request`;
  const isOwn = isDecidedIn(db, scope);
  const isPending = sql`c.rule = 'consent' and ${consentStatus(db)} = 'pending'`;
  const rows = await db.query<ConsentRow>(sql`
    with again as (select c.ref from ${table} c where ${isOwn} and c.asked_by = ${taskId}),
    due as (
      select c.ref from ${table} c
      where ${isOwn} and ${isPending} and c.ask_at <= ${db.now()} and not exists (select from again)
        and coalesce(c.draft -> 'source' ->> 'threadId', c.asked_in, ${threadId}) = ${threadId}
      order by c.ref desc limit ${limit}
    ),
    asked as (
      update ${table} c
      set asked_in = ${threadId}, asked_by = ${taskId}, ask_at = ${askAgainAt(db)}
      from due where c.ref = due.ref
      returning c.ref
    )
    select ${selectedRequest(db)} from ${table} c
    where c.ref in (select ref from again union select ref from asked) and ${isPending}
    order by c.ref desc`);
  return rows.map((row) => consentOf(row).request);
}

export async function postponeConsent(db: Connection, scope: Scope, id: string): Promise<void> {
  await db.query(sql`
    update ${db.schema}.consent_request c set ask_at = ${askAgainAt(db)}
    where c.id = ${uuidOf(id)}::uuid and c.status = 'pending' and ${isDecidedIn(db, scope)}`);
}

export async function hasExpiredConsents(db: Connection): Promise<boolean> {
  const [row] = await db.query<{ due: boolean }>(sql`
    select exists (
      select from ${db.schema}.consent_request where status = 'pending' and expires_at <= ${db.now()}
    ) as due`);
  return row?.due ?? false;
}

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
