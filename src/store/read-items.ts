import type { Item } from "@langchain/langgraph-checkpoint";
import sql, { empty, join, type Sql } from "sql-template-tag";
import { similarityScale } from "../models/unrelated-similarity.rule.js";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import type { ScopeColumns } from "../scope/scope-predicates.js";
import { type QuestionVector, questionTerms } from "../search/read-question.js";
import { retrievalWeights } from "../search/retrieval-options.js";
import { isBroadQuestion } from "../search/search-memories.js";
import { hasLabels, isBelow, itemFits } from "./item-conditions.js";
import type { BatchedOperation } from "./store-operation.js";
import { isKept, itemOf, itemPlace } from "./written-items.js";

export type BatchedRead = Exclude<BatchedOperation, { kind: "put" }> & {
  readonly vector: QuestionVector | null;
  /** Whether the batch writes before it; it sees those writes. */
  readonly seesWrites: boolean;
};

/** A row for each item or namespace, in the order of `place` for the operation `n`. */
export interface FoundItem extends Item {
  readonly n: number;
  readonly score: number | null;
}

export function readItems(db: Connection, scope: ScopeColumns, read: BatchedRead): Sql {
  const items = seenItems(db, scope, read);
  switch (read.kind) {
    case "get": {
      const item = sql`${items} i where i.item = ${itemOf(read.path, read.key)}`;
      return found(db, read.n, sql`1`, sql`null::float8`, item);
    }
    case "search":
      return read.query === null
        ? listedItems(db, items, read)
        : ranked(db, items, read, read.query);
    case "list":
      return namespaces(items, read);
  }
}

/** Unexpired items after the earlier writes of the batch. */
function seenItems(
  db: Connection,
  scope: ScopeColumns,
  { n, vector, seesWrites }: BatchedRead,
): Sql {
  const { schema } = db;
  const vectors = vector
    ? sql`(
        select e.embeddings from ${schema}.store_embedding e
        where e.item_ref = i.ref and e.space_ref = ${vector.space.ref} and e.revision = i.revision
      )`
    : sql`null`;
  const columns = sql`i.namespace, i.path, i.path_head, i.key, i.item, i.value, i.words, i.ttl_minutes`;
  const kept = sql`
      select i.ref, 0 as written, ${columns}, i.created_at, i.updated_at, ${vectors} as embeddings
      from ${schema}.store_item i where i.place = ${itemPlace(scope)} and ${isKept(db)}`;
  if (!seesWrites) return sql`(${kept})`;
  const embeddings = vector ? sql`i.embeddings` : sql`null`;
  return sql`(${kept} and not exists (select from written w where w.item = i.item and w.n < ${n})
      union all
      select null::bigint, i.n, ${columns}, coalesce(k.created_at, ${db.now()}), ${db.now()}, ${embeddings}
      from written i
      left join ${schema}.store_item k on k.place = ${itemPlace(scope)} and k.item = i.item and ${isKept(db, "k")}
      where i.n < ${n} and i.value is not null
        and not exists (select from written w where w.item = i.item and w.n > i.n and w.n < ${n})
    )`;
}

function found(db: Connection, n: number, place: Sql, score: Sql, from: Sql): Sql {
  return sql`select ${n}::int as n, ${place} as place, i.ref, i.namespace, i.key, i.value, i.created_at as "createdAt",
      i.updated_at as "updatedAt", ${score} as score, ${db.now()} + i.ttl_minutes * interval '1 minute' as expires_at
    from ${from}`;
}

/** Newest first; items of one statement by position, last first. */
const newest = sql`i.updated_at desc, i.written desc, i.ref desc`;

type SearchRead = Extract<BatchedRead, { kind: "search" }>;

