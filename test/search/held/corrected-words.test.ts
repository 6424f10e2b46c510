import sql from "sql-template-tag";
import { expect, it } from "vitest";
import { createDatabase, type Database } from "../../../src/postgres/database.js";
import { createCorrectedWords } from "../../../src/search/held/corrected-words.js";
import { useTestDatabase } from "../../support/test-database.js";
import { watchedPool } from "../../support/watched-pool.js";

const db = useTestDatabase();
const timeoutMs = 60_000;

function watched() {
  const { pool, statements } = watchedPool(db.pool);
  const database: Database = createDatabase(pool, { schemaName: db.schema }, async () => {});
  return { statements, corrected: createCorrectedWords(database) };
}

async function lexemesOf(text: string, edits = false): Promise<string[]> {
  const { schema } = db.database;
  const [row] = await db.database.query<{ lexemes: string[] }>(sql`
    select array(
      select lexeme from unnest(to_tsvector('english', case when ${edits} then ${schema}.one_edit_away(${text}) else ${text} end))
    ) as lexemes`);
  return row!.lexemes;
}

it("a word that no text has comes with the lexemes of all words one edit away, the others with their own", async () => {
  const { corrected } = watched();
  const forms = await corrected.find(["gardn", "trains", "the"], new Set(["gardn"]), timeoutMs);
  expect(forms.get("gardn")).toEqual({ lexemes: ["gardn"], near: await lexemesOf("gardn", true) });
  expect(forms.get("gardn")?.near).toContain("garden");
  expect(forms.get("trains")).toEqual({ lexemes: ["train"], near: [] });
  expect(forms.get("the")).toEqual({ lexemes: [], near: [] });
});

it("what was looked up is not looked up again, unless a word is unknown only now", async () => {
  const { corrected, statements } = watched();
  const find = (words: string[], unknown: string[]) => corrected.find(words, new Set(unknown), timeoutMs);
  const first = await find(["gardn", "trains"], ["gardn"]);
  expect(await find(["gardn", "trains"], ["gardn"])).toEqual(first);
  expect(statements).toHaveLength(1);
  const both = await find(["trains", "gardn"], ["train", "gardn"]);
  expect(statements).toHaveLength(2);
  expect(both.get("trains")).toEqual({ lexemes: ["train"], near: await lexemesOf("trains", true) });
  expect(both.get("gardn")).toEqual(first.get("gardn"));
  expect(await find([], ["x"])).toEqual(new Map());
  expect(statements).toHaveLength(2);
});

it("the first six are corrected, whichever of them are known here already", async () => {
  const { corrected } = watched();
  const words = ["aaab", "bbbc", "cccd", "ddde", "eeef", "fffg", "gggh", "hhhi"];
  await corrected.find(words.slice(4), new Set(words), timeoutMs);
  const forms = await corrected.find(words, new Set(words), timeoutMs);
  const near = [...forms.values()].map((each) => each.near.length > 0);
  expect(near).toEqual([true, true, true, true, true, true, false, false]);
  expect([...forms.keys()]).toEqual(words);
});

it("forgets the oldest words rather than growing without end", async () => {
  const { corrected, statements } = watched();
  const letters = "bcdfghjklmnpqrstvwxz";
  const word = (n: number) =>
    `${letters[n % 20]}${letters[Math.floor(n / 20) % 20]}quibblingly${letters[n % 7]}`;
  for (let n = 0; n < 300; n += 6) {
    const words = Array.from({ length: 6 }, (_, index) => word(n + index));
    await corrected.find(
      words,
      new Set((await Promise.all(words.map((each) => lexemesOf(each)))).flat()),
      timeoutMs,
    );
  }
  const before = statements.length;
  await corrected.find([word(299)], new Set(await lexemesOf(word(299))), timeoutMs);
  expect(statements).toHaveLength(before);
  await corrected.find([word(0)], new Set(await lexemesOf(word(0))), timeoutMs);
  expect(statements).toHaveLength(before + 1);
});
