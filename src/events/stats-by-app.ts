import sql from "sql-template-tag";
import { categoryOfKind } from "../memories/item/category.rule.js";
import { unexpired } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { type AppScope, parseAppScope } from "../scope/scope.js";
import { isSelected, type StatsSelection, share } from "./stats-selection.js";

/** How apps remember their conversations. */
interface AppCounts {
  /** Notes in use now. */
  readonly notes: number;
  /** Notes written since then, and how many an hour that is. */
  readonly notesCreated: number;
  readonly notesCreatedPerHour: number;
  /** Compactions of notes since then, and how many an app and day. */
  readonly compactions: number;
  readonly compactionsPerDay: number;
  /** Conversations in which something was said since then. */
  readonly conversations: number;
  /** How many of these were shown notes, as far as a node of a graph recorded their turns. */
  readonly conversationsWithNotes: number;
  /** Their share; null without conversations. */
  readonly conversationsWithNotesShare: number | null;
  /** Units of energy that notes and compaction used since then; all that background work of the app's conversations used. */
  readonly notesEnergyUnits: number;
  readonly energyUnits: number;
}

/** How one app remembers its conversations. */
interface AppStats extends AppCounts {
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

/** What is counted of an app. */
const counted = [
  ...(["notes", "notesCreated", "compactions", "conversations", "conversationsWithNotes"] as const),
  ...(["notesEnergyUnits", "energyUnits"] as const),
] as const;
type Counted = Readonly<Record<(typeof counted)[number], number>>;

/** How apps remember their conversations, from the tables and the event log. @throws MemoryError `SCOPE_REQUIRED` */
export async function statsByApp(db: Connection, selection: StatsSelection): Promise<AppsStats> {
  const { scope, days } = selection;
  const rows = await findApps(db, { ...selection, scope: scope && parseAppScope(scope) });
  const apps = rows.flatMap(({ app }): AppStats[] => {
    if (app === null) return [];
    const { tenantId, appId, ...counts } = app;
    return [{ scope: { ...(tenantId !== "" && { tenantId }), appId }, ...rates(counts, days, 1) }];
  });
  const appsWithNotes = apps.filter(({ notes }) => notes > 0).length;
  const total = counted.map((name) => [name, apps.reduce((all, app) => all + app[name], 0)] as const);
  return {
    ...{ since: (rows[0] as Row).since, appCount: apps.length, appsWithNotes },
    appsWithNotesShare: share(appsWithNotes, apps.length),
    ...rates(Object.fromEntries(total) as Counted, days, apps.length),
    apps,
  };
}

function rates(counts: Counted, days: number, apps: number): AppCounts {
  const { notes, notesCreated, compactions, conversations, conversationsWithNotes, ...energy } = counts;
  return {
    ...{ notes, notesCreated, notesCreatedPerHour: notesCreated / (days * 24) },
    ...{ compactions, compactionsPerDay: compactions / days / Math.max(1, apps) },
    ...{ conversations, conversationsWithNotes },
    conversationsWithNotesShare: share(conversationsWithNotes, conversations),
    ...energy,
  };
}

/** A period, and an app in it; null where there is none. */
interface Row {
  readonly [column: string]: unknown;
  readonly since: Date;
  readonly app: (Counted & { readonly tenantId: string; readonly appId: string }) | null;
}

async function findApps(db: Connection, selection: StatsSelection): Promise<Row[]> {
  const { schema } = db;
  const within = (row: "e" | "t" | "o" | "x") => isSelected(selection, row);
  return db.query<Row>(sql`
    with period as (
      select ${db.now()} - ${selection.days}::int * interval '1 day' as since
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
    select since, to_json(app) as app from period left join app on true
    order by app."notesCreated" desc, app.notes desc, app."tenantId", app."appId"`);
}
