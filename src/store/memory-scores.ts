import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { retrievalWeights as weights } from "../domain/retrieval-weights.js";
import { ideal, weighted } from "./bm25.js";

/** CTE `memory_own` (ref, score): how well each memory fits what is asked. */
export function memoryScores(db: Connection): Sql {
  const { k1, b } = weights.memory;
  return sql`
    memory_weight as materialized (
      select w.*, ${k1 * (1 - b)}::float8 as base, ${k1 * b}::float8 / w.average as slope
      from (${weighted({ found: sql`a.memories`, all: sql`s.memory_count`, length: sql`s.memory_length` })}) w
    ),
    memory_ideal as materialized (
      ${ideal(sql`memory_weight`)}
    ),
    memory_own as (
      -- BM25's saturated and normed frequency, with all that is the same for a term computed once.
      select t.memory_ref as ref,
        sum(w.gain * t.frequency / (t.frequency + w.base + w.slope * t.length)) / (select gain from memory_ideal) as score
      from memory_weight w
      join ${db.schema}.memory_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
      group by t.memory_ref
    )`;
}
