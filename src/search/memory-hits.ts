import sql, { empty, type Sql } from "sql-template-tag";
import type { MemoryItem } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf } from "../memories/item/memory-row.js";
import { assumedUnrelated, similarityScale } from "../models/unrelated-similarity.js";
import type { Connection } from "../postgres/connection.js";
import {
  bestVisible,
  datedRows,
  type HitSelection,
  nearest,
  type QuestionVector,
  rest,
  similarityIn,
  sources,
  visible,
  visiblePerCandidate,
  wantedMemories,
} from "./memory-signals.js";
import { messageScores } from "./message-scores.js";
import { type LexicalQuestion, questionTerms } from "./question-terms.js";
import { retrievalWeights as weights } from "./retrieval-weights.js";
import { memoryScores } from "./word-scores.js";

/** The memories that may answer a question, in no order. One round trip. */
export async function searchMemories(
  db: Connection,
  question: LexicalQuestion,
  selection: HitSelection,
): Promise<MemoryCandidate[]> {
  const rows = await db.query<FoundMemory & Record<string, unknown>>(
    sql`
    with ${questionTerms(db, question)},
    ${memoryHits(db, selection)}
    select * from found`,
    { prepare: true },
  );
  return candidatesOf(rows);
}

/** A memory that may answer a question, with the signals for its final rank. */
export interface MemoryCandidate {
  readonly memory: MemoryItem;
  /** How well its text fits the question, 0 to 1: comparable between questions. */
  readonly lexical: number;
  /** The same of the best message it was learned from, with those around that. */
  readonly source: number;
  /** The same of the thread it was learned in. */
  readonly thread: number;
  /** 1 − cosine distance; null without a vector. */
  readonly similarity: number | null;
  /** Strength of its strongest link to another candidate; 0 without. */
  readonly relation: number;
  /** Those that it is most strongly linked to, strongest first: candidates or not, but visible. */
  readonly linked: readonly MemoryItem[];
  /** The least similarity that any visible memory has, where there are many and all are known; else null. */
  readonly leastSimilarity: number | null;
}

/** Best matches of the question's words, of memories and of messages, that are looked at first for each candidate. */
const matchesPerCandidate = 8;

/** Links of a candidate that are told: some are of memories that are shown anyway. */
const toldLinks = 3;

/** Memories from which on the least similar one is unrelated to any question. */
const manyMemories = 20;

/**
 * CTE `found` with a row for each candidate ("hit") and for each memory beside them that one of them is most strongly
 * linked to ("link"), as `FoundMemory`.
 *
 * Needs the CTEs of `questionTerms`. Filters hold before anything is cut off, so the best of what they leave is never
 * missed: where they leave too few of the best matches, all that is visible is gone through (`rest`).
 */
