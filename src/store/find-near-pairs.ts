import type { QueryResultRow } from "pg";
import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { EmbeddingSpace } from "./embedding-space.js";
import type { WriteProbe } from "./find-write-candidates.js";

/** Two texts that are about to be written, by their places, the earlier one first. */
export interface NearPair extends QueryResultRow {
  readonly first: number;
  readonly second: number;
  readonly similarity: number;
}

/** Pairs of one text: as many as are looked at in the store. */
const neighbours = 5;

/**
 * The pairs among `probes` that are at least as similar as `least`, the nearest of each, by the measure of `findWriteCandidates`: for texts
 * that are written together and do not meet in the store. One statement, which compares each with each.
 */
export async function findNearPairs(
  db: Connection,
  input: {
    readonly probes: readonly Pick<WriteProbe, "appId" | "kind" | "terms" | "vector">[];
    readonly language: string;
    readonly space: EmbeddingSpace | null;
    readonly least: number;
  },
): Promise<NearPair[]> {
  const { probes, language, space, least } = input;
  if (probes.length < 2) return [];
  const rows = JSON.stringify(
    probes.map(({ appId, kind, terms, vector }, index) => ({ index, appId, kind, terms, vector })),
  );
  return db.query<NearPair>(
    sql`
    with probe as materialized (
      select p.*, ${space ? sql`p.vector::${space.type}` : sql`null`} as embedding
      from json_to_recordset(${rows}::json) as p (index integer, "appId" text, kind text, terms text, vector text)
    ),
    ${space ? pairsByVector(space) : pairsByTerms(language)}
    select first, second, similarity from (
      select p.*, row_number() over (partition by second order by similarity desc, first) as place
      from pair p where similarity >= ${least}
    ) near
    where place <= ${neighbours} order by second, place`,
    { prepare: true },
  );
}

function pairsByVector(space: EmbeddingSpace): Sql {
  return sql`pair as (
    select one.index as first, other.index as second, least(1, -(one.embedding ${space.product} other.embedding)) as similarity
    from probe one join probe other
      on other.index > one.index and other."appId" = one."appId" and other.kind = one.kind
  )`;
}

function pairsByTerms(language: string): Sql {
  return sql`term as materialized (
    select p.index, p."appId", p.kind, v.lexeme, coalesce(cardinality(v.positions), 1) as frequency
    from probe p cross join lateral unnest(to_tsvector(${language}::regconfig, p.terms)) v
  ),
  said as materialized (
    select index, sum(frequency) as length from term group by index
  ),
  shared as (
    select one.index as first, other.index as second, sum(least(one.frequency, other.frequency)) as shared
    from term one join term other
      on other.lexeme = one.lexeme and other.index > one.index and other."appId" = one."appId" and other.kind = one.kind
    group by one.index, other.index
  ),
  pair as (
    select s.first, s.second, (2.0 * s.shared / (one.length + other.length))::float8 as similarity
    from shared s join said one on one.index = s.first join said other on other.index = s.second
  )`;
}
