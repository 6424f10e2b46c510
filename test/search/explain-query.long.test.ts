import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { MemoryDraft, MemoryItem } from "../../src/index.js";
import type { MemoryHit } from "../../src/search/rank-memories.rule.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const word = () => `explain${randomUUID().replaceAll("-", "")}`;
const embeddings = new HashingEmbeddings({ dimensions: 16 });

const tokensOf = (hits: readonly MemoryHit[]) =>
  hits
    .flatMap(({ memory, related = [] }) => [memory, ...related])
    .flatMap(({ text, key, value }) => [text, key ?? "", value ?? ""])
    .reduce((sum, text) => sum + estimateTokens(text), 0);

beforeAll(async () => {
  await db.memory({ embeddings }).setup();
});

describe("an explanation", () => {
  const vocabulary = "tea boat garden cellar piano bicycle not Ana Ben 2024-03-05".split(" ");
  const sentence = fc
    .array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 6 })
    .map((all) => all.join(" "));
  const draft = fc.record({
    text: sentence.map((text) => `${text}.`),
    category: fc.constantFrom("knowledge", "interests", "event"),
    kind: fc.constantFrom("fact" as const, "insight" as const),
    importance: fc.integer({ min: 1, max: 5 }),
    pinned: fc.boolean(),
    actorId: fc.constantFrom("Ana", "Ben", undefined),
    validFrom: fc.constantFrom(new Date("2024-03-05"), new Date("2025-01-01"), undefined),
  });

  it.each([
    ["with embeddings", { embeddings }],
    ["without", {}],
  ])(
    "An explanation has the query's hits in order, and their parts add up to the scores: %s",
    async (_, options) => {
      const now = new Date("2026-11-20T12:00:00Z");
      const memory = db.memory({ ...options, clock: () => now });
      await fc.assert(
        fc.asyncProperty(
          fc.array(draft, { minLength: 1, maxLength: 12 }),
          fc.record({
            query: fc.oneof({ weight: 3, arbitrary: sentence }, fc.constantFrom("", "Who am I?")),
            topK: fc.integer({ min: 1, max: 8 }),
            categories: fc.constantFrom(null, ["knowledge"], ["knowledge", "event"]),
            kinds: fc.constantFrom(null, ["fact" as const]),
            filters: fc.constantFrom(null, { importance_min: 3 }, { pinned: true }),
            threshold: fc.constantFrom(null, 0, 0.5),
            budgetTokens: fc.constantFrom(null, 16, 40),
          }),
          async (drafts, asks) => {
            const scope = { userId: word() };
            await memory.memories.add({ scope, memories: drafts });
            const hits = await memory.query({ scope, ...asks });
            const explained = await memory.query({ scope, ...asks, explain: true });
            const told = (found: readonly MemoryHit[]) =>
              found.map(({ memory: { id }, score, reason }) => [id, score, reason]);
            expect(told(explained.hits)).toEqual(told(hits));
            for (const { parts, score } of explained.hits) {
              expect(Object.values(parts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(
                score,
                9,
              );
            }
            const ids = [...explained.hits, ...explained.omitted].map((each) => each.memory.id);
            expect(new Set(ids).size).toBe(ids.length);
            expect(tokensOf(hits)).toBeLessThanOrEqual(
              asks.budgetTokens ?? Number.POSITIVE_INFINITY,
            );
            const words = new Set(asks.query.split(" ").filter((word) => word !== "not"));
            const fits = ({ text }: MemoryItem) =>
              text.split(/[ .]/).some((word) => words.has(word));
            const asked = (await memory.memories.list({ scope })).filter(
              (each) => explained.question.broad || fits(each),
            );
            expect(ids).toEqual(expect.arrayContaining(asked.map(({ id }) => id)));
            for (const { reason, detail } of explained.omitted)
              expect(`${reason}: ${detail}`).toMatch(/\w+: \w+/);
          },
        ),
        { numRuns: 25, endOnFailure: true },
      );
    },
  );

  it("An explanation gives the reason for each omitted memory", async () => {
    let now = new Date("2026-11-20T12:00:00Z");
    const memory = db.memory({
      config: { allowlists: { planner: ["interests"] } },
      clock: () => now,
    });
    const scope = { userId: word() };
    const about = (text: string, more: object = {}) => ({ text, category: "interests", ...more });
    const drafts: MemoryDraft[] = [
      about("The user sails a red boat."),
      about("The user painted the boat green in May."),
      about(
        "The user has a boat, a dog, a garden, a piano, a kitchen, a cellar, an attic, and a long list of other things.",
      ),
      about("The boat lies at pier nine.", { category: "knowledge" }),
      about("The boat club meets on Mondays.", { importance: 1 }),
      about("The user seems to love the boat.", { kind: "insight" }),
      about("The boat is insured until Friday.", { expiresAt: new Date("2026-11-20T13:00:00Z") }),
      about("The user wants to sell the boat."),
      about("The user likes tea."),
    ];
    const outcomes = await memory.memories.add({ scope, memories: drafts });
    await memory.memories.remove({ scope, id: outcomes[7]?.id ?? "" });
    now = new Date("2026-11-20T14:00:00Z");
    const reasons = async (asks: object) => {
      const { hits, omitted } = await memory.query({
        scope,
        query: "boat?",
        ...asks,
        explain: true,
      });
      const told = new Map<string, string>(
        omitted.map(({ memory: { text }, reason }) => [text, reason]),
      );
      for (const { memory: each } of hits) told.set(each.text, "hit");
      return told;
    };
    const all = await reasons({ topK: 20 });
    expect(all.get("The user likes tea.")).toBeUndefined();
    expect(all.get("The boat is insured until Friday.")).toBe("expired");
    expect(all.get("The user wants to sell the boat.")).toBe("state");
    expect([...all.values()].filter((reason) => reason === "hit")).toHaveLength(6);
    expect(
      [...(await reasons({ topK: 1 })).values()].filter((reason) => reason === "limit"),
    ).toHaveLength(5);
    expect((await reasons({ agent: "planner" })).get("The boat lies at pier nine.")).toBe(
      "allowlist",
    );
    expect((await reasons({ categories: ["interests"] })).get("The boat lies at pier nine.")).toBe(
      "category",
    );
    expect((await reasons({ kinds: ["fact"] })).get("The user seems to love the boat.")).toBe(
      "kind",
    );
    expect(
      (await reasons({ filters: { importance_min: 2 } })).get("The boat club meets on Mondays."),
    ).toBe("filter");
    expect(
      (await reasons({ filters: { agent_id: "nobody" } })).get("The boat club meets on Mondays."),
    ).toBe("filter");
    expect([...(await reasons({ threshold: 1 })).values()]).toContain("floor");
    expect([...(await reasons({ budgetTokens: 16 })).values()]).toContain("budget");
    await expect(
      memory.query({
        scope,
        query: "boat?",
        agent: "planner",
        categories: ["knowledge"],
        explain: true,
      }),
    ).rejects.toThrow(expect.objectContaining({ code: "CATEGORY_DENIED" }));
  });

  it.each([
    ["an accent", "Die Nutzerin wohnt in Zürich.", "zurich"],
    ["Japanese", "猫の名前はタマです。", "猫の名前は?"],
    ["Russian", "Мы сняли новую квартиру.", "квартира"],
    ["a slip", "The user sails on the Mondego.", "Mondago"],
    ["a part of an identifier", "The ticket is BENCH-100821.", "100821"],
  ])("An explanation includes a removed memory by its words: %s", async (_, text, query) => {
    const memory = db.memory();
    const scope = { userId: word() };
    const drafts = [{ text }, { text: `${text} Also tea.` }];
    const [removed] = await memory.memories.add({ scope, memories: drafts });
    const id = removed?.id ?? "";
    await memory.memories.remove({ scope, id });
    const { omitted } = await memory.query({ scope, query, explain: true });
    expect(omitted.map((each) => [each.memory.id, each.reason])).toEqual([[id, "state"]]);
  });

  it.each([
    ["เพื่อนชื่อปรียาให้ยืมสว่าน", "สว่านของปรียา", ["ปรียา", "สว่าน"]],
    ["Tomasz gra na skrzypcach.", "Tomasza skrzypce", ["Tomasz", "skrzypcach"]],
    ["The rent is 1,250 euros.", "1250", ["1,250"]],
  ])("An explanation names the words by which it found %j", async (text, query, words) => {
    const memory = db.memory();
    const scope = { userId: word() };
    await memory.memories.add({ scope, memories: [{ text }, { text: "Also tea." }] });
    const { hits } = await memory.query({ scope, query, explain: true });
    expect(hits.map(({ matched }) => matched.toSorted())).toEqual([words]);
  });

  it("An explanation includes no memory of another scope in any state", async () => {
    const memory = db.memory();
    const [ana, ben] = [{ userId: word() }, { userId: word() }];
    for (const scope of [ana, ben, { ...ana, appId: "other" }]) {
      await memory.memories.add({
        scope,
        memories: { text: "The user likes green tea.", category: "interests" },
      });
      const [added] = await memory.memories.list({ scope });
      if (scope !== ana)
        await memory.memories.remove({ scope: added?.scope ?? scope, id: added?.id ?? "" });
    }
    const { hits, omitted } = await memory.query({ scope: ana, query: "green tea", explain: true });
    for (const { memory: each } of [...hits, ...omitted])
      expect(each.scope.userId).toBe(ana.userId);
  });
});
