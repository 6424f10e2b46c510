import sql, { raw, type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { type Cte, cte, float } from "./composed-statement.js";
import type { AskedTerms, SeenOwners } from "./question-terms.js";
import { retrievalWeights as weights } from "./retrieval-options.js";

/** Smoothing: rarity among three texts says next to nothing. */
const unseenTexts = 20;

/** A long question tells a story and asks one thing: no answer has more of its words. */
const expectedTerms = 6;

/** A large collection: terms that most of its texts have may be skipped. */
const manyTexts = 200;

/** Lucene's idf. A term in no text is as rare as one in a single text: else unknown words would weigh most. */
export function rarity(all: Sql, found: Sql, unseen = unseenTexts): Sql {
  return sql`ln(1 + (greatest(${all}, ${found}, 1) + ${float(unseen)} - greatest(${found}, 1) + 0.5::float8)
          / (greatest(${found}, 1) + 0.5::float8))`;
}

/** Upper bound of a score; scores are shares of it. */
export function ideal(weighted: Cte<"term" | "gain">): Sql {
  return sql`
      select sum(gain) as gain from (
        select max(gain) as gain from ${weighted} group by term order by 1 desc limit ${expectedTerms}
      ) rarest
    `;
}

/** Common terms hardly change the order and cost the most to read. For rows of the owner `s` and a term each. */
function common(found: Sql, all: Sql): Sql {
  return sql`(
            ${found} > ${all} / 2.0 and ${all} >= ${raw(String(manyTexts))}
            and count(*) filter (where ${found} between 1 and ${all} / 2.0) over (partition by s.id) > 0
          )`;
}

/** The terms asked for, each with what it is worth (`gain`) and the `average` length of its owner's texts. */
export type WeightedTerms = Cte<
  "n" | "term" | "lexeme" | "weight" | "owner_ref" | "memories" | "messages" | "gain" | "average"
>;

/** @param texts document count of the term `a`, texts of the owner `s` and their length */
export function weighted(
  { terms, owners }: { readonly terms: AskedTerms; readonly owners: SeenOwners },
  texts: Readonly<Record<"found" | "all" | "length", Sql>>,
): Sql {
  const { found, all, length } = texts;
  return sql`
      select * from (
        select a.*, a.weight * ${rarity(all, found)} as gain,
          greatest(1, ${length}::float8 / greatest(1, ${all})) as average,
          ${common(found, all)} as common
        from ${terms} a join ${owners} s on s.id = a.owner_ref
      ) w
      where not w.common
    `;
}

/** How often a text has a term, for a text of average length (BM25's length norm). */
export function normed(frequency: Sql, length: Sql, averageLength: Sql, b: number): Sql {
  return sql`${frequency} / (${float(1 - b)} + ${float(b)} * ${length} / ${averageLength})`;
}

/** 0 to 1: the first mention says most, further ones less and less (BM25's saturation; Robertson & Zaragoza 2009). */
export function saturated(frequency: Sql, k1: number): Sql {
  return sql`${frequency} / (${frequency} + ${float(k1)})`;
}

export type MemoryScores = Cte<"ref" | "score">;

export function memoryScores(
  db: Connection,
  asked: { readonly terms: AskedTerms; readonly owners: SeenOwners },
): { readonly ctes: Sql; readonly weights: WeightedTerms; readonly scores: MemoryScores } {
  const { k1, b } = weights.memory;
  const texts = { found: sql`a.memories`, all: sql`s.memory_count`, length: sql`s.memory_length` };
  return {
    weights: cte("memory_weight"),
    scores: cte("memory_score"),
    ctes: sql`
    -- What each term is worth among memories.
    memory_weight as materialized (
      select w.*, ${float(k1 * (1 - b))} as base, ${float(k1 * b)} / w.average as slope
      from (${weighted(asked, texts)}) w
    ),
    -- What a memory would score that has them all.
    memory_ideal as materialized (${ideal(cte("memory_weight"))}),
    -- How well each memory's words fit: BM25, with all that is the same for a term computed once. In single precision,
    -- so that texts that fit equally well are equals, in whatever order their words are summed up.
    memory_score as (
      select t.memory_ref as ref, (
          sum(w.gain * t.frequency / (t.frequency + w.base + w.slope * t.length)) / (select gain from memory_ideal)
        )::real::float8 as score
      from memory_weight w
      join ${db.schema}.memory_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
      group by t.memory_ref
    )`,
  };
}
