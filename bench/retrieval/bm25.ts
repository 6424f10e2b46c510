import type pg from "pg";
import { plainText } from "../../src/text/search-text.js";

/** Textbook BM25 over texts: what a search by words must be better than. */
export interface Bm25<Item> {
  add(items: readonly Item[]): Promise<void>;
  /** The items that share a word with `question`, best first. */
  search(question: string, most: number): Promise<Item[]>;
}

/** The customary saturation and length norm. */
const k1 = 1.2;
const b = 0.75;

export function createBm25<Item extends { readonly text: string }>(pool: pg.Pool): Bm25<Item> {
  const texts: { readonly item: Item; readonly length: number }[] = [];
  const places = new Map<string, { readonly text: number; readonly count: number }[]>();
  let allWords = 0;
  return {
    async add(items) {
      const counted = await countWords(
        pool,
        items.map(({ text }) => text),
      );
      for (const [index, item] of items.entries()) {
        let length = 0;
        for (const [word, count] of Object.entries(counted[index] ?? {})) {
          length += count;
          places.set(word, [...(places.get(word) ?? []), { text: texts.length, count }]);
        }
        texts.push({ item, length });
        allWords += length;
      }
    },
    async search(question, most) {
      const [asked = {}] = await countWords(pool, [question]);
      const scores = new Map<number, number>();
      for (const word of Object.keys(asked)) {
        const found = places.get(word) ?? [];
        const idf = Math.log(1 + (texts.length - found.length + 0.5) / (found.length + 0.5));
        for (const { text, count } of found) {
          const share = ((texts[text]?.length ?? 0) * texts.length) / allWords;
          const score = (idf * count) / (count + k1 * (1 - b + b * share));
          scores.set(text, (scores.get(text) ?? 0) + score);
        }
      }
      return [...scores]
        .toSorted(([text, score], [other, otherScore]) => otherScore - score || text - other)
        .slice(0, most)
        .flatMap(([text]) => texts[text]?.item ?? []);
    },
  };
}

const unsegmented =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * PostgreSQL's English stems of each text, with their counts. Scripts without spaces, which it does
 * not segment, become pairs of characters first, as in the product.
 */
async function countWords(
  pool: pg.Pool,
  texts: readonly string[],
): Promise<Readonly<Record<string, number>>[]> {
  const { rows } = await pool.query<{ words: Readonly<Record<string, number>> }>(
    `select coalesce(jsonb_object_agg(w.lexeme, cardinality(w.positions)) filter (where w.lexeme is not null), '{}') as words
     from unnest($1::text[]) with ordinality t (content, place)
     left join lateral unnest(to_tsvector('english', t.content)) w on true
     group by t.place order by t.place`,
    [texts.map((text) => (unsegmented.test(text) ? plainText(text) : text))],
  );
  return rows.map(({ words }) => words);
}
