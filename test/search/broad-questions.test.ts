import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { type MemoryDraft, memoryQueryTool } from "../../src/index.js";
import { hitsWithinBudget } from "../../src/search/answer-query.js";
import type { MemoryHit } from "../../src/search/rank-memories.rule.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { forAll } from "../support/for-all.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress, openThread } from "../support/thread-facts.js";

const db = useTestDatabase();
/** Without a word that the index keeps. */
const empty = [
  "",
  " \n",
  `'"%_\\ & | ! <-> :*`,
  "\u0000",
  "the of and",
  "Who am I?",
  "And what about me?",
];

async function known() {
  const { memory, scope, threadId } = openThread(db);
  const drafts: MemoryDraft[] = [
    { text: "Cleo knows everything about owls.", importance: 2 },
    { text: "Cleo is allergic to nuts.", importance: 5 },
    { text: "Cleo sings.", importance: 1, pinned: true },
    { text: "Cleo runs.", importance: 4, category: "activity" },
    { kind: "procedure", text: "1. Boil water. 2. Add tea.", importance: 5 },
  ];
  await memory.memories.add({ scope, memories: drafts });
  return { memory, scope, threadId };
}
const inOrder = [
  "Cleo sings.",
  "Cleo is allergic to nuts.",
  "Cleo runs.",
  "Cleo knows everything about owls.",
];

describe("a broad question", () => {
  it("A broad question lists pinned, then the most important memories in query, tool and recall", async () => {
    const { memory, scope, threadId } = await known();
    const tool = memoryQueryTool(memory, { scope });
    for (const query of empty) {
      const hits = await memory.query({ scope, query });
      expect([query, ...hits.map((hit) => hit.memory.text)]).toEqual([query, ...inOrder]);
      expect(hits.map(({ score }) => score)).toEqual(
        hits
          .map(({ score }) => score)
          .toSorted()
          .toReversed(),
      );
      expect(JSON.parse(await tool.invoke({ query, top_k: 2 }))).toMatchObject([
        { text: "[knowledge] Cleo sings.", reason: "pinned" },
        { text: "[knowledge] Cleo is allergic to nuts.", reason: "among the most important" },
      ]);
      const { memories } = await memory.recall({ scope, threadId, query });
      const shown = [...memories.profile, ...memories.rest].map(({ text }) => text);
      expect([query, ...shown]).toEqual([query, ...inOrder]);
      expect(memories.relevant).toEqual([]);
    }
  });

  it("A broad question respects filters, categories, allowlists, topK and threshold", async () => {
    const { memory, scope } = await known();
    const query = "Who am I?";
    const ask = async (more: object) =>
      (await memory.query({ scope, query, ...more })).map((hit) => hit.memory.text);
    expect(await ask({ filters: { importance_min: 4 } })).toEqual(inOrder.slice(1, 3));
    expect(await ask({ categories: ["activity"] })).toEqual(["Cleo runs."]);
    expect(await ask({ topK: 2 })).toEqual(inOrder.slice(0, 2));
    expect(await ask({ threshold: 0.9, topK: 1 })).toEqual(["Cleo sings."]);
    expect(await ask({ categories: ["procedural"] })).toEqual(["1. Boil water. 2. Add tea."]);
    const limited = db.memory({ config: { allowlists: { coach: ["activity"] } } });
    const coach = await limited.query({ scope, query, agent: "coach" });
    expect(coach.map((hit) => hit.memory.text)).toEqual(["Cleo runs."]);
  });

  it("A broad question is recognised by the stop words of the index's language", async () => {
    const schema = "broad_questions_in_spanish";
    const spanish = db.memory({ schema, config: { retrieval: { language: "spanish" } } });
    await spanish.setup();
    onTestFinished(async () => void (await db.pool.query(`drop schema "${schema}" cascade`)));
    const { scope } = newAddress();
    await spanish.memories.add({ scope, memories: { text: "Cleo canta en un coro." } });
    for (const query of ["el de la", "¿Y qué hay de mí?"])
      expect(await spanish.query({ scope, query })).toHaveLength(1);
    expect(await spanish.query({ scope, query: "¿Y mi trabajo?" })).toEqual([]);
  });

  it("A question with words that match nothing is not broad", async () => {
    const { memory, scope } = await known();
    const others = [
      "How do volcanoes erupt?",
      "How is my garden?",
      "Tell me about Lisbon.",
      "Thanks!",
    ];
    for (const query of others)
      expect([query, await memory.query({ scope, query })]).toEqual([query, []]);
    const [hit, ...rest] = await memory.query({ scope, query: "Is there anything about nuts?" });
    expect([hit?.memory.text, rest]).toEqual(["Cleo is allergic to nuts.", []]);
  });
});

describe("the budget of full hits", () => {
  const words = fc.string({ maxLength: 400 });
  const memory = fc.record({ text: words, key: fc.option(words), value: fc.option(words) });
  const hit = fc
    .tuple(memory, fc.array(memory, { maxLength: 2 }))
    .map(
      ([found, related]) =>
        ({ memory: found, similarity: 1, score: 1, reason: "", related }) as unknown as MemoryHit,
    );

  it("The budget of full hits covers texts, keys, values and links, and the first hit is trimmed to fit", () =>
    forAll(fc.array(hit, { maxLength: 6 }), fc.integer({ min: 16, max: 400 }), (hits, budget) => {
      const kept = hitsWithinBudget(hits, budget);
      const printed = kept.flatMap((each) => [each.memory, ...(each.related ?? [])]);
      const tokens = printed
        .flatMap(({ text, key, value }) => [text, key ?? "", value ?? ""])
        .map(estimateTokens);
      expect(tokens.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(budget);
      if (hits.length > 0)
        expect(kept[0]?.memory.text.slice(0, 1)).toBe(hits[0]?.memory.text.slice(0, 1));
    }));
});
