import sql, { empty, type Sql } from "sql-template-tag";
import type { MemoryItem, MemoryKind } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import type { Scope } from "../scope/scope.js";
import { scopeColumns, seenOwners } from "../scope/scope-predicates.js";
import { isPictures } from "../text/search-text.js";
import type { StoreFilter } from "./memory-filter.rule.js";
import { rangesOf } from "./question-dates.rule.js";
import { type MemoryCandidate, vectorScale } from "./rank-memories.rule.js";
import type { EmbeddedQuestion } from "./read-question.js";
import { retrievalWeights as weights } from "./retrieval-options.js";

/** Conditions on the memories that a search may find. */
export interface SearchConditions {
  readonly scope: Scope;
  readonly kinds: readonly MemoryKind[];
  readonly categories: readonly string[];
  readonly filter: StoreFilter;
}

/**
 * Finds the memories that may answer a question, and the most `important` ones if it is broad. One
 * query.
 */
export async function searchMemories(
  db: Connection,
  question: EmbeddedQuestion,
  search: SearchConditions & { readonly maxCandidates: number; readonly maxHits: number },
) {
  const owners = sql`(select ids from owner)`;
  const shown = sql`${candidateRefs} union select ref from important`;
  const rows = await db.query<{
    found: FoundMemory[];
    important: number[];
    memories: MemoryEntry[];
  }>(
    sql`
    with owner as materialized (select array(${seenOwners(db, search.scope)}) as ids),
    candidate as materialized (${candidateRows(db, owners, question, search)}),
    important as materialized (
      select * from ${db.schema}.important_memories_1(${owners}, ${visibleArguments(db, search)}, ${search.maxHits})
      where ${isBroadQuestion(db, question.terms)}
    )
    select ${foundMemories} as found, (select coalesce(json_agg(ref order by place), '[]') from important) as important,
      ${memoriesOf(db, shown)} as memories`,
    { prepare: true },
  );
  const { found = [], important = [], memories = [] } = rows[0] ?? {};
  const byRef = memoriesByRef(memories);
  return {
    candidates: candidatesOf(found, byRef),
    important: important.flatMap((ref) => byRef.get(ref) ?? []),
  };
}

/** Whether a question is empty, or has only stop words. A picture alone asks for nothing. */
export function isBroadQuestion(db: Connection, terms: string): Sql {
  if (isPictures(terms)) return sql`false`;
  return sql`not exists (select from ${lexemes(db, terms)})`;
}

export type FoundMemory = readonly [
  ref: number,
  words: number,
  source: number,
  cosine: number | null,
  hasIdentifier: boolean,
  relation: number,
  linked: readonly number[],
];

export type MemoryEntry = readonly [ref: number, memory: MemoryJson, earlier?: string | null];

/** `k1` to `exchange_weight` of the functions that compare words. */
export const wordWeights = sql`${weights.k1}, ${weights.b}, ${weights.longest}, ${weights.expectedTerms}, ${weights.part},
        ${weights.aside}, ${weights.neighbour}, ${weights.assistant}, ${weights.exchange}`;

/** The rows of `candidate`. @param owners an array expression: refs of the owners to search */
export function candidateRows(
  db: Connection,
  owners: Sql,
  question: EmbeddedQuestion,
  search: SearchConditions & { readonly maxCandidates: number },
): Sql {
  const { vector, terms, spans } = question;
  const scale = vectorScale(question);
  return sql`
      select * from ${db.schema}.search_memories_1(
        ${owners}, ${visibleArguments(db, search)}, ${search.maxCandidates},
        ${db.language}::regconfig, ${terms}, ${rangesOf(spans)}::tstzrange[],
        ${vector?.vector ?? null}, ${vector?.space.ref ?? null}::bigint,
        ${scale.from},
        ${wordWeights}, ${weights.source}, ${scale.weight}, ${weights.date}, ${weights.identifier}
      )`;
}

/** `candidateRows` without a question. */
export const noCandidates = sql`select 0::bigint as ref, 0 as words, 0 as source, 0 as similarity,
        false as has_identifier, 0 as relation, '{}'::bigint[] as linked where false`;

export const foundMemories = sql`(
      select coalesce(json_agg(json_build_array(
        ref, words, source, similarity, has_identifier, relation, linked
      ) order by ref), '[]') from candidate
    )`;

export const candidateRefs = sql`select ref from candidate union select unnest(linked) from candidate`;

/**
 * JSON for `memoriesByRef`. @param refs a query of distinct refs @param more further expressions of
 * the row `m`
 */
export function memoriesOf(db: Connection, refs: Sql, more: Sql = empty): Sql {
  return sql`(
      select coalesce(json_agg(json_build_array(r.ref, ${memoryJson(db)}${more})), '[]')
      from (${refs}) r (ref) cross join lateral (select * from ${db.schema}.memory where ref = r.ref limit 1) m
    )`;
}

export function memoriesByRef(entries: readonly MemoryEntry[]): ReadonlyMap<number, MemoryItem> {
  return new Map(
    entries.map(([ref, json, earlier]) => {
      const memory = memoryOf(json);
      return [ref, earlier ? { ...memory, earlier } : memory];
    }),
  );
}

/** `in_app, kinds, categories, filters, asked_at` of the functions in `search-memories.sql`. */
function visibleArguments(
  db: Connection,
  { scope, kinds, categories, filter }: SearchConditions,
): Sql {
  return sql`${scopeColumns(scope).appId}, ${kinds}::text[], ${categories}::text[], ${filtersOf(filter)}::jsonb, ${db.now()}`;
}

/** JSON for `fits_filters_1`. */
export function filtersOf(filter: StoreFilter): string | null {
  const given = Object.entries(filter).filter(([, value]) => value != null);
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given));
}

export const candidatesOf = (
  found: readonly FoundMemory[],
  memories: ReadonlyMap<number, MemoryItem>,
): MemoryCandidate[] =>
  found.flatMap(([ref, words, source, cosine, hasIdentifier, relation, others]) => {
    const memory = memories.get(ref);
    const linked = others.flatMap((other) => memories.get(other) ?? []);
    return memory ? { memory, words, source, cosine, hasIdentifier, relation, linked } : [];
  });
