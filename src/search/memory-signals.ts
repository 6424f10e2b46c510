import sql, { raw, type Sql } from "sql-template-tag";
import type { MemoryKind } from "../memories/item/memory.js";
import type { EmbeddingSpace } from "../models/embedding-space.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { scopeColumns } from "../scope/scope-predicates.js";
import { type Cte, cte, float } from "./composed-statement.js";
import type { StoreFilter } from "./memory-filter.rule.js";
import type { MessageScores } from "./message-scores.js";
import type { SeenOwners } from "./question-terms.js";
import { retrievalWeights as weights } from "./retrieval-options.js";
import type { MemoryScores } from "./word-scores.js";

export interface VisibleMemories {
  readonly scope: Scope;
  readonly kinds: readonly MemoryKind[];
  readonly categories: readonly string[];
  readonly filter: StoreFilter;
}

export interface SearchedVector {
  readonly space: Pick<EmbeddingSpace, "ref" | "type" | "product" | "indexed">;
  readonly value: string;
  /** Lower similarities mean nothing in this space. */
  readonly from: number;
}

export interface HitSelection extends VisibleMemories {
  /** Null without embeddings. */
  readonly vector: SearchedVector | null;
  /** What is valid since then is found without a word of the question. */
  readonly times: Readonly<Record<"since" | "before", readonly Date[]>>;
  /** Candidates for the final ranking. */
  readonly limit: number;
}

export interface MemorySearch {
  readonly db: Connection;
  readonly owners: SeenOwners;
  readonly selection: HitSelection;
}

/** The best memories by one signal, their `value`. */
export type RankedMemories = Cte<"ref" | "value">;

/** Rows read for each candidate. */
const lookedAt = {
  /** Best matches of the question's words, of memories and of messages. */
  matches: 8,
  /** Nearest vectors, and those of visible memories among them: words find others. */
  nearest: 4,
  nearestVisible: 2,
} as const;

export type SearchSizes = ReturnType<typeof searchSizes>;

export function searchSizes(limit: number) {
  const times = (factor: number) => sql`${limit}::int * ${raw(String(factor))}`;
  return {
    candidates: sql`${limit}::int`,
    matches: times(lookedAt.matches),
    nearest: times(lookedAt.nearest),
    nearestVisible: times(lookedAt.nearestVisible),
  };
}

/** CTE `wanted`, one row of filters: the text of the statement, and so its plan, is the same for all filters. */
export function wantedMemories(db: Connection, { scope, kinds, categories, filter }: VisibleMemories): Sql {
  const { appId } = scopeColumns(scope);
  const { agentId, runId, actorId, role, category, pinned } = filter;
  const metadata = filter.metadata && JSON.stringify(filter.metadata);
  return sql`
    -- Which memories are wanted: one row.
    wanted as materialized (
      select ${appId}::text as app_id, ${kinds}::text[] as kinds, ${categories}::text[] as categories,
        ${agentId}::text as agent_id, ${runId}::text as run_id, ${actorId}::text as actor_id, ${role}::text as role,
        ${category}::text as category, ${pinned}::boolean as pinned,
        ${filter.importanceMin}::real as importance_min, ${filter.importanceMax}::real as importance_max,
        ${filter.updatedAfter}::timestamptz as updated_after, ${filter.updatedBefore}::timestamptz as updated_before,
        ${metadata}::jsonb as metadata, ${db.now()} as now
    )`;
}

/** Whether the row `m` of `memory` passes the filters of the row `w` of `wanted`. */
export const visible: Sql = sql`(
  m.state = 'active' and (m.expires_at is null or m.expires_at > w.now) and m.app_id in ('', w.app_id)
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
  and (w.metadata is null or m.metadata @> w.metadata)
)`;

/** Filtered only after the lookup: as one condition, a plan from a near-empty table scans all memories for each row. */
const memoryAt = ({ schema }: Connection, ref: Sql): Sql =>
  sql`(select * from ${schema}.memory where ref = ${ref} limit 1) m`;

/** CTE `name`: the `most` best visible memories of `from`, looked up one by one until there are enough. */
export function bestVisible(
  { db }: MemorySearch,
  { name, from, most }: { readonly name: RankedMemories; readonly from: RankedMemories; readonly most: Sql },
): Sql {
  return sql`
    ${name} as materialized (
      select t.ref, t.value
      from (select ref, value from ${from} order by value desc, ref) t
      cross join wanted w
      cross join lateral ${memoryAt(db, sql`t.ref`)}
      where ${visible}
      order by t.value desc, t.ref
      limit ${most}
    )`;
}

/** CTEs up to `source_best`: visible memories by the score of the best message that they were learned from. */
export function bestSources(
  { db, owners }: MemorySearch,
  { messages }: MessageScores,
  most: Sql,
): { readonly ctes: Sql; readonly sources: Cte<"ref" | "value" | "own"> } {
  const { schema } = db;
  return {
    sources: cte("source_best"),
    ctes: sql`
    -- Visible memories learned from the best messages: from the best down, until there are enough.
    source_top as materialized (
      select s.memory_ref as ref, c.score, c.own
      from (select thread_ref, seq, score, own from ${messages} order by score desc, thread_ref, seq) c
      cross join wanted w
      cross join lateral (
        select memory_ref from ${schema}.memory_source where thread_ref = c.thread_ref and seq = c.seq offset 0
      ) s
      cross join lateral ${memoryAt(db, sql`s.memory_ref`)}
      where m.owner_ref = any (array(select id from ${owners})) and ${visible}
      order by c.score desc, c.thread_ref, c.seq
      limit ${most}
    ),
    -- Each of them with the best score of its messages, with those around them and alone.
    source_best as materialized (
      select ref, max(score) as value, max(own) as own from source_top group by ref
    )`,
  };
}

