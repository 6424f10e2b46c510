import sql, { join, raw, type Sql } from "sql-template-tag";
import { z } from "zod";
import { dayMs, isoDay } from "../../clock.js";
import { categoryOfKind } from "../../memories/item/category.rule.js";
import type { Connection } from "../../postgres/connection.js";
import type { Database } from "../../postgres/database.js";
import {
  type AppScope,
  listed,
  parseAppScope,
  type Scope,
  scopeField,
  tenantField,
} from "../../scope/scope.js";
import { isListed, ownerColumns, ownerIs } from "../../scope/scope-predicates.js";
import { energyLevel } from "../usage/energy.js";
import { type EnergyOptions, keepDays } from "../usage/energy-options.js";
import { maxSpent, today } from "../usage/usage-statements.js";

const statsSchema = z.strictObject({
  by: z.enum(["day", "app"]).optional(),
  /**
   * A user, a user within an app, or an app with all its users; with `by: "app"` an app.
   * @default everybody
   */
  scope: scopeField,
  /** Without a scope: only this tenant. @default all tenants */
  tenantId: tenantField,
  /** The last days, 1 to 90. With `by: "day"` days in UTC, including today. @default 30 */
  days: z.int().min(1).max(keepDays).default(30),
});

export interface StatsOf<By = "day" | "app" | undefined>
  extends Omit<z.input<typeof statsSchema>, "by"> {
  /** "day": also a row for each day. "app": also one for each app. @default all together */
  readonly by?: By;
}

export interface MemoryCounts {
  /** Active memories by kind; of a day, those that existed by its end. */
  readonly memories: Readonly<Record<string, number>>;
  /**
   * Written events by outcome, such as "create", "merge" or "ttl"; "rejected" for rejected
   * proposals.
   */
  readonly writes: Readonly<Record<string, number>>;
  /** Share of proposals that needed no change; null without any. Healthy: from 0.95. */
  readonly firstPassRate: number | null;
  /** Proposals that became, changed or confirmed a memory. */
  readonly written: number;
  /** Except proposals that lost their slot to a more credible value. */
  readonly rejected: number;
  readonly deadLetters: number;
  /**
   * Share of turns in which an agent used the search tool; null without turns. Healthy: below 0.1.
   */
  readonly recallToolShare: number | null;
  /** Turns with a recall by a node, and those that showed any memory. */
  readonly recalls: number;
  readonly recallsWithMemory: number;
  /** Null if none was timed, and for several days or apps together. */
  readonly recallLatencyMs: { readonly p50: number; readonly p95: number } | null;
  /**
   * Conversations whose last message is in the time, and the share in which a turn was shown notes;
   * null without any.
   */
  readonly conversations: number;
  readonly conversationsWithNotesShare: number | null;
  readonly notesCreated: number;
  readonly notesCreatedPerHour: number;
  /** Also per day; of several apps, per app and day. */
  readonly compactions: number;
  readonly compactionsPerDay: number;
  /** Of all background model calls, and of notes and compaction. */
  readonly energyUnits: number;
  readonly notesEnergyUnits: number;
}

interface UsedByKind {
  /**
   * "summaries", "facts", "episodes", "procedure", "notes", "compaction", "insights" or
   * "consolidation".
   */
  readonly kind: string;
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly units: number;
}

export interface MemoryStats extends MemoryCounts {
  readonly since: Date;
  /** Background jobs that are due and not running. */
  readonly backlog: number;
  readonly oldestDueAt: Date | null;
  /** Due jobs whose worker stopped: its lease expired. */
  readonly stuck: number;
  /** Jobs of any time that were given up and not retried. */
  readonly givenUp: number;
  readonly energy: {
    /** 0 to 100: the level of the scope's tenant, or else the lowest. */
    readonly level: number;
    readonly unitsToday: number;
    readonly callsToday: number;
    readonly kinds: readonly UsedByKind[];
  };
}

/** By day in UTC, such as "2030-05-01", oldest first; or by app, most new notes first. */
export interface StatsBy<Key> extends MemoryStats {
  readonly rows: readonly (MemoryCounts & Key)[];
  /** By app: the share of apps with notes; null without apps. */
  readonly appsWithNotesShare: number | null;
}

export interface StatsCall {
  /**
   * The work and energy of memory: for a scope's user or app, a tenant, or all; with `by` also by
   * day or app.
   *
   * @example
   * ```ts
   * const { firstPassRate, rows } = await memory.stats({ by: "day", days: 7 });
   * for (const { day, recalls, recallLatencyMs } of rows) console.log(day, recalls, recallLatencyMs?.p95);
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  (of?: StatsOf<undefined>): Promise<MemoryStats>;
  (of: StatsOf<"day">): Promise<StatsBy<{ readonly day: string }>>;
  (of: StatsOf<"app">): Promise<StatsBy<{ readonly scope: AppScope }>>;
}

interface StatsRuntime {
  /** Details of events of proposals rejected for their form. */
  readonly formProblems: readonly string[];
  readonly energy: EnergyOptions;
  readonly clock: () => Date;
}

