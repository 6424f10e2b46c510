import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const messages = 60;
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
    await memory.memories.add({
      scope,
      memories: [{ text: `Plays the ${rare}.` }, { text: "Plays no bassoon." }],
    });
  });

  it("A rare word is found at any position of a long question", async () => {
    const memory = db.memory();
    for (const query of [long, `${rare} ${common.join(" ")}`]) {
      expect(
        (await memory.query({ scope, query, threshold: 0 })).map((hit) => hit.memory.text),
      ).toEqual([`Plays the ${rare}.`]);
      const [best] = await memory.transcript.search({ scope, query });
      expect(best?.seq).toBe(17);
    }
  });
});