export function nearest(
  search: MemorySearch,
  { space, value }: SearchedVector,
  sizes: SearchSizes,
): FoundMatches & { readonly ctes: Sql } {
  const top: RankedMemories = cte("near_top");
  const best: RankedMemories = cte("near_best");
  const { db, owners } = search;
  return {
    ...{ top, visible: best },
    ctes: sql`
    -- The question's vector, read once.
    question_vector as materialized (select ${value}::${space.type} as value),
    -- The nearest vectors.
    near_top as materialized (
      select e.memory_ref as ref, ${similarityIn(space)} as value
      from ${owners} s
      join ${db.schema}.memory_embedding e on e.owner_ref = s.id and e.space_ref = ${space.ref} and e.active
        ${space.indexed}
      order by value desc, ref limit ${sizes.nearest}
    ),
    -- Those of visible memories.
    ${bestVisible(search, { name: best, from: top, most: sizes.nearestVisible })},`,
  };
}

/** Of the row `e` of `memory_embedding`, after the CTEs of `nearest`. */
export function similarityIn({ product }: Pick<EmbeddingSpace, "product">): Sql {
  return sql`least(1, -(e.embedding ${product} (select value from question_vector)))`;
}

/** The best of all, and the visible ones among them. */
export type FoundMatches = Readonly<Record<"top" | "visible", RankedMemories>>;

export interface FoundBySignal {
  readonly scores: MemoryScores;
  readonly messages: MessageScores;
  readonly words: FoundMatches;
  readonly near: FoundMatches | null;
  readonly sources: RankedMemories;
}

/**
 * CTEs `rest_word`, `rest_near`, `rest_source` (ref, value): the best of all visible memories by one signal, read
 * only where a limit cut it off and filters left too few.
 *
 * Large inputs are joined in full and filtered after (`offset 0`): a condition on both sides may make a nested loop.
 */
export function rest(
  { db, owners, selection: { vector } }: MemorySearch,
  { scores, messages, words, near, sources }: FoundBySignal,
  sizes: SearchSizes,
): Sql {
  const { schema } = db;
  const few = (found: Sql, most: Sql, of: Sql, cut: Sql) =>
    sql`(select count(*) from ${found}) < ${most} and (select count(*) from ${of}) >= ${cut}`;
  const matched = sql`(select from ${messages.words} where nth = 1 limit ${sizes.matches}) h`;
  return sql`
    -- By which signals filters left less of the best than is wanted: one row.
    scant as materialized (
      select ${few(words.visible, sizes.candidates, words.top, sizes.matches)} as words,
        ${few(sources, sizes.candidates, matched, sizes.matches)} as sources,
        ${near ? few(near.visible, sizes.nearestVisible, near.top, sizes.nearest) : sql`false`} as near
    ),
    -- All visible memories, where their words or vectors are to be gone through; else none.
    rest as materialized (
      select m.ref from ${owners} s join ${schema}.memory m on m.owner_ref = s.id cross join wanted w
      where ${visible} and (select words or near from scant)
    ),
    -- The best of those by their words,
    rest_word as (
      select ref, score as value
      from (select r.ref as visible, o.* from rest r full join ${scores} o on o.ref = r.ref offset 0) f
      where visible is not null and ref is not null and (select words from scant)
      order by score desc, ref limit ${sizes.candidates}
    ),
    -- by their vectors,
    rest_near as (
      ${vector ? restNear(db, vector, sizes) : sql`select null::bigint as ref, null::float8 as value where false`}
    ),
    -- and by the own words of the messages they were learned from: what is not among the best lends none to its neighbours.
    rest_source as (
      select f.ref, max(f.total) / (select gain from ${messages.ideal}) as value
      from (
        select c.memory_ref as ref, h.total
        from (
          select l.* from ${messages.threads} t cross join lateral (
            select thread_ref, seq, memory_ref from ${schema}.memory_source where thread_ref = t.thread_ref offset 0
          ) l
          where (select sources from scant)
        ) c
        full join (select thread_ref, seq, total from ${messages.words} where nth = 1) h
          on h.thread_ref = c.thread_ref and h.seq = c.seq
        offset 0
      ) f
      cross join wanted w
      cross join lateral ${memoryAt(db, sql`f.ref`)}
      where f.ref is not null and f.total is not null and (select sources from scant)
        and m.owner_ref = any (array(select id from ${owners})) and ${visible}
      group by f.ref order by value desc, ref limit ${sizes.candidates}
    )`;
}

function restNear({ schema }: Connection, { space }: SearchedVector, sizes: SearchSizes): Sql {
  return sql`
      select r.ref, e.value from rest r cross join lateral (
        select ${similarityIn(space)} as value from ${schema}.memory_embedding e
        where e.memory_ref = r.ref and e.space_ref = ${space.ref} and e.active limit 1
      ) e
      where (select near from scant)
      order by e.value desc, r.ref limit ${sizes.nearestVisible}`;
}

/** What becomes valid at a time that the question names, and what that adds to its rank. */
export function datedRows({ db, owners, selection: { times } }: MemorySearch): Sql {
  return sql`
      union all
      select m.ref, 0, 0, null, ${float(weights.date)} + ${float(weights.importance)} * (m.importance - 1) / 4, true
      from ${owners} s
      cross join wanted w
      cross join unnest(${times.since}::timestamptz[], ${times.before}::timestamptz[]) as span (since, before)
      cross join lateral (
        select * from ${db.schema}.memory
        where owner_ref = s.id and valid_from >= span.since and valid_from < span.before offset 0
      ) m
      where ${visible}`;
}