export function createStats(db: Database, runtime: StatsRuntime): StatsCall {
  return ((of?: StatsOf) =>
    listed(statsSchema, of, "statistics", async (selection) => {
      // Whose, and since when.
      const { by, days, scope } = selection;
      if (by === "app" && scope) parseAppScope(scope);
      const nowMs = runtime.clock().getTime();
      const firstMs = Math.floor(nowMs / dayMs - days + 1) * dayMs;
      const since = new Date(by === "day" ? firstMs : nowMs - days * dayMs);
      // One statement counts everything, by key.
      const found = await findCounts(db, { ...selection, ...runtime, since });
      // What the counts say: now, together, and for each key.
      const now = { since, ...workNow(found), energy: energyOf(found, runtime.energy) };
      if (by === "app") return { ...now, ...ofApps(found, days) };
      const together = { ...now, ...countsOf(found, { days }) };
      if (by === undefined) return together;
      return { ...together, rows: rowsOfDays(found, firstMs, days), appsWithNotesShare: null };
    })) as StatsCall;
}

function rowsOfDays(found: readonly Count[], firstMs: number, days: number) {
  const ofDay = byKey(found);
  return Array.from({ length: days }, (_, index) => {
    const day = isoDay(new Date(firstMs + index * dayMs));
    const kept = found.filter(({ what, key }) => what === "memory" && key <= day);
    return { day, ...countsOf(ofDay.get(day) ?? [], { kept, days: 1 }) };
  });
}

function ofApps(found: readonly Count[], days: number) {
  const ofApp = byKey(found.filter(({ key }) => key !== ""));
  const rows = [...ofApp].map(([key, counts]) => {
    const [tenantId, appId] = JSON.parse(key) as [string, string];
    const scope = { ...(tenantId !== "" && { tenantId }), appId };
    return { scope, ...countsOf(counts, { days }) };
  });
  const withNotes = rows.filter(({ memories }) => memories.note);
  return {
    ...countsOf([...ofApp.values()].flat(), { days, apps: rows.length }),
    rows: rows.toSorted((one, other) => other.notesCreated - one.notesCreated),
    appsWithNotesShare: share(withNotes.length, rows.length),
  };
}

/** `what` was counted; `key`: the day or app; "" for all together and without an app. */
type Count = Readonly<Record<"what" | "key" | "name", string>> & {
  readonly sums: Readonly<Record<string, number | null>>;
};

function byKey(found: readonly Count[]): Map<string, Count[]> {
  const grouped = new Map<string, Count[]>();
  for (const row of found) grouped.set(row.key, [...(grouped.get(row.key) ?? []), row]);
  return grouped;
}

const sumOf = (rows: readonly Count[], what: string, name = "n"): number =>
  rows.reduce((sum, row) => sum + (row.what === what ? (row.sums[name] ?? 0) : 0), 0);

const share = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

function byName(rows: readonly Count[], what: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { what: counted, name, sums } of rows)
    if (counted === what && name !== "") counts[name] = (counts[name] ?? 0) + (sums.n ?? 0);
  return counts;
}

/** @param of.kept the counted memories @default those of `rows` */
function countsOf(
  rows: readonly Count[],
  { kept = rows, days, apps = 1 }: { kept?: readonly Count[]; days: number; apps?: number },
): MemoryCounts {
  const events = (name: string) => sumOf(rows, "event", name);
  const timed = rows.filter(({ what }) => what === "recall");
  const { p50 = null, p95 = null } = timed.length === 1 ? (timed[0] as Count).sums : {};
  const conversations = sumOf(rows, "talk");
  const ofNotes = rows.filter(({ name }) => name === "notes" || name === "compaction");
  return {
    memories: byName(kept, "memory"),
    writes: byName(rows, "event"),
    firstPassRate: share(events("untouched"), events("accepted") + events("malformed")),
    written: events("written"),
    rejected: events("rejected"),
    deadLetters: sumOf(rows, "dead"),
    recallToolShare: share(sumOf(rows, "searched"), sumOf(rows, "turn")),
    recalls: sumOf(rows, "recall"),
    recallsWithMemory: sumOf(rows, "recall", "shown"),
    recallLatencyMs: p50 === null || p95 === null ? null : { p50, p95 },
    conversations,
    conversationsWithNotesShare: share(sumOf(rows, "talk", "withNotes"), conversations),
    notesCreated: events("notes"),
    notesCreatedPerHour: events("notes") / (days * 24),
    compactions: events("compactions"),
    compactionsPerDay: events("compactions") / days / Math.max(1, apps),
    energyUnits: sumOf(rows, "usage", "units"),
    notesEnergyUnits: sumOf(ofNotes, "usage", "units"),
  };
}

