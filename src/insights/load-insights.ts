import sql, { empty } from "sql-template-tag";
import { isMaterial } from "../conversation/forgotten-messages.js";
import type { TaskRuntime } from "../jobs/jobs-options.js";
import type { JobStatus, OwnerWork } from "../jobs/settle-failure.js";
import { type Claim, deferWork, hasLease, skipWork } from "../jobs/work-table.js";
import { type CategoryPolicy, categoryOfKind } from "../memories/item/category.rule.js";
import { unexpired } from "../memories/item/memory-row.js";
import type { WriteConfig } from "../memories/write/write-runtime.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import { type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import { withoutMemoryBlocks } from "../text/contained-text.js";
import { hasWords, onOneLine, tailOf } from "../text/storable-text.js";
import type { InsightSource } from "./choose-insights.rule.js";
import type { InsightsOptions } from "./insights-options.js";

export type InsightsRuntime = Runtime<WriteConfig & { readonly insights: InsightsOptions }> & TaskRuntime;

interface SaidLast {
  readonly role: string;
  readonly text: string;
}

export interface InsightsWork extends OwnerWork {
  readonly ownerRef: number;
  readonly at: Date;
  /** Evidence: the latest episodes, then what was learned or repeated since the last run. */
  readonly sources: readonly InsightSource[];
  /** The end of the latest conversation, in order. */
  readonly said: readonly SaidLast[];
  /** Its thread; null without. */
  readonly saidIn: string | null;
}

/** About a hundred turns. */
const mostEpisodes = 5;
/** New facts. Episodes have the rest. */
const mostFacts = 3;
const mostChanges = 1_000;
/** Tone shows in the last few messages. */
const mostSaidCharacters = 1_000;
const mostSaid = 12;

/** The work behind `claim`, or how it ended: without anything new, a run does not count; an early one is deferred. */
export async function loadInsights(deps: InsightsRuntime, claim: Claim): Promise<InsightsWork | JobStatus> {
  const { db, config } = deps;
  const found = await findInsightsWork(db, claim, config);
  if (!found) return "lost";
  const { isNew, restsUntil, ...work } = found;
  const ofUser = work.scope.userId !== undefined;
  // The run does not count: when it was last done stays.
  if (!ofUser || !isNew || work.sources.length === 0) {
    return skipWork(db, claim, { doneUntil: work.doneUntil, at: null });
  }
  return restsUntil === null ? work : deferWork(db, claim, restsUntil);
}

interface Row extends ScopeRow, Record<string, unknown> {
  revision: string;
  at: Date;
  is_new: boolean;
  rests_until: Date | null;
  sources: (Omit<InsightSource, "saidAt"> & { readonly saidAt: string })[];
  said: SaidLast[];
  said_in: string | null;
}

/**
 * Null when the claim was lost. Untrusted memories are no evidence, since an insight would vouch for them. Nor are
 * memories of one app, since an insight is visible in all.
 */
async function findInsightsWork(
  db: Connection,
  claim: Claim,
  { insights, policy }: { readonly insights: InsightsOptions; readonly policy: CategoryPolicy },
): Promise<(InsightsWork & { readonly isNew: boolean; readonly restsUntil: Date | null }) | null> {
  const { schema, now } = db;
  const usable = sql`m.state = 'active' and ${unexpired(db)} and m.valid_from <= ${now()} and m.app_id = ''
      and m.trust <> 'untrusted'`;
  const rested = sql`(o.done_at + ${insights.everyMs}::float8 * interval '1 millisecond')`;
  // Where episodes stay within their app, so do its messages.
  const ofApps = policy.categories.get(categoryOfKind.episode)?.level === "app" ? sql`and t.app_id = ''` : empty;
  const [row] = await db.query<Row>(sql`
    with owner as materialized (
      select o.*, k.done_at from ${schema}.work k join ${schema}.owner o on o.id = k.owner_ref
      where ${hasLease(claim)}
    ),
    changed as materialized (
      select distinct c.memory_id from owner o cross join lateral (
        select c.memory_id from ${schema}.change_log c where c.owner_ref = o.id and c.rev > ${claim.doneUntil}
        order by c.rev desc limit ${mostChanges}
      ) c
    ),
    episode as materialized (
      select m.* from owner o cross join lateral (
        select * from ${schema}.memory m where m.owner_ref = o.id and m.kind = 'episode' and ${usable}
        order by m.valid_from desc, m.ref desc limit ${mostEpisodes}
      ) m
    ),
    fact as materialized (
      select m.* from owner o cross join lateral (
        select m.* from changed c join ${schema}.memory m on m.id = c.memory_id
        where m.owner_ref = o.id and m.kind = 'fact' and ${usable}
        order by m.importance desc, m.updated_at desc, m.ref desc limit ${mostFacts}
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
    said as (
      select m.seq, m.role, m.content from latest t cross join lateral (
        select * from ${schema}.message m where m.thread_ref = t.id and m.role in ('user', 'assistant')
          and ${isMaterial(db, sql`(select id from latest)`)}
        order by m.seq desc limit ${mostSaid}
      ) m
    )
    select o.tenant_id, o.user_id, o.app_id, o.revision, ${now()} as at,
      o.done_at is null or exists (select from source s join changed c on c.memory_id = s.id) or exists (
        select from ${schema}.thread t where t.owner_ref = o.id and t.last_activity_at > o.done_at
      ) as is_new,
      case when ${rested} > ${now()} then ${rested} end as rests_until,
      (select coalesce(json_agg(json_build_object(
        'id', m.id, 'kind', m.kind, 'category', m.category, 'text', m.content, 'saidAt', m.valid_from,
        'threadId', (select t.thread_id from ${schema}.thread t where t.id = m.thread_ref)
      ) order by m.list, m.valid_from, m.ref), '[]') from source m) as sources,
      (select coalesce(json_agg(json_build_object('role', role, 'text', content) order by seq), '[]') from said) as said,
      (select thread_id from latest) as said_in
    from owner o`);
  if (!row) return null;
  const said = endOf(row.said);
  return {
    scope: scopeOf(row),
    ownerRef: claim.ref,
    doneUntil: Number(row.revision),
    at: row.at,
    sources: row.sources.map((source) => ({ ...source, saidAt: new Date(source.saidAt) })),
    said,
    saidIn: said.length === 0 ? null : row.said_in,
    isNew: row.is_new,
    restsUntil: row.rests_until,
  };
}

/** The last of `messages`, without recalled memories, which are not said anew. */
function endOf(messages: readonly SaidLast[]): SaidLast[] {
  const kept: SaidLast[] = [];
  let left = mostSaidCharacters;
  for (const { role, text } of messages.toReversed()) {
    const plain = onOneLine(withoutMemoryBlocks(text));
    if (!hasWords(plain)) continue;
    const end = tailOf(plain, left);
    if (end !== "") kept.unshift({ role, text: end });
    left -= plain.length;
    if (left <= 0) break;
  }
  return kept;
}
