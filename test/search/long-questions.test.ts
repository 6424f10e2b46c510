import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const messages = 60;
const mostTerms = 64;
/** Said in a third of the messages each. */
const common = Array.from({ length: 900 }, (_, n) => `ba${n.toString(16)}zu`);
const rare = "xylophone";

describe("a question of hundreds of words that the user often said", () => {
  const long = `${common.join(" ")} ${rare}`;

  beforeAll(async () => {
    const texts = Array.from({ length: messages }, (_, n) =>
      common.filter((_, i) => i % 3 === n % 3).join(" "),
    );
    texts[17] += ` ${rare}`;
    const memory = db.memory();
    await memory.record({
      scope,
      threadId: "t",
      messages: texts.map((text) => new HumanMessage(text)),
    });
    await memory.memories.add([{ text: `Plays the ${rare}.` }, { text: "Plays no bassoon." }], {
      scope,
    });
  });

  it("A question of hundreds of frequent words is searched by its rarest terms", async () => {
    const termsOf = async (question: string) => {
      const { rows } = await db.pool.query(
        `select unnest(t.lexemes) as lexeme from "${db.schema}".owner o cross join "${db.schema}".question_terms_1(array[o.id], 'english', $1, true, 6) t`,
        [question],
      );
      return rows.map((row) => row.lexeme);
    };
    expect(await termsOf(long)).toHaveLength(mostTerms);
    expect((await termsOf(long))[0]).toBe("xylophon");
    expect(await termsOf(common.slice(0, mostTerms).join(" "))).toHaveLength(mostTerms);
  });

  it("A rare word is found at any position of a long question", async () => {
    const memory = db.memory();
    for (const query of [long, `${rare} ${common.join(" ")}`]) {
      expect((await memory.query({ scope, query })).map((hit) => hit.memory.text)).toEqual([
        `Plays the ${rare}.`,
      ]);
      const [best] = await memory.transcript.search({ scope, query });
      expect(best?.seq).toBe(17);
    }
  });
});