export function memoryHits(db: Connection, selection: HitSelection): Sql {
  const { schema } = db;
  const { vector, limit, scope } = selection;
  const most = limit * matchesPerCandidate;
  return sql`
    ${wantedMemories(selection)},
    ${messageScores(db, { appId: scope.appId ?? "", most })},
    ${memoryScores(db)},
    word_top as materialized (select ref, score as value from memory_own order by score desc, ref limit ${most}),
    ${bestVisible(db, "word", limit)},
    ${vector ? nearest(db, vector, limit) : empty}
    ${sources(db)},
    ${rest(db, selection, most)},
    signal as (
      select ref, value as lexical, 0::float8 as source, null::float8 as similarity, 0::float8 as boost, true as seen from word
      union all
      select ref, value, 0, null, 0, false from word_top
      union all
      select ref, value, 0, null, 0, true from rest_word
      union all
      select ref, 0, value, null, 0, true from lift
      union all
      select ref, 0, value, null, 0, true from rest_lift
      ${vector ? sql`union all select ref, 0, 0, value, 0, true from near` : empty}
      ${vector ? sql`union all select ref, 0, 0, value, 0, false from near_top` : empty}
      ${vector ? sql`union all select ref, 0, 0, value, 0, true from rest_near` : empty}
      ${datedRows(db, selection)}
    ),
    best as materialized (
      select ref, max(lexical) as lexical, max(source) as source, max(similarity) as similarity
      from signal group by ref
      having bool_or(seen)
      order by max(lexical) + ${weights.source}::float8 * max(source)
        + ${weights.vector}::float8 * ${vector ? nearnessOf(vector) : sql`0`} + max(boost) desc, ref desc
      limit ${limit}
    ),
    chosen as materialized (
      select m.ref, m.thread_ref, s.lexical, s.source, s.similarity, ${memoryJson(db)} as memory
      from best s cross join lateral (select * from ${schema}.memory where ref = s.ref limit 1) m
    ),
    bond as materialized (
      select c.ref, max(l.strength) filter (where o.ref is not null) as relation,
        (array_agg(m.ref order by l.strength desc, m.ref) filter (where ${visible}))[1:${toldLinks}::int] as linked
      from chosen c
      join lateral (
        select r.to_ref as other, r.strength from ${schema}.relation r where r.from_ref = c.ref
        union all
        select r.from_ref, r.strength from ${schema}.relation r where r.to_ref = c.ref
      ) l on true
      join ${schema}.memory m on m.ref = l.other
      cross join wanted w
      left join chosen o on o.ref = l.other
      group by c.ref
    ),
    found as (
      select 'hit' as list, c.ref::float8 as ref, json_build_array(
        c.lexical, c.source, coalesce(h.score, 0), ${vector ? similarityOf(db, vector) : sql`null`},
        coalesce(b.relation, 0), coalesce(b.linked, '{}'), ${vector ? leastOf(limit) : sql`null`}
      ) as signals, c.memory
      from chosen c
      left join thread_own h on h.thread_ref = c.thread_ref
      left join bond b on b.ref = c.ref
      union all
      select 'link', m.ref, null, ${memoryJson(db)}
      from (select distinct unnest(linked) as ref from bond) b
      join ${schema}.memory m on m.ref = b.ref
      where b.ref not in (select ref from chosen)
    )`;
}

/** A row of `found`. */
export interface FoundMemory {
  readonly list: string;
  readonly ref: number;
  /** Of a "hit"; of other lists, the place in them. */
  readonly signals: Signals | number | null;
  readonly memory: MemoryJson;
}

/** The candidates among `rows`, in no order. */
export function candidatesOf(rows: readonly FoundMemory[]): MemoryCandidate[] {
  const found = rows.filter(({ list }) => list === "hit" || list === "link");
  const memories = new Map(found.map(({ ref, memory }) => [ref, memoryOf(memory)]));
  return found
    .filter(({ list }) => list === "hit")
    .map((row) => {
      const [lexical, source, thread, similarity, relation, linked, leastSimilarity] = row.signals as Signals;
      return {
        ...{ lexical, source, thread, similarity, relation, leastSimilarity },
        memory: memories.get(row.ref) as MemoryItem,
        linked: linked.flatMap((ref) => memories.get(ref) ?? []),
      };
    });
}

/** What each candidate is linked to, strongest first. */
export function linksOf(candidates: readonly MemoryCandidate[]): ReadonlyMap<string, readonly MemoryItem[]> {
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
];

/** `nearness`, for the choice of candidates. */
function nearnessOf({ space }: QuestionVector): Sql {
  const { from } = similarityScale(space.unrelated ?? assumedUnrelated);
  return sql`greatest(0, coalesce(max(similarity), 0) - ${from}::float8) / ${1 - from}::float8`;
}

function similarityOf(db: Connection, { space }: QuestionVector): Sql {
  return sql`coalesce(c.similarity, (
    select ${similarityIn(space)} from ${db.schema}.memory_embedding e where e.memory_ref = c.ref and e.space_ref = ${space.ref}
  ))`;
}

/** The least similarity of all visible memories, where those are many and none was cut off. */
function leastOf(limit: number): Sql {
  return sql`(
    select case when count(*) >= ${manyMemories} and count(*) < ${limit * visiblePerCandidate} then min(value) end
    from (select ref, value from near union select ref, value from rest_near) n
  )`;
}
