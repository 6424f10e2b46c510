import sql, { type Sql } from "sql-template-tag";
import type { MemoryItem, MemoryKind } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import { assumedUnrelated, similarityScale } from "../models/unrelated-similarity.rule.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { scopeColumns, seenOwners } from "../scope/scope-predicates.js";
import type { StoreFilter } from "./memory-filter.rule.js";
import type { MemoryLinks, MemorySignals } from "./rank-memories.rule.js";
import type { EmbeddedQuestion } from "./read-question.js";
import { retrievalWeights as weights } from "./retrieval-options.js";
import { rangesOf } from "./time-span.rule.js";

export interface VisibleMemories {
  readonly scope: Scope;
  readonly kinds: readonly MemoryKind[];
  readonly categories: readonly string[];
  readonly filter: StoreFilter;
}

/** A memory with the signals of its rank, and the ids of what it is linked to. */
export interface MemoryCandidate extends MemorySignals {
  readonly linked: readonly MemoryItem[];
}

export interface SearchedMemories {
  readonly candidates: readonly MemoryCandidate[];
  /** The most important memories, where the question asks for everything. */
  readonly important: readonly MemoryItem[];
}

/** The memories that may answer a question. One statement. */
export async function searchMemories(
  db: Connection,
  question: EmbeddedQuestion,
  search: VisibleMemories & { readonly limit: number; readonly most: number },
): Promise<SearchedMemories> {
  const { most } = search;
  const rows = await db.query<{ found: FoundMemory[]; important: MemoryJson[] }>(
    sql`
    with owner as materialized (select array(${seenOwners(db, search.scope)}) as ids)
    select ${foundMemories(db, sql`(select ids from owner)`, question, search)} as found, (
      select coalesce(json_agg(${memoryJson(db)} order by i.place), '[]')
      from ${db.schema}.important_memories_1((select ids from owner), ${visibleArguments(db, search)}, ${most}) i
      cross join lateral (select * from ${db.schema}.memory where ref = i.ref limit 1) m
      where ${asksForAll(db, question.terms)}
    ) as important`,
    { prepare: true },
  );
  const { found = [], important = [] } = rows[0] ?? {};
  return { candidates: candidatesOf(found), important: important.map(memoryOf) };
}

/** Whether a question asks for everything: it is empty, or has stop words alone. */
export function asksForAll(db: Connection, terms: string): Sql {
  return sql`to_tsvector(${db.language}::regconfig, ${terms}::text) = ''::tsvector`;
}

/** A candidate as `foundMemories` gives it; without signals, what candidates are linked to. */
export type FoundMemory = readonly [ref: number, signals: Signals | null, memory: MemoryJson];

type Signals = readonly [
  words: number,
  source: number,
  similarity: number | null,
  hasIdentifier: boolean,
  relation: number,
  linked: readonly number[],
];

/**
 * JSON of the candidates and of what they are linked to, for `candidatesOf`.
 * @param owners an expression: the refs of the owners whose memories are searched
 */
export function foundMemories(
  db: Connection,
  owners: Sql,
  question: EmbeddedQuestion,
  search: VisibleMemories & { readonly limit: number },
): Sql {
  const { vector, terms, spans } = question;
  return sql`(
      with candidate as materialized (
        select * from ${db.schema}.search_memories_1(
          ${owners}, ${visibleArguments(db, search)}, ${search.limit},
          ${db.language}::regconfig, ${terms}, ${rangesOf(spans)}::tstzrange[],
          ${vector?.vector ?? null}, ${vector?.space.ref ?? null}::bigint,
          ${similarityScale(vector?.space.unrelated ?? assumedUnrelated).from},
          ${weights.k1}, ${weights.b}, ${weights.expectedTerms}, ${weights.neighbour}, ${weights.assistant},
          ${weights.source}, ${weights.vector}, ${weights.date}, ${weights.identifier}
        )
      )
      select coalesce(json_agg(json_build_array(c.ref, c.signals, ${memoryJson(db)})), '[]')
      from (
        select ref, json_build_array(words, source, similarity, has_identifier, relation, linked) as signals from candidate
        union all
        select l.ref, null from (select distinct unnest(linked) as ref from candidate) l
        where l.ref not in (select ref from candidate)
      ) c
      cross join lateral (select * from ${db.schema}.memory where ref = c.ref limit 1) m
    )`;
}

/** `in_app, kinds, categories, filters, asked_at` of the functions in `search-memories.sql`. */
export function visibleArguments(db: Connection, { scope, kinds, categories, filter }: VisibleMemories): Sql {
  const set = Object.entries(filter).filter(([, value]) => value !== null);
  const filters = set.length === 0 ? null : JSON.stringify(Object.fromEntries(set));
  return sql`${scopeColumns(scope).appId}, ${kinds}::text[], ${categories}::text[], ${filters}::jsonb, ${db.now()}`;
}

/** The candidates among `found`, in the order of their refs. */
export function candidatesOf(found: readonly FoundMemory[]): MemoryCandidate[] {
  const memories = new Map(found.map(([ref, , memory]) => [ref, memoryOf(memory)]));
  return found
    .toSorted(([first], [second]) => first - second)
    .flatMap(([ref, signals]) => {
      if (signals === null) return [];
      const [words, source, similarity, hasIdentifier, relation, linked] = signals;
      return {
        ...{ words, source, similarity, hasIdentifier, relation },
        memory: memories.get(ref) as MemoryItem,
        linked: linked.flatMap((other) => memories.get(other) ?? []),
      };
    });
}

export function linksOf(candidates: readonly MemoryCandidate[]): MemoryLinks {
  return new Map(candidates.map(({ memory, linked }) => [memory.id, linked]));
}
