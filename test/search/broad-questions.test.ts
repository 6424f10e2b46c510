import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { memoryQueryTool } from "../../src/index.js";
import { fittingHits } from "../../src/search/answer-query.js";
import { tellingWords } from "../../src/search/broad-question.rule.js";
import type { MemoryHit } from "../../src/search/rank-memories.rule.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { useFreshSchemas } from "../support/fresh-schema.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();
const freshSchema = useFreshSchemas(db);
/** Questions for all there is, in the languages of which the words are known whatever language the index has. */
const broad = [
  "What do you know about me?",
  "what's known about the user?",
  "Tell me everything you remember!",
  "List all you know about me so far, please.",
  "What have you learned about me?",
  "¿Qué sabes de mí?",
  "Was weißt du über mich?",
  "Erzähl mir alles, was du dir gemerkt hast.",
  "Que sais-tu de moi ?",
  "Что ты знаешь обо мне?",
  "Расскажи всё, что ты обо мне помнишь!",
  "Що ти пам'ятаєш про мене?",
  "Co o mnie wiesz?",
  "Co o mně víš?",
  "Vad vet du om mig?",
  "Hvad ved du om mig?",
  "Hva vet du om meg?",
  "Mitä tiedät minusta?",
  "Benim hakkımda ne biliyorsun?",
  "ماذا تعرف عني؟",
  "מה אתה יודע עליי?",
  "आप मेरे बारे में क्या जानते हैं?",
  "Apa yang kamu tahu tentang saya?",
  "Bạn biết gì về tôi?",
  "Ce știi despre mine?",
  "Mit tudsz rólam?",
  "Τι ξέρεις για μένα;",
  "私は誰ですか？",
  "O que você sabe sobre mim?",
  "Che cosa sai di me?",
  "Wat weet je over mij?",
  "你知道关于我的什么？",
  "私について何を知っていますか？",
];
/** Without a word that the index keeps. */
const empty = ["", " \n", `'"%_\\ & | ! <-> :*`, "\u0000", "the of and", "Who am I?"];

async function known() {
  const memory = db.memory();
  const { scope, threadId } = newAddress();
  await memory.memories.add(
    [
      { text: "Cleo knows everything about owls.", importance: 2 },
      { text: "Cleo is allergic to nuts.", importance: 5 },
      { text: "Cleo sings.", importance: 1, pinned: true },
      { text: "Cleo runs.", importance: 4, category: "activity" },
      { kind: "procedure", text: "1. Boil water. 2. Add tea.", importance: 5 },
    ],
    { scope },
  );
  return { memory, scope, threadId };
}
const inOrder = [
  "Cleo sings.",
  "Cleo is allergic to nuts.",
  "Cleo runs.",
  "Cleo knows everything about owls.",
];