function workNow(found: readonly Count[]) {
  const of = (name: string) => sumOf(found, "now", name);
  const oldestDueAt = of("oldestDueMs") === 0 ? null : new Date(of("oldestDueMs"));
  return { oldestDueAt, backlog: of("backlog"), stuck: of("stuck"), givenUp: of("givenUp") };
}

function energyOf(found: readonly Count[], options: EnergyOptions): MemoryStats["energy"] {
  const kinds = Object.entries(byName(found, "usage")).map(([kind, calls]): UsedByKind => {
    const ofKind = found.filter(({ name }) => name === kind);
    const sum = (name: string) => sumOf(ofKind, "usage", name);
    return {
      kind,
      calls,
      inputTokens: sum("input"),
      outputTokens: sum("output"),
      units: sum("units"),
    };
  });
  return {
    level: energyLevel(sumOf(found, "now", "spent"), options).level,
    unitsToday: sumOf(found, "usage", "unitsToday"),
    callsToday: sumOf(found, "usage", "today"),
    kinds: kinds.toSorted((one, other) => other.units - one.units),
  };
}

type Selection = Pick<StatsOf, "by" | "tenantId"> &
  Pick<StatsRuntime, "formProblems"> & { readonly scope: Scope | undefined; readonly since: Date };

type Alias = "e" | "t" | "x";

function countedBy(
  selection: Selection,
  what: string,
  row: Alias,
  of: { readonly at: Sql; readonly name?: Sql; readonly sums: Sql; readonly from: Sql },
): Sql {
  const [tenant, app] = [raw(`${row}.tenant_id`), raw(`${row}.app_id`)];
  const keys = {
    all: sql`''`,
    day: sql`to_char(${of.at} at time zone 'UTC', 'YYYY-MM-DD')`,
    app: sql`case when ${app} = '' then '' else json_build_array(${tenant}, ${app})::text end`,
  };
  return sql`
    select ${what}::text as what, ${keys[selection.by ?? "all"]} as key, ${of.name ?? keys.all} as name,
      json_build_object(${of.sums}) as sums
    from ${of.from} and ${isListed(selection, row)} group by 2, 3`;
}

/** A compaction is one event per decision; its changes are separate events. */
function eventSums(formProblems: readonly string[]): Sql {
  const proposed = sql`e.op = 'classify' and coalesce(e.step, e.node) in ('facts', 'episodes', 'procedure')`;
  return sql`'n', count(*),
    'accepted', count(*) filter (where ${proposed} and e.status = 'ok'),
    'untouched', count(*) filter (where ${proposed} and e.status = 'ok' and coalesce(e.detail, '') not like '%, %'),
    'malformed', count(*) filter (where ${proposed} and e.status = 'skipped' and e.detail = any (${formProblems}::text[])),
    'written', count(*) filter (where ${proposed} and e.status = 'ok'
      and coalesce(e.detail, '') not like all (array['kept%', 'proposed%', 'refused%'])),
    'rejected', count(*) filter (where ${proposed} and e.status = 'skipped'),
    'notes', count(*) filter (where e.op = 'create' and e.status = 'ok' and (e.step = 'notes' or e.category = ${categoryOfKind.note})),
    'compactions', count(*) filter (where e.op = 'classify' and e.status = 'ok' and e.step = 'compaction')`;
}

