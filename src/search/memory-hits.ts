import sql, { empty, type Sql } from "sql-template-tag";
import type { MemoryItem } from "../memories/item/memory.js";
import { givingWay, type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import { assumedUnrelated, similarityScale } from "../models/unrelated-similarity.rule.js";
import type { Connection } from "../postgres/connection.js";
import { type Cte, cte, float } from "./composed-statement.js";
import { importantMemories } from "./important-memories.js";
import {
  bestSources,
  bestVisible,
  datedRows,
  type FoundBySignal,
  type FoundMatches,
  type HitSelection,
  type MemorySearch,
  nearest,
  type RankedMemories,
  rest,
  type SearchedVector,
  type SearchSizes,
  searchSizes,
  similarityIn,
  type VisibleMemories,
  visible,
  wantedMemories,
} from "./memory-signals.js";
import { messageScores } from "./message-scores.js";
import { type AskedTerms, questionTerms, type SeenOwners, seenOwners } from "./question-terms.js";
import type { MemoryLinks, MemorySignals } from "./rank-memories.rule.js";
import type { EmbeddedQuestion } from "./read-question.js";
import { retrievalWeights as weights } from "./retrieval-options.js";
import { memoryScores } from "./word-scores.js";

/** More than are shown: some links are of memories that are hits. */
const toldLinks = 3;

/** Memories from which on the least similar one is unrelated to any question. */
const manyMemories = 20;

export interface SearchedMemories {
  readonly candidates: readonly MemoryCandidate[];
  /** The most important memories, where the question asks for everything. */
  readonly important: readonly MemoryItem[];
}

/** The memories that may answer a question. One round trip. */
export async function searchMemories(
  db: Connection,
  question: EmbeddedQuestion,
  visibleTo: VisibleMemories & { readonly limit: number; readonly most: number },
): Promise<SearchedMemories> {
  const { ctes, owners } = seenOwners(db, visibleTo.scope);
  const asked = questionTerms(db, owners, question);
  const hits = memoryHits(db, { owners, terms: asked.terms }, { ...visibleTo, ...searchedBy(question) });
  const rows = await db.query<FoundMemory & Record<string, unknown>>(
    sql`with ${ctes},${asked.ctes},${hits.ctes},${importantMemories(db, owners, question, visibleTo.most)}
    select * from ${hits.found} union all select * from important`,
    { prepare: true },
  );
  const important = rows.filter(({ list }) => list === "important");
  const found = rows.filter(({ list }) => list === "hit" || list === "link");
  return {
    candidates: candidatesOf(found, new Map(found.map(({ ref, memory }) => [ref, memoryOf(memory)]))),
    important: important
      .toSorted((first, second) => Number(first.signals) - Number(second.signals))
      .map(({ memory }) => memoryOf(memory)),
  };
}

export function searchedBy({ vector, spans }: EmbeddedQuestion): Pick<HitSelection, "vector" | "times"> {
  return {
    times: { since: spans.map(({ from }) => from), before: spans.map(({ before }) => before) },
    vector: vector && {
      space: vector.space,
      value: vector.vector,
      from: similarityScale(vector.space.unrelated ?? assumedUnrelated).from,
    },
  };
}

export interface MemoryCandidate extends MemorySignals {
  /** Those that it is most strongly linked to, strongest first: candidates or not, but visible. */
  readonly linked: readonly MemoryItem[];
}

/** A row for each candidate ("hit"), and for each other memory that one is most strongly linked to ("link"). */
export type FoundMemories = Cte<keyof FoundMemory>;

/** CTEs up to the candidates. Filters apply before limits; where they leave too few of the best, `rest` reads all. */
export function memoryHits(
  db: Connection,
  asked: { readonly owners: SeenOwners; readonly terms: AskedTerms },
  selection: HitSelection,
): { readonly ctes: Sql; readonly found: FoundMemories } {
  const { vector, limit, scope } = selection;
  const search: MemorySearch = { db, owners: asked.owners, selection };
  const sizes = searchSizes(limit);
  const messages = messageScores(db, asked, {
    ...{ appId: scope.appId ?? "", sources: true, most: sizes.matches },
  });
  const memories = memoryScores(db, asked);
  const words = { top: cte("word_top"), visible: cte("word_best") } as const;
  const near = vector && nearest(search, vector, sizes);
  const sources = bestSources(search, messages, sizes.matches);
  const signals = { messages, words, near, scores: memories.scores, sources: sources.sources };
  const least = near ? leastOf(near.visible, sizes.nearestVisible) : sql`null`;
  return {
    found: cte("found"),
    ctes: sql`
    ${wantedMemories(db, selection)},
    ${messages.ctes},
    ${memories.ctes},
    -- The best by their words.
    word_top as materialized (
      select ref, score as value from ${memories.scores} order by score desc, ref limit ${sizes.matches}
    ),
    -- Those that are visible.
    ${bestVisible(search, { name: words.visible, from: words.top, most: sizes.candidates })},
    ${near ? near.ctes : empty}
    ${sources.ctes},
    ${rest(search, signals, sizes)},
    ${candidates(search, signals, sizes)},
    ${hitsAndLinks(search, { ...messages, sources: sources.sources, least })}`,
  };
}

function candidates(search: MemorySearch, { words, near, sources }: FoundBySignal, sizes: SearchSizes): Sql {
  const { vector } = search.selection;
  return sql`
    -- What speaks for each memory; only what is visible may be found.
    signal as (
      select ref, value as lexical, 0::float8 as source, null::float8 as similarity, 0::float8 as boost, true as visible
      from ${words.visible}
      union all
      select ref, value, 0, null, 0, false from ${words.top}
      union all
      select ref, value, 0, null, 0, true from rest_word
      union all
      select ref, 0, value, null, 0, true from ${sources}
      union all
      select ref, 0, value, null, 0, true from rest_source
      ${near ? nearRows(near) : empty}
      ${datedRows(search)}
    ),
    -- The candidates.
    candidate as materialized (
      select ref, max(lexical) as lexical, max(source) as source, max(similarity) as similarity
      from signal group by ref
      having bool_or(visible)
      order by max(lexical) + ${float(weights.source)} * max(source)
        + ${float(weights.vector)} * ${vector ? nearnessOf(vector) : sql`0`} + max(boost) desc, ref desc
      limit ${sizes.candidates}
    )`;
}

function hitsAndLinks(
  { db, selection: { vector } }: MemorySearch,
  {
    threads,
    sources,
    least,
  }: { readonly threads: Sql; readonly sources: Cte<"ref" | "own">; readonly least: Sql },
): Sql {
  const { schema } = db;
  return sql`
    -- With their memories.
    hit as materialized (
      select m.ref, m.thread_ref, s.lexical, s.source, s.similarity, ${memoryJson(db)} as memory
      from candidate s cross join lateral (select * from ${schema}.memory where ref = s.ref limit 1) m
    ),
    -- The strength of each one's strongest link to another, and what it is most strongly linked to.
    hit_link as materialized (
      select l.ref, max(l.strength) filter (where o.ref is not null) as relation,
        (array_agg(m.ref order by ${givingWay}, l.strength desc, m.ref) filter (where ${visible}))[1:${toldLinks}::int] as linked
      from (
        select r.from_ref as ref, r.to_ref as other, r.strength from ${schema}.relation r
        where r.from_ref = any (array(select ref from hit))
        union all
        select r.to_ref, r.from_ref, r.strength from ${schema}.relation r
        where r.to_ref = any (array(select ref from hit))
      ) l
      cross join lateral (select * from ${schema}.memory where ref = l.other limit 1) m
      cross join wanted w
      left join hit o on o.ref = l.other
      group by l.ref
    ),
    -- The answer: candidates with their signals, and what they are linked to.
    found as (
      select 'hit' as list, c.ref::float8 as ref, json_build_array(
        c.lexical, c.source, coalesce(h.score, 0), ${vector ? similarityOf(db, vector) : sql`null`},
        coalesce(b.relation, 0), coalesce(b.linked, '{}'), ${least},
        c.ref in (select ref from ${sources} where own > 0 union all select ref from rest_source)
      ) as signals, c.memory
      from hit c
      left join ${threads} h on h.thread_ref = c.thread_ref
      left join hit_link b on b.ref = c.ref
      union all
      select 'link', m.ref, null, ${memoryJson(db)}
      from (select distinct unnest(linked) as ref from hit_link) b
      join ${schema}.memory m on m.ref = b.ref
      where b.ref not in (select ref from hit)
    )`;
}

function nearRows({ top, visible }: FoundMatches): Sql {
  return sql`
      union all
      select ref, 0, 0, value, 0, true from ${visible}
      union all
      select ref, 0, 0, value, 0, false from ${top}
      union all
      select ref, 0, 0, value, 0, true from rest_near`;
}

export interface FoundMemory {
  readonly list: string;
  readonly ref: number;
  /** Of a "hit"; of other lists, the place in them. */
  readonly signals: Signals | number | null;
  readonly memory: MemoryJson;
}

/** The candidates among `rows`, in the order of their refs, with their `memories` by ref. */
export function candidatesOf(
  rows: readonly FoundMemory[],
  memories: ReadonlyMap<number, MemoryItem>,
): MemoryCandidate[] {
  return rows
    .filter(({ list }) => list === "hit")
    .toSorted((first, second) => first.ref - second.ref)
    .map((row) => {
      const [lexical, source, thread, similarity, relation, linked, leastSimilarity, worded] =
        row.signals as Signals;
      return {
        ...{ lexical, source, thread, similarity, relation, leastSimilarity, worded },
        memory: memories.get(row.ref) as MemoryItem,
        linked: linked.flatMap((ref) => memories.get(ref) ?? []),
      };
    });
}

export function linksOf(candidates: readonly MemoryCandidate[]): MemoryLinks {
  return new Map(candidates.map(({ memory, linked }) => [memory.id, linked]));
}

type Signals = readonly [
  lexical: number,
  source: number,
  thread: number,
  similarity: number | null,
  relation: number,
  linked: readonly number[],
  leastSimilarity: number | null,
  worded: boolean,
];

function nearnessOf({ from }: SearchedVector): Sql {
  return sql`greatest(0, coalesce(max(similarity), 0) - ${from}::float8) / (1 - ${from}::float8)`;
}

function similarityOf(db: Connection, { space }: SearchedVector): Sql {
  return sql`coalesce(c.similarity, (
          select ${similarityIn(space)} from ${db.schema}.memory_embedding e
          where e.memory_ref = c.ref and e.space_ref = ${space.ref}
        ))`;
}

/** Null where the memories are few, or the nearest ones were cut off. */
function leastOf(near: RankedMemories, most: Sql): Sql {
  return sql`(
          select case when count(*) >= ${manyMemories} and count(*) < ${most} then min(value) end
          from (select ref, value from ${near} union select ref, value from rest_near) n
        )`;
}
