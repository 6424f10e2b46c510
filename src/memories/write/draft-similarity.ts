import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import { lexemes } from "../../postgres/lexemes.js";
import { shareOfCounts } from "../../text/shared-words.js";

/** A unit vector, or the frequency of each stem. */
export type Measure = readonly number[] | ReadonlyMap<string, number>;

/** The similarity of two drafts, as `findCandidates` computes it for stored memories. */
export function similarity(one: Measure | null, other: Measure | null): number {
  if (one === null || other === null) return 0;
  if (!("length" in one)) return "length" in other ? 0 : shareOfCounts(one, other);
  if (!("length" in other)) return 0;
  let product = 0;
  for (let at = 0; at < one.length; at++) product += (one[at] as number) * (other[at] as number);
  return Math.min(1, product);
}

/** Stem frequencies of `terms`. Comparing in the database would take a hundred times as long. */
export async function stemMeasures(db: Connection, terms: readonly string[]): Promise<Measure[]> {
  const rows = await db.query<{ place: number; lexeme: string; frequency: number }>(
    sql`
    select t.place::int - 1 as place, w.lexeme, w.frequency
    from unnest(${terms}::text[]) with ordinality as t (terms, place)
    cross join lateral ${lexemes(db, sql`t.terms`)} w`,
    { prepare: true },
  );
  const measures = terms.map(() => new Map<string, number>());
  for (const { place, lexeme, frequency } of rows) measures[place]?.set(lexeme, frequency);
  return measures;
}
