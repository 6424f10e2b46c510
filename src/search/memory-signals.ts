import sql, { empty, raw, type Sql } from "sql-template-tag";
import type { MemoryKind } from "../memories/item/memory.js";
import type { EmbeddingSpace } from "../models/embedding-space.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import type { StoreFilter } from "./memory-filter.js";
import type { TimeSpan } from "./question-dates.js";
import { retrievalWeights as weights } from "./retrieval-weights.js";

/** Which memories a search may return. */
export interface VisibleMemories {
  readonly scope: Scope;
  readonly kinds: readonly MemoryKind[];
  readonly categories: readonly string[];
  readonly filter: StoreFilter;
}

/**
 * CTE `wanted`, of one row, with which memories are. Said once, as each condition is asked in many places; and its text
 * is the same for all filters: a session keeps the plan of every text there is.
 */
export function wantedMemories({ scope, kinds, categories, filter }: VisibleMemories): Sql {
  const { appId } = scopeColumns(scope);
  const { agentId, runId, actorId, role, category, pinned } = filter;
  return sql`
    wanted as materialized (
      select ${appId}::text as app_id, ${kinds}::text[] as kinds, ${categories}::text[] as categories,
        ${agentId}::text as agent_id, ${runId}::text as run_id, ${actorId}::text as actor_id, ${role}::text as role,
        ${category}::text as category, ${pinned}::boolean as pinned,
        ${filter.importanceMin}::real as importance_min, ${filter.importanceMax}::real as importance_max,
        ${filter.updatedAfter}::timestamptz as updated_after, ${filter.updatedBefore}::timestamptz as updated_before
    )`;
}

/** Whether the row `m` of `memory` is active, of this user or app, and as the row `w` of `wanted` says. */
export const visible: Sql = sql`(
  m.state = 'active' and m.app_id in ('', w.app_id)
  and m.kind = any (w.kinds) and m.category = any (w.categories)
  and (w.agent_id is null or m.agent_id = w.agent_id)
  and (w.run_id is null or m.run_id = w.run_id)
  and (w.actor_id is null or m.actor_id = w.actor_id)
  and (w.role is null or m.role = w.role)
  and (w.category is null or m.category = w.category)
  and (w.pinned is null or m.pinned = w.pinned)
  and (w.importance_min is null or m.importance >= w.importance_min)
  and (w.importance_max is null or m.importance <= w.importance_max)
  and (w.updated_after is null or m.updated_at >= w.updated_after)
  and (w.updated_before is null or m.updated_at < w.updated_before)
)`;

/**
 * CTE `<name>`: of `<name>_top` (ref, value), the `limit` best whose memories are visible. Memories are looked up one by
 * one, best first, until there are enough.
 */
export function bestVisible(db: Connection, name: string, limit: number): Sql {
  return sql`
    ${raw(name)} as materialized (
      select t.ref, t.value
      from (select ref, value from ${raw(name)}_top order by value desc, ref) t
      cross join wanted w
      cross join lateral (select from ${db.schema}.memory m where m.ref = t.ref and ${visible} limit 1) m
      order by t.value desc, t.ref
      limit ${limit}
    )`;
}

/** Which memories a search looks for. */
export interface HitSelection extends VisibleMemories {
  /** The question's vector; null without embeddings. */
  readonly vector: { readonly space: EmbeddingSpace; readonly value: string } | null;
  /** Times that the question names: what holds since then is found without a word of it. */
  readonly spans: readonly TimeSpan[];
  /** Candidates for the final ranking. */
  readonly limit: number;
}

export type QuestionVector = NonNullable<HitSelection["vector"]>;

/** Nearest vectors looked at first for each candidate, and visible ones taken: words bring in others. */
const nearestPerCandidate = 4;
export const visiblePerCandidate = 2;

/** CTE `lift` (ref, value): how well the messages fit that visible memories were learned from. */
export function sources(db: Connection): Sql {
  return sql`
    cited as materialized (
      -- By thread and not by message: a long thread has many of both.
      select m.ref, h.thread_ref, cited.seq
      from (select distinct thread_ref from message_context) h
      cross join wanted w
      cross join lateral (
        select m.ref, m.source_seqs from ${db.schema}.memory m
        where m.thread_ref = h.thread_ref and m.owner_ref in (select id from seer) and ${visible} offset 0
      ) m
      cross join lateral unnest(m.source_seqs) as cited (seq)
    ),
    lift as materialized (${bestSource(sql`select thread_ref, seq, score from message_context`, "cited")})`;
}

