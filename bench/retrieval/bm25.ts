import { plainText } from "../../src/text/search-text.js";
import type { BenchDatabase } from "../bench-database.js";
import type { Line } from "./measure.js";

const unsegmented =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * Scripts without spaces, which PostgreSQL does not segment, become pairs of characters, as in the
 * product.
 */
const segmented = (text: string) => (unsegmented.test(text) ? plainText(text) : text);

/** Creates the table of all indexes in a schema of its own, which the benchmark's database drops. */
export const createTable = ({ pool, schema }: BenchDatabase) =>
  pool.query(`create schema "${schema}_bm25"; create table "${schema}_bm25".word (
    index text, lexeme text, line integer, frequency integer, length integer, primary key (index, lexeme, line))`);

/**
 * An index by textbook BM25 (k1 1.2, b 0.75): what a search by words must be better than.
 *
 * @param name no other index has it.
 */
export function createBm25({ pool, schema }: BenchDatabase, name: string) {
  const all: Line[] = [];
  let words = 0;
  return {
    async add(lines: readonly Line[]): Promise<void> {
      const { rows } = await pool.query<{ words: number }>(
        `with added as (
           insert into "${schema}_bm25".word (index, lexeme, line, frequency, length)
           select $1, w.lexeme, $2::integer + t.place, cardinality(w.positions), sum(cardinality(w.positions)) over (partition by t.place)
           from unnest($3::text[]) with ordinality t (content, place) cross join unnest(to_tsvector('english', t.content)) w
           returning frequency
         )
         select coalesce(sum(frequency), 0)::integer as words from added`,
        [name, all.length - 1, lines.map(({ text }) => segmented(text))],
      );
      for (const added of rows) words += added.words;
      all.push(...lines);
    },
    /** The lines that share a word with `question`, best first. */
    async search(question: string, most: number): Promise<Line[]> {
      const { rows } = await pool.query<{ line: number }>(
        `select line from (
           select w.line, w.frequency, w.length, count(*) over (partition by lexeme) as lines
           from "${schema}_bm25".word w join unnest(to_tsvector('english', $2)) using (lexeme) where w.index = $1
         ) w
         group by line
         order by round(sum(ln(1 + ($3::float8 - lines + 0.5) / (lines + 0.5)) * frequency / (frequency + 1.2 * (0.25 + 0.75 * length / $4::float8)))::numeric, 9) desc, line
         limit $5`,
        [name, segmented(question), all.length, words / all.length, most],
      );
      return rows.flatMap(({ line }) => all[line] ?? []);
    },
  };
}