function listedItems(
  db: Connection,
  items: Sql,
  { n, path, conditions, limit, offset }: SearchRead,
): Sql {
  return sql`(
    ${found(db, n, sql`row_number() over (order by ${newest})`, sql`null::float8`, sql`${items} i`)}
    where ${isBelow(path)} and ${itemFits(conditions)}
    order by ${newest} limit ${limit} offset ${offset}
  )`;
}

/** A term of `to_tsvector` as a query for exactly this term. */
const termQuery = sql`('''' || replace(replace(v.lexeme, E'\\\\', E'\\\\\\\\'), '''', '''''') || '''')::tsquery`;

/**
 * Best first; words and vector are weighted as in a search for memories. A broad query finds all.
 */
function ranked(db: Connection, items: Sql, read: SearchRead, query: string): Sql {
  const { n, path, conditions, vector, limit, offset } = read;
  const terms = questionTerms(query);
  const { b, expectedTerms, part, vector: weight } = retrievalWeights;
  const nearest = vector
    ? sql`(select max(-(e ${vector.space.product} ${vector.vector}::${vector.space.type})) from unnest(i.embeddings) e)`
    : sql`null::float8`;
  const { from } = similarityScale(vector?.space.unrelated);
  const near = sql`greatest(0, (i.similarity - ${from}::float8) / ${1 - from}::float8)`;
  const score = vector
    ? sql`(i.lexical + ${weight}::float8 * coalesce(${near}, 0)) / ${1 + weight}::float8`
    : sql`i.lexical`;
  return sql`(
    with searched as materialized (
      select i.*, ${nearest} as similarity from ${items} i where ${isBelow(path)} and ${itemFits(conditions)}
    ),
    size as materialized (
      select count(words)::float8 as count, greatest(1, avg(length(words)))::float8 as length from searched
    ),
    -- What each word of the query is worth among the items searched.
    asked as materialized (
      select v.lexeme as term, ${termQuery} as query,
        ln(1 + (size.count - greatest(f.items, 1) + 0.5) / (greatest(f.items, 1) + 0.5))
          * case when v.frequency = 0 then ${part}::float8 else 1 end as idf
      from ${lexemes(db, terms)} v cross join size
      cross join lateral (select count(*)::float8 as items from searched s where s.words @@ ${termQuery}) f
    ),
    scored as (
      select i.*, coalesce((
        select sum(a.idf * least(1, 1 / (${1 - b}::float8 + ${b}::float8 * length(i.words) / size.length)))
        from asked a where i.words @@ a.query
      ) / nullif((select sum(idf) from (select idf from asked order by idf desc limit ${expectedTerms}) best), 0), 0)::float8 as lexical
      from searched i cross join size
    ),
    hit as (
      select i.*, case when i.lexical > 0 or i.similarity is not null then ${score} end as score
      from scored i
      where i.lexical > 0 or i.similarity is not null or ${isBroadQuestion(db, terms)}
    )
    ${found(db, n, sql`row_number() over (order by i.score desc nulls last, i.similarity desc nulls last, ${newest})`, sql`i.score`, sql`hit i`)}
    order by place limit ${limit} offset ${offset}
  )`;
}

function namespaces(items: Sql, read: Extract<BatchedRead, { kind: "list" }>): Sql {
  const { n, path, matches, maxDepth, limit, offset } = read;
  const namespace = maxDepth === null ? sql`i.namespace` : sql`i.namespace[1:${maxDepth}::int]`;
  const matched = matches.map((match) => sql`and ${hasLabels(match)}`);
  return sql`(
    select ${n}::int as n, row_number() over (order by l.namespace) as place, null::bigint as ref, l.namespace,
      null::text as key, null::jsonb as value, null::timestamptz as "createdAt", null::timestamptz as "updatedAt",
      null::float8 as score, null::timestamptz as expires_at
    from (
      select distinct ${namespace} as namespace from ${items} i
      where ${isBelow(path)} ${matched.length > 0 ? join(matched, " ") : empty}
    ) l
    order by l.namespace limit ${limit} offset ${offset}
  )`;
}