describe("a question that asks for all there is", () => {
  it("lists what is pinned, then the most important, in the API, in the tool and in recall", async () => {
    const { memory, scope, threadId } = await known();
    const tool = memoryQueryTool(memory, { scope });
    for (const query of [...empty, ...broad.slice(0, 2)]) {
      const hits = await memory.query({ scope, query });
      expect([query, ...hits.map((hit) => hit.memory.text)]).toEqual([query, ...inOrder]);
      expect(hits.map(({ score }) => score)).toEqual(
        hits
          .map(({ score }) => score)
          .toSorted()
          .toReversed(),
      );
      const answer = JSON.parse(await tool.invoke({ query, top_k: 2 }));
      expect(answer).toMatchObject([
        { text: "[knowledge] Cleo sings.", reason: "pinned" },
        { text: "[knowledge] Cleo is allergic to nuts.", reason: "among the most important" },
      ]);
      const { memories } = await memory.recall({ scope, threadId, query });
      const shown = [...memories.profile, ...memories.rest].map(({ text }) => text);
      expect([query, ...shown]).toEqual([query, ...inOrder]);
      expect(memories.relevant).toEqual([]);
    }
  });

  it.each(["Ben", "Mia", "Salvo", "Di", "Per", "C++"])("is none that is a name: %s", async (name) => {
    const memory = db.memory();
    const { scope } = newAddress();
    const gadgets = [1, 2, 3, 4, 5, 6].map((n) => ({ text: `The user owns gadget ${n}.`, importance: 4 }));
    await memory.memories.add([...gadgets, { text: `The user often speaks of ${name}.` }], { scope });
    const [first] = await memory.query({ scope, query: `${name}?` });
    expect(first?.memory.text).toContain(name);
  });

  it("keeps to filters, categories, allowlists, the number asked for and the budget", async () => {
    const { memory, scope } = await known();
    const query = "What do you know about me?";
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

  it("is known by the words of the index's language", async () => {
    const schema = "broad_questions_in_spanish";
    const spanish = db.memory({ schema, config: { retrieval: { language: "spanish" } } });
    await spanish.setup();
    onTestFinished(async () => void (await db.pool.query(`drop schema "${schema}" cascade`)));
    const { scope } = newAddress();
    await spanish.memories.add({ text: "Cleo canta en un coro." }, { scope });
    for (const query of ["¿Qué sabes de mí?", "el de la", "¿Puedes decirme algo sobre mí?"])
      expect(await spanish.query({ scope, query })).toHaveLength(1);
    expect(await spanish.query({ scope, query: "¿Qué sabes de mi trabajo?" })).toEqual([]);
  });

  it("is no other: what has words that match nothing finds nothing", async () => {
    const { memory, scope } = await known();
    const others = ["How do volcanoes erupt?", "How is my garden?", "Tell me about Lisbon.", "Thanks!"];
    for (const query of others) expect([query, await memory.query({ scope, query })]).toEqual([query, []]);
    const [hit, ...rest] = await memory.query({ scope, query: "Is there anything about nuts?" });
    expect([hit?.memory.text, rest]).toEqual(["Cleo is allergic to nuts.", []]);
  });

  it("finds the same with embeddings", async () => {
    const fresh = await freshSchema();
    const memory = fresh.memory({ embeddings: new HashingEmbeddings({ dimensions: 32 }) });
    const { scope, threadId } = newAddress();
    await memory.memories.add(
      [
        { text: "Cleo sings.", importance: 1 },
        { text: "Cleo runs.", importance: 5 },
      ],
      { scope },
    );
    const hits = await memory.query({ scope, query: "What do you know about me?" });
    expect(hits.map((hit) => hit.memory.text)).toEqual(["Cleo runs.", "Cleo sings."]);
    const { memories } = await memory.recall({ scope, threadId, query: "What do you know about me?" });
    expect(memories.rest.map(({ text }) => text)).toEqual(["Cleo runs.", "Cleo sings."]);
  });
});

describe("the words that tell what a question is about", () => {
  it.each(broad)("are none in %s", (question) => {
    expect(tellingWords(question, "english").trim()).toBe("");
  });

  it("stay, whatever stands around them", () => {
    fc.assert(
      fc.property(
        fc.subarray(["what", "do", "you", "know", "about", "me", "my", "please", "the"]),
        (around) => {
          expect(tellingWords([...around, "garden", ...around].join(" "), "english")).toMatch(/garden/);
          expect(tellingWords(around.join(" "), "english").trim()).toBe("");
        },
      ),
    );
  });

  it.each([
    ["english", "What is on my list?"],
    ["english", "What was my idea?"],
    ["english", "Do you like my work?"],
    ["english", "What do I know about dime and con?"],
    ["german", "Was steht auf meiner Liste?"],
    ["spanish", "¿Qué sabes de mi cuenta?"],
    ["dutch", "Wie is Ken?"],
  ])("in %s are not none in %s", (language, question) => {
    expect(tellingWords(question, language).trim()).not.toBe("");
  });
});

describe("the budget of hits as they are", () => {
  const words = fc.string({ maxLength: 400 });
  const memory = fc.record({ text: words, key: fc.option(words), value: fc.option(words) });
  const hit = fc
    .tuple(memory, fc.array(memory, { maxLength: 2 }))
    .map(
      ([found, related]) =>
        ({ memory: found, similarity: 1, score: 1, reason: "", related }) as unknown as MemoryHit,
    );

  it("holds for texts, keys, values and links together, and the first is cut to fit", () => {
    fc.assert(
      fc.property(fc.array(hit, { maxLength: 6 }), fc.integer({ min: 16, max: 400 }), (hits, budget) => {
        const kept = fittingHits(hits, budget);
        const printed = kept.flatMap((each) => [each.memory, ...(each.related ?? [])]);
        const tokens = printed
          .flatMap(({ text, key, value }) => [text, key ?? "", value ?? ""])
          .map(estimateTokens);
        expect(tokens.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(budget);
        if (hits.length > 0) expect(kept[0]?.memory.text.slice(0, 1)).toBe(hits[0]?.memory.text.slice(0, 1));
      }),
    );
  });
});
