import type pg from "pg";
import { plainText } from "../../src/text/search-text.js";

/** How often a text has each of its words. */
export type WordCounts = ReadonlyMap<string, number>;

const unsegmented =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * PostgreSQL's English stems of `texts`. Scripts without spaces, which it does not segment, become
 * pairs of characters first, as in the product.
 */
export async function countWords(pool: pg.Pool, texts: readonly string[]): Promise<WordCounts[]> {
  const { rows } = await pool.query<{ words: Record<string, number> }>(
    `select coalesce(jsonb_object_agg(w.lexeme, cardinality(w.positions)) filter (where w.lexeme is not null), '{}') as words
     from unnest($1::text[]) with ordinality t (content, place)
     left join lateral unnest(to_tsvector('english', t.content)) w on true
     group by t.place order by t.place`,
    [texts.map((text) => (unsegmented.test(text) ? plainText(text) : text))],
  );
  return rows.map(({ words }) => new Map(Object.entries(words)));
}

/** An index of texts, each of which stands for a `Value`. */
export interface Bm25<Value> {
  add(value: Value, words: WordCounts): void;
  /** The values of the texts that share a word with `question`, best first. */
  search(question: WordCounts, most: number): Value[];
}

/** The customary saturation and length norm. */
const k1 = 1.2;
const b = 0.75;

/** Textbook BM25: what a search by words must be better than. */
export function createBm25<Value>(): Bm25<Value> {
  const texts: { readonly value: Value; readonly length: number }[] = [];
  const places = new Map<string, { readonly text: number; readonly count: number }[]>();
  let allWords = 0;
  return {
    add(value, words) {
      let length = 0;
      for (const [word, count] of words) {
        length += count;
        const found = places.get(word) ?? [];
        found.push({ text: texts.length, count });
        places.set(word, found);
      }
      texts.push({ value, length });
      allWords += length;
    },
    search(question, most) {
      const scores = new Map<number, number>();
      const averageLength = allWords / texts.length;
      for (const word of question.keys()) {
        const found = places.get(word) ?? [];
        const idf = Math.log(1 + (texts.length - found.length + 0.5) / (found.length + 0.5));
        for (const { text, count } of found) {
          const norm = 1 - b + (b * (texts[text]?.length ?? 0)) / averageLength;
          const score = (idf * count) / (count + k1 * norm);
          scores.set(text, (scores.get(text) ?? 0) + score);
        }
      }
      return [...scores]
        .toSorted(([text, score], [other, otherScore]) => otherScore - score || text - other)
        .slice(0, most)
        .flatMap(([text]) => texts[text]?.value ?? []);
    },
  };
}
