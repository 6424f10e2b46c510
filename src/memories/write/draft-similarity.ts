import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";

/** A unit vector, or how often a text has each stem. */
export type Measure = Float64Array | ReadonlyMap<string, number>;

/** Of two drafts, by the measure that `findCandidates` has for stored memories. */
export function similarity(one: Measure | null, other: Measure | null): number {
  if (one instanceof Float64Array && other instanceof Float64Array) return cosine(one, other);
  if (one instanceof Map && other instanceof Map) return dice(one, other);
  return 0;
}

export function vectorMeasure(vector: string): Measure {
  return Float64Array.from(JSON.parse(vector) as number[]);
}

/** The database stems. Comparing there would take a hundred times as long. */
export async function stemMeasures(db: Connection, terms: readonly string[]): Promise<Measure[]> {
  const rows = await db.query<{ place: number; lexeme: string; frequency: number }>(
    sql`
    select t.place::int - 1 as place, v.lexeme, coalesce(cardinality(v.positions), 1) as frequency
    from unnest(${terms}::text[]) with ordinality as t (terms, place)
    cross join lateral unnest(to_tsvector(${db.language}::regconfig, t.terms)) v`,
    { prepare: true },
  );
  const measures = terms.map(() => new Map<string, number>());
  for (const { place, lexeme, frequency } of rows) measures[place]?.set(lexeme, frequency);
  return measures;
}

function cosine(one: Float64Array, other: Float64Array): number {
  let product = 0;
  for (let at = 0; at < one.length; at++) product += (one[at] as number) * (other[at] as number);
  return Math.min(1, product);
}

function dice(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): number {
  let [shared, both] = [0, 0];
  for (const [stem, frequency] of one) {
    both += frequency;
    shared += Math.min(frequency, other.get(stem) ?? 0);
  }
  for (const frequency of other.values()) both += frequency;
  return both === 0 ? 0 : (2 * shared) / both;
}