/** Conversations, their turns, and what these were shown. A search belongs to the thread's next turn. */
function conversationCounts(schema: Sql, selection: Selection): Sql[] {
  const { since } = selection;
  return [
    countedBy(selection, "turn", "t", {
      at: sql`m.created_at`,
      sums: sql`'n', count(*)`,
      // One thread after the other: joined, all messages would be read.
      from: sql`${schema}.thread t join lateral (
          select m.created_at from ${schema}.message m
          where m.thread_ref = t.id and m.role = 'user' and m.created_at >= ${since} offset 0
        ) m
        on true where t.last_activity_at >= ${since}`,
    }),
    countedBy(selection, "searched", "t", {
      at: sql`m.created_at`,
      sums: sql`'n', count(distinct (t.id, m.seq))`,
      from: sql`${schema}.thread t join ${schema}.event e on e.tenant_id = t.tenant_id and e.thread_id = t.thread_id
        cross join lateral (
          select m.seq, m.created_at from ${schema}.message m
          where m.thread_ref = t.id and m.role = 'user' and m.created_at >= e.created_at order by m.seq limit 1
        ) m
        where e.created_at >= ${since} and e.op = 'search' and coalesce(e.step, e.node) = 'tool' and ${isListed(selection, "e")}`,
    }),
    countedBy(selection, "recall", "t", {
      at: sql`s.created_at`,
      sums: sql`'n', count(*), 'shown', count(*) filter (where s.memory_ids <> '{}'),
        'p50', percentile_cont(0.5) within group (order by s.recall_ms),
        'p95', percentile_cont(0.95) within group (order by s.recall_ms)`,
      from: sql`${schema}.thread t join lateral (
          select s.* from ${schema}.shown s where s.thread_ref = t.id and s.created_at >= ${since} offset 0
        ) s on true where t.last_activity_at >= ${since}`,
    }),
    countedBy(selection, "talk", "t", {
      at: sql`t.last_activity_at`,
      sums: sql`'n', count(*) filter (where t.last_activity_at >= ${since}), 'withNotes', count(*) filter (
        where t.last_activity_at >= ${since} and exists (
          select from ${schema}.shown s where s.thread_ref = t.id and s.created_at >= ${since} and 'notes' = any (s.parts) offset 0
        )
      )`,
      from: sql`${schema}.thread t where ${selection.by === "app" ? sql`true` : sql`t.last_activity_at >= ${since}`}`,
    }),
  ];
}

/** One statement. */
function findCounts(db: Connection, selection: Selection): Promise<Count[]> {
  const { schema } = db;
  const { scope, since, formProblems } = selection;
  const isToday = sql`filter (where x.created_at >= ${today(db)})`;
  const works = sql`(
    select k.given_up_at, (k.retry_at is not null or k.lease_until is not null or k.error is not null) as is_listed, k.lease_until, coalesce(k.lease_until, k.retry_at) as due_at, coalesce(t.tenant_id, o.tenant_id) as tenant_id,
      coalesce(t.user_id, o.user_id) as user_id, coalesce(t.app_id, o.app_id) as app_id
    from ${schema}.work k left join ${schema}.thread t on t.id = k.thread_ref left join ${schema}.owner o on o.id = k.owner_ref
  ) x`;
  const tenantId = scope ? (scope.tenantId ?? "") : selection.tenantId;
  // A user's memories are found by their owner: no index has the ids of a memory's own columns.
  const isOwned =
    scope?.userId === undefined
      ? sql`true`
      : sql`x.owner_ref = (select o.id from ${schema}.owner o where ${ownerIs(ownerColumns(scope))})`;
  const selects = [
    countedBy(selection, "event", "e", {
      at: sql`e.created_at`,
      name: sql`case when e.op = 'classify' then case when e.status = 'skipped' then 'rejected' else '' end
        when e.status = 'ok' then e.op else '' end`,
      sums: eventSums(formProblems),
      from: sql`${schema}.event e where e.created_at >= ${since} and e.op not in ('search', 'resume')`,
    }),
    countedBy(selection, "memory", "x", {
      at: sql`x.created_at`,
      name: sql`x.kind`,
      sums: sql`'n', count(*)`,
      from: sql`${schema}.memory x where ${isOwned} and x.state = 'active' and (x.expires_at is null or x.expires_at > ${db.now()})`,
    }),
    countedBy(selection, "dead", "x", {
      at: sql`x.given_up_at`,
      sums: sql`'n', count(*)`,
      from: sql`${works} where x.given_up_at is not null and x.given_up_at >= ${since}`,
    }),
    ...conversationCounts(schema, selection),
    countedBy(selection, "usage", "x", {
      at: sql`x.created_at`,
      name: sql`x.kind`,
      sums: sql`'n', count(*), 'input', sum(x.input_tokens), 'output', sum(x.output_tokens), 'units', sum(x.units::numeric),
        'today', count(*) ${isToday}, 'unitsToday', sum(x.units::numeric) ${isToday}`,
      from: sql`${schema}.usage x where x.created_at >= ${since}`,
    }),
    sql`select 'now', '', '', json_build_object('backlog', count(x.due_at), 'stuck', count(x.lease_until),
      'oldestDueMs', extract(epoch from min(x.due_at)) * 1000, 'givenUp', count(x.given_up_at), 'spent', (
        ${maxSpent(db, isListed({ ...selection, scope: undefined, tenantId }, "x"))}
      ))
      from ${works} where (x.given_up_at is not null or (x.is_listed and x.due_at <= ${db.now()})) and ${isListed(selection, "x")}`,
  ];
  return db.query<Count>(join(selects, " union all "));
}
