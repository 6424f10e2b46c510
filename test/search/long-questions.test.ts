import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import { planNodes } from "../support/query-plan.js";
import { useTestDatabase } from "../support/test-database.js";
import { type WatchedStatement, watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const messages = 60;
const mostTerms = 64;
/** Said in a third of the messages each. */
const common = Array.from({ length: 900 }, (_, n) => `ba${n.toString(16)}zu`);
const rare = "xylophone";

/** How many rows the part `name` of a statement gives. */
async function rowsOf(name: string, { text, values }: WatchedStatement): Promise<number> {
  const { rows } = await db.pool.query(`explain (analyze, format json) ${text}`, values);
  const part = planNodes(rows).find((node) => node["Subplan Name"] === `CTE ${name}`);
  if (!part) throw new Error(`there is no ${name}`);
  return part["Actual Rows"];
}

describe("a question of hundreds of words that the user often said", () => {
  const long = `${common.join(" ")} ${rare}`;

  beforeAll(async () => {
    const texts = Array.from({ length: messages }, (_, n) =>
      common.filter((_, i) => i % 3 === n % 3).join(" "),
    );
    texts[17] += ` ${rare}`;
    const memory = db.memory();
    await memory.record({ scope, threadId: "t", messages: texts.map((text) => new HumanMessage(text)) });
    await memory.memories.add([{ text: `Plays the ${rare}.` }, { text: "Plays no bassoon." }], { scope });
  });

  it.each(["recall", "query", "transcript.search"] as const)(
    "is asked by its rarest words: %s",
    async (call) => {
      const { pool, statements } = watchedPool(db.pool);
      const memory = db.memory({ database: pool });
      const calls = {
        recall: (query: string) => memory.recall({ scope, threadId: "new", query }),
        query: (query: string) => memory.query({ scope, query }),
        "transcript.search": (query: string) => memory.transcript.search({ scope, query }),
      };
      await calls[call](long);
      const [statement] = statements as [WatchedStatement];
      expect(await rowsOf("asked_term", statement)).toBe(mostTerms);
      expect(await rowsOf("message_match", statement)).toBeLessThanOrEqual(mostTerms * messages);
    },
  );

  it("finds what has a rare one of them, wherever in the question that stands", async () => {
    const memory = db.memory();
    for (const query of [long, `${rare} ${common.join(" ")}`]) {
      expect((await memory.query({ scope, query })).map((hit) => hit.memory.text)).toEqual([
        `Plays the ${rare}.`,
      ]);
      const [best] = await memory.transcript.search({ scope, query });
      expect(best?.seq).toBe(17);
    }
  });

  it("is still corrected, and asks for all of its words when those are few", async () => {
    const { pool, statements } = watchedPool(db.pool);
    const memory = db.memory({ database: pool });
    expect(await memory.query({ scope, query: "xylophonne" })).toHaveLength(1);
    statements.length = 0;
    await memory.query({ scope, query: common.slice(0, mostTerms).join(" ") });
    expect(await rowsOf("asked_term", statements[0] as WatchedStatement)).toBe(mostTerms);
    expect(await rowsOf("question_term", statements[0] as WatchedStatement)).toBe(mostTerms);
  });
});
