import sql, { raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { categoryOfKind } from "../memories/item/category.rule.js";
import { unexpired } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { asListed } from "../postgres/isolation.js";
import { type AppScope, parseAppScope, parseListed, scopeField, tenantField } from "../scope/scope.js";
import { isId, scopeColumns, withinScope } from "../scope/scope-predicates.js";
import { storableDate } from "../text/parse-input.js";

/** Of which apps, and since when. */
export interface AppStatsOf {
  readonly by: "app";
  /** One app, without a user. @default all apps */
  readonly scope?: AppScope;
  /** Without a scope: only apps of this tenant. @default those of all tenants */
  readonly tenantId?: string | undefined;
  /** @default 30 days ago */
  readonly since?: Date | undefined;
}

/** How apps remember their conversations. */
export interface AppCounts {
  /** Notes in use now. */
  readonly notes: number;
  /** Notes written since then, and how many an hour that is. */
  readonly notesCreated: number;
  readonly notesCreatedPerHour: number;
  /** How often notes were made fewer since then, and how often an app and day. */
  readonly compactions: number;
  readonly compactionsPerDay: number;
  /** Conversations in which something was said since then. */
  readonly conversations: number;
  /** How many of these were shown notes; turns that no node of a graph recorded say nothing of what they were shown. */
  readonly conversationsWithNotes: number;
  /** Their share; null without conversations. */
  readonly conversationsWithNotesShare: number | null;
  /** Units of energy that notes and compaction took since then; all that background work of the app's conversations took. */
  readonly notesEnergyUnits: number;
  readonly energyUnits: number;
}

/** How one app remembers its conversations. */
export interface AppStats extends AppCounts {
  readonly scope: AppScope;
}

/** The statistics of apps together, and of each. */
export interface AppsStats extends AppCounts {
  readonly since: Date;
  /** Apps of which something is kept, also those that only users' conversations name. */
  readonly appCount: number;
  readonly appsWithNotes: number;
  /** Share of the apps that have notes; null without apps. */
  readonly appsWithNotesShare: number | null;
  /** Those with most notes written first. */
  readonly apps: readonly AppStats[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const statsSchema = z.strictObject({
  by: z.literal("app"),
  scope: scopeField,
  tenantId: tenantField,
  since: storableDate.optional(),
});

/**
 * How apps remember their conversations, from the tables and the event log.
 *
 * @throws MemoryError `INVALID_INPUT` for a time that is not over, and for what is misspelt; `SCOPE_REQUIRED`
 */
export async function appStats(db: Connection, of: AppStatsOf): Promise<AppsStats> {
  const { scope: asked, tenantId, since: from } = parseListed(statsSchema, of, "statistics of apps");
  const scope = asked && parseAppScope(asked);
  const find = () => findApps(db, { scope, tenantId, from: from ?? null });
  const rows = await (tenantId === undefined ? find() : asListed({ tenantId }, find));
  const { since, now } = rows[0] as Row;
  const periodMs = now.getTime() - since.getTime();
  if (periodMs <= 0) throw new MemoryError("INVALID_INPUT", "`since` must be a time that is over.");
  const apps = rows.flatMap(({ app }) => (app === null ? [] : [statsOf(app, periodMs)]));
  const appsWithNotes = apps.filter(({ notes }) => notes > 0).length;
  return {
    ...{ since, appCount: apps.length, appsWithNotes },
    appsWithNotesShare: share(appsWithNotes, apps.length),
    ...rates(total(apps), periodMs, apps.length),
    apps,
  };
}

/** What is counted of an app. */
type Counted = Pick<AppCounts, (typeof counted)[number]>;
const counted = [
  ...(["notes", "notesCreated", "compactions", "conversations", "conversationsWithNotes"] as const),
  ...(["notesEnergyUnits", "energyUnits"] as const),
] as const;

function statsOf({ tenantId, appId, ...counts }: AppRow, periodMs: number): AppStats {
  const scope = { ...(tenantId !== "" && { tenantId }), appId };
  return { scope, ...rates(counts, periodMs, 1) };
}

function total(apps: readonly Counted[]): Counted {
  const sum = (name: (typeof counted)[number]) => apps.reduce((all, app) => all + app[name], 0);
  return Object.fromEntries(counted.map((name) => [name, sum(name)])) as unknown as Counted;
}

function rates(counts: Counted, periodMs: number, apps: number): AppCounts {
  const { notes, notesCreated, compactions, conversations, conversationsWithNotes, ...energy } = counts;
  return {
    ...{ notes, notesCreated, notesCreatedPerHour: notesCreated / (periodMs / hourMs) },
    ...{ compactions, compactionsPerDay: compactions / (periodMs / dayMs) / Math.max(1, apps) },
    ...{ conversations, conversationsWithNotes },
    conversationsWithNotesShare: share(conversationsWithNotes, conversations),
    ...energy,
  };
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

interface AppRow extends Counted {
  readonly tenantId: string;
  readonly appId: string;
}

/** A period, and an app in it; null where there is none. */
interface Row {
  readonly [column: string]: unknown;
  readonly since: Date;
  readonly now: Date;
  readonly app: AppRow | null;
}

/** Reads what was said and what happened in the period once: for people, not for every turn. */
async function findApps(
  db: Connection,
  of: { scope: AppScope | undefined; tenantId: string | undefined; from: Date | null },
): Promise<Row[]> {
  const { schema } = db;
  const within = (row: "e" | "t" | "o" | "x") => whose(row, of);
  return db.query<Row>(sql`
    with period as (
      select coalesce(${of.from}::timestamptz, ${db.now()} - interval '30 days') as since, ${db.now()} as now
    ),
    talk as (
      select t.tenant_id, t.app_id, count(*) filter (where t.last_activity_at >= since) as conversations,
        count(*) filter (where t.last_activity_at >= since and exists (
          select from ${schema}.shown s where s.thread_ref = t.id and s.created_at >= since and 'notes' = any (s.parts)
        )) as shown
      from period cross join ${schema}.thread t
      where t.app_id <> '' and ${within("t")}
      group by 1, 2
    ),
    kept as (
      select o.tenant_id, o.app_id, (
        select count(*) from ${schema}.memory m
        where m.owner_ref = o.id and m.kind = 'note' and m.state = 'active' and ${unexpired(db)}
      ) as notes
      from ${schema}.owner o where o.user_id = '' and ${within("o")}
    ),
    happened as (
      select e.tenant_id, e.app_id,
        count(*) filter (where e.op = 'create' and (e.step = 'note' or e.category = ${categoryOfKind.note})) as created,
        -- One for each decision; what it changed are events of their own.
        count(*) filter (where e.op = 'classify' and e.step = 'compact') as compactions
      from period cross join ${schema}.event e
      where e.app_id <> '' and e.created_at >= since and e.status = 'ok' and e.op in ('create', 'classify') and ${within("e")}
      group by 1, 2
    ),
    spent as (
      select x.tenant_id, x.app_id, sum(x.units) as units,
        coalesce(sum(x.units) filter (where x.kind in ('note', 'compaction')), 0) as noting
      from period cross join ${schema}.usage x
      where x.app_id <> '' and x.created_at >= since and ${within("x")}
      group by 1, 2
    ),
    app as (
      select tenant_id as "tenantId", app_id as "appId", coalesce(notes, 0) as notes, coalesce(created, 0) as "notesCreated",
        coalesce(compactions, 0) as compactions, coalesce(conversations, 0) as conversations,
        coalesce(shown, 0) as "conversationsWithNotes", coalesce(noting, 0) as "notesEnergyUnits", coalesce(units, 0) as "energyUnits"
      from talk full join kept using (tenant_id, app_id) left join happened using (tenant_id, app_id)
        left join spent using (tenant_id, app_id)
    )
    select since, now, to_json(app) as app from period left join app on true
    order by app."notesCreated" desc, app.notes desc, app."tenantId", app."appId"`);
}

function whose(
  row: "e" | "t" | "o" | "x",
  { scope, tenantId }: { scope: AppScope | undefined; tenantId: string | undefined },
): Sql {
  if (scope) return withinScope(scopeColumns(scope), row);
  return tenantId === undefined ? sql`true` : isId(raw(`${row}.tenant_id`), tenantId);
}