/** The score of the best of `messages` (thread_ref, seq, score) that each memory of the CTE `cited` was learned from. */
function bestSource(messages: Sql, cited: string): Sql {
  return sql`
    select c.ref, max(h.score) as value
    from ${raw(cited)} c full join (${messages}) h on h.thread_ref = c.thread_ref and h.seq = c.seq
    where c.ref is not null and h.score is not null group by c.ref`;
}

/**
 * CTEs `question_vector` (value), so that the vector is read from its text once and not at each mention, `near_top` and
 * `near` (ref, value), the nearest vectors and those of visible memories.
 */
export function nearest(db: Connection, { space, value }: QuestionVector, limit: number): Sql {
  return sql`
    question_vector as materialized (select ${value}::${space.type} as value),
    near_top as materialized (
      select e.memory_ref as ref, ${similarityIn(space)} as value
      from seer s join ${db.schema}.memory_embedding e on e.owner_ref = s.id and e.space_ref = ${space.ref} and e.active
      order by value desc, ref limit ${limit * nearestPerCandidate}
    ),
    ${bestVisible(db, "near", limit * visiblePerCandidate)},`;
}

/** Of the row `e` of `memory_embedding`. */
export function similarityIn(space: EmbeddingSpace): Sql {
  return sql`least(1, -(e.embedding ${space.product} (select value from question_vector)))`;
}

/**
 * CTEs `rest_word`, `rest_near` and `rest_lift` (ref, value): the best of all visible memories, each by one signal. They
 * are gone through only when something was cut off and filters left less of the best than is wanted; what is large is
 * joined in full, or looked up.
 */
export function rest(db: Connection, { vector, limit }: HitSelection, most: number): Sql {
  const { schema } = db;
  const few = (name: string, top: Sql, cut: number, wanted: number) => sql`
    ((select count(*) from ${raw(name)}) < ${wanted} and (select count(*) from ${top}) >= ${cut})`;
  const fewNear = sql`or ${few("near", sql`near_top`, limit * nearestPerCandidate, limit * visiblePerCandidate)}`;
  return sql`
    rest as materialized (
      select m.ref, m.thread_ref, m.source_seqs
      from seer s join ${schema}.memory m on m.owner_ref = s.id cross join wanted w
      where ${visible} and (select ${few("word", sql`word_top`, most, limit)}
        or ${few("lift", sql`(select from message_hit where nth = 1 limit ${most}) h`, most, limit)}
        ${vector ? fewNear : empty})
    ),
    rest_word as (
      select r.ref, o.score as value from rest r full join memory_own o on o.ref = r.ref
      where r.ref is not null and o.ref is not null order by o.score desc, r.ref limit ${limit}
    ),
    rest_near as (
      ${vector ? restNear(db, vector, limit) : sql`select null::bigint as ref, null::float8 as value where false`}
    ),
    rest_cited as (select r.ref, r.thread_ref, cited.seq from rest r cross join lateral unnest(r.source_seqs) as cited (seq)),
    rest_lift as (
      -- By its own words alone: messages that are not among the best lend none to their neighbours.
      ${bestSource(
        sql`select thread_ref, seq, total / (select gain from message_ideal) as score from message_hit where nth = 1`,
        "rest_cited",
      )}
      order by value desc, ref limit ${limit}
    )`;
}

function restNear(db: Connection, { space }: QuestionVector, limit: number): Sql {
  return sql`
    select r.ref, e.value from rest r cross join lateral (
      select ${similarityIn(space)} as value from ${db.schema}.memory_embedding e
      where e.memory_ref = r.ref and e.space_ref = ${space.ref} and e.active limit 1
    ) e
    order by e.value desc, r.ref limit ${limit * visiblePerCandidate}`;
}

/** The memories that hold since one of the times asked about, and what that adds to their rank. */
export function datedRows(db: Connection, { spans }: HitSelection): Sql {
  return sql`
    union all
    select m.ref, 0, 0, null, ${weights.date}::float8 + ${weights.importance}::float8 * (m.importance - 1) / 4, true
    from seer s
    cross join wanted w
    cross join unnest(
      ${spans.map(({ from }) => from)}::timestamptz[], ${spans.map(({ before }) => before)}::timestamptz[]
    ) as span (since, before)
    cross join lateral (
      select * from ${db.schema}.memory
      where owner_ref = s.id and valid_from >= span.since and valid_from < span.before offset 0
    ) m
    where ${visible}`;
}
