import sql, { empty } from "sql-template-tag";
import { categoryOfKind } from "../../memories/item/category.rule.js";
import { zoneOfSource } from "../../memories/item/index-rows.js";
import { isActive } from "../../memories/item/memory-row.js";
import type { WriteConfig } from "../../memories/write/write-types.js";
import type { Connection } from "../../postgres/connection.js";
import type { Runtime } from "../../runtime.js";
import { type ScopeRow, scopeOf } from "../../scope/scope-predicates.js";
import { withoutMemoryBlocks } from "../../screening/contained-text.js";
import { hasWords, onOneLine, tailOf } from "../../text/storable-text.js";
import { isMaterial } from "../../transcript/forgotten-messages.js";
import type { TaskRuntime } from "../../work/jobs-options.js";
import type { OwnerWork } from "../../work/work-definition.js";
import { type Claim, deferWork, hasLease, type NoWork, skipWork } from "../../work/work-table.js";
import type { InsightSource } from "./choose-insights.rule.js";
import type { InsightsOptions } from "./insights-options.js";

export type InsightsRuntime = Runtime<WriteConfig & { readonly insights: InsightsOptions }> &
  TaskRuntime;

type RecentMessage = { readonly role: string; readonly text: string };

export interface InsightsWork extends OwnerWork {
  readonly ownerRef: number;
  readonly at: Date;
  /** Evidence: the latest episodes, then facts that are new or repeated since the last run. */
  readonly sources: readonly InsightSource[];
  /** The end of the latest conversation, in order. */
  readonly recent: readonly RecentMessage[];
  /** The thread of `recent`. */
  readonly recentThreadId: string | null;
}

/** About a hundred turns. */
const maxEpisodes = 5;
const maxFacts = 3;
const maxChanges = 1_000;
/** The last few messages show the tone. */
const recentCharacters = 1_000;
const maxRecent = 12;

/**
 * Loads the work of `claim`, or ends it: skipped without anything new, deferred if the last run is
 * too recent.
 */
export async function loadInsights(
  { db, config }: InsightsRuntime,
  claim: Claim,
): Promise<InsightsWork | NoWork> {
  const row = await findMaterial(db, claim, config);
  if (!row) return "lost";
  const scope = scopeOf(row);
  const doneUntil = Number(row.revision);
  // Does not count as a run: the time of the last one stays.
  const nothing = { doneUntil, at: null };
  if (scope.userId === undefined) return skipWork(db, claim, nothing, "no_user");
  if (!row.isNew || row.sources.length === 0) return skipWork(db, claim, nothing, "nothing_new");
  if (row.waitsUntil !== null) return deferWork(db, claim, row.waitsUntil);
  const sources = row.sources.map((source) => ({ ...source, saidAt: new Date(source.saidAt) }));
  const recent = recentEnd(row.recent);
  const recentThreadId = recent.length === 0 ? null : row.recentThreadId;
  return { scope, ownerRef: claim.ref, doneUntil, at: row.at, sources, recent, recentThreadId };
}

/**
 * Null if the claim was lost. Evidence excludes untrusted memories, which an insight would vouch
 * for, and memories of one app, since an insight is visible in all.
 */
async function findMaterial(
  db: Connection,
  claim: Claim,
  { insights, policy, retrieval }: InsightsRuntime["config"],
) {
  const { schema, now } = db;
  const usable = sql`${isActive(db)} and m.valid_from <= ${now()} and m.app_id = ''
      and m.trust <> 'untrusted'`;
  const nextRun = sql`(o.done_at + ${insights.everyMs}::float8 * interval '1 millisecond')`;
  // If episodes stay within their app, its messages do too.
  const ofApps =
    policy.categories.get(categoryOfKind.episode)?.level === "app" ? sql`and t.app_id = ''` : empty;
  const [row] = await db.query<
    ScopeRow & {
      revision: string;
      at: Date;
      isNew: boolean;
      waitsUntil: Date | null;
      sources: (Omit<InsightSource, "saidAt"> & { readonly saidAt: number })[];
      recent: RecentMessage[];
      recentThreadId: string | null;
    }
  >(sql`
    with owner as materialized (
      select o.*, k.done_at from ${schema}.work k join ${schema}.owner o on o.id = k.owner_ref
      where ${hasLease(claim)}
    ),
    changed as materialized (
      select distinct c.memory_id from owner o cross join lateral (
        select c.memory_id from ${schema}.change_log c where c.owner_ref = o.id and c.rev > ${claim.doneUntil}
        order by c.rev desc limit ${maxChanges}
      ) c
    ),
    episode as materialized (
      select m.* from owner o cross join lateral (
        select * from ${schema}.memory m where m.owner_ref = o.id and m.kind = 'episode' and ${usable}
        order by m.valid_from desc, m.ref desc limit ${maxEpisodes}
      ) m
    ),
    fact as materialized (
      select m.* from owner o cross join lateral (
        select m.* from changed c join ${schema}.memory m on m.id = c.memory_id
        where m.owner_ref = o.id and m.kind = 'fact' and ${usable}
        order by m.importance desc, m.updated_at desc, m.ref desc limit ${maxFacts}
      ) m
    ),
    source as (
      select 1 as list, m.* from episode m union all select 2, m.* from fact m
    ),
    latest as (
      select t.id, t.thread_id from owner o cross join lateral (
        select * from ${schema}.thread t where t.owner_ref = o.id ${ofApps} order by t.last_activity_at desc limit 1
      ) t
    ),
    recent as (
      select m.seq, m.role, m.content from latest t cross join lateral (
        select * from ${schema}.message m where m.thread_ref = t.id and m.role in ('user', 'assistant')
          and ${isMaterial(db, sql`(select id from latest)`)}
        order by m.seq desc limit ${maxRecent}
      ) m
    )
    select o.tenant_id, o.user_id, o.app_id, o.revision, ${now()} as at,
      o.done_at is null or exists (select from source s join changed c on c.memory_id = s.id) or exists (
        select from ${schema}.thread t where t.owner_ref = o.id and t.last_activity_at > o.done_at
      ) as "isNew",
      case when ${nextRun} > ${now()} then ${nextRun} end as "waitsUntil",
      (select coalesce(json_agg(json_build_object(
        'id', m.id, 'kind', m.kind, 'category', m.category, 'text', m.content, 'saidAt', date_part('epoch', m.valid_from) * 1000,
        'timeZone', coalesce(${zoneOfSource(db)}, ${retrieval.timeZone}::text),
        'threadId', (select t.thread_id from ${schema}.thread t where t.id = m.thread_ref)
      ) order by m.list, m.valid_from, m.ref), '[]') from source m) as sources,
      (select coalesce(json_agg(json_build_object('role', role, 'text', content) order by seq), '[]') from recent) as recent,
      (select thread_id from latest) as "recentThreadId"
    from owner o`);
  return row ?? null;
}

/**
 * The last `recentCharacters` of `messages`, without recalled memories, which are not new
 * statements.
 */
function recentEnd(messages: readonly RecentMessage[]): RecentMessage[] {
  const kept: RecentMessage[] = [];
  let remaining = recentCharacters;
  for (const { role, text } of messages.toReversed()) {
    const plain = onOneLine(withoutMemoryBlocks(text));
    if (!hasWords(plain)) continue;
    const end = tailOf(plain, remaining);
    if (end !== "") kept.unshift({ role, text: end });
    remaining -= plain.length;
    if (remaining <= 0) break;
  }
  return kept;
}
