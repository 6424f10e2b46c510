import fc from "fast-check";
import { expect, it } from "vitest";
import { resolveConfig } from "../../src/config.js";
import { MemoryError } from "../../src/errors.js";
import { chooseFacts, type FactCandidate } from "../../src/facts/choose-facts.rule.js";
import { extractFacts } from "../../src/facts/extract-facts.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { findSaid } from "../../src/text/find-quote.js";
import { candidate } from "../support/task-model.js";

/** How often others may run during `work`. */
async function turnsOfOthers(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const watch = () => {
    turns++;
    if (!isOver) setImmediate(watch);
  };
  setImmediate(watch);
  await work();
  isOver = true;
  return turns;
}

it("An answer of 2,000 facts without the numbers of their messages blocks nobody", async () => {
  const facts = Array.from({ length: 2_000 }, (_, at) => {
    return { category: "knowledge", text: `The user keeps bee ${at}.`, quote: `no such bee ${at}` };
  });
  const model = new ScriptedChatModel({ replies: [{ structured: { facts } }] });
  const text = "All work and no play makes Jack a dull boy. ".repeat(1_400);
  const message = { text, actor: null, saidAt: new Date(), timeZone: "UTC", before: null };
  const input = { messages: [message], known: [], categories: ["knowledge"], candidatesPerTurn: 3 };
  let found = 0;
  const turns = await turnsOfOthers(async () => {
    found = (await extractFacts({ model, timeoutMs: 60_000 }, input)).candidates.length;
  });
  expect(found).toBe(2_000);
  expect(turns).toBeGreaterThan(20);
});

it("50,000 facts of which each says the same as the one before it are one", async () => {
  const { policy } = resolveConfig({});
  const text = "The user keeps bees.";
  const candidates = Array.from({ length: 50_000 }, (_, at): FactCandidate => {
    const said = { key: null, value: null, text, quote: "I keep bees", message: 1, since: null };
    const sure = { importance: 3, confidence: 0.9, statedByUser: true, personal: null };
    return { ...said, ...sure, category: "knowledge", relation: "same_as", target: at };
  });
  const least = { minConfidence: 0, minImportance: 0, perMessage: 3, inAll: 3 };
  const { chosen, rejected } = await chooseFacts(candidates, {
    policy,
    messages: ["I keep bees."],
    known: [],
    ...least,
  });
  expect([chosen.length, new Set(rejected.map(({ problem }) => problem))]).toEqual([
    1,
    new Set(["duplicate"]),
  ]);
});

it("Of any answer only what a message says is chosen, related to what was shown, and any other fails as the model's", async () => {
  const { policy } = resolveConfig({});
  const said = ["I adopted a cat called Miso.", "> I hate dogs\nMy sister Ana bakes."];
  const known = ["The user has a dog.", "The user's sister sings."].map((text, at) => {
    return {
      id: `${at}`,
      category: at === 0 ? "constraints" : "knowledge",
      key: null,
      value: null,
      text,
    };
  });
  const good = candidate("The user has a cat called Miso.", "I adopted a cat");
  const odd = fc.oneof(
    fc.constantFrom<unknown>(
      "null",
      "None",
      "",
      "2",
      -1,
      0,
      3,
      99,
      1.5,
      [],
      {},
      "2026-02-30",
      "0000-01-01",
    ),
    fc.constantFrom(
      "updates",
      "ends",
      "same_as",
      "I hate dogs",
      "my sister ana",
      "I adopted",
      "a\u0000b",
    ),
    fc.jsonValue(),
  );
  const field = fc.constantFrom(...Object.keys(good));
  const fact = fc
    .dictionary(field, odd, { maxKeys: 4 })
    .map((changed): unknown => ({ ...good, ...changed }));
  const answer = fc.dictionary(fc.constantFrom("facts", "forget", "other"), odd, { maxKeys: 1 });
  const facts = fc.array(fc.oneof({ weight: 6, arbitrary: fact }, odd), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(facts, answer, fc.boolean(), async (given, changed, inWords) => {
      const structured = { facts: given, ...changed };
      const reply = inWords ? `Here: ${JSON.stringify(structured)}` : { structured };
      const model = new ScriptedChatModel({ replies: () => reply });
      const messages = said.map((text) => {
        return { text, actor: null, saidAt: new Date(), timeZone: "UTC", before: null };
      });
      const input = { messages, known, categories: ["knowledge"], candidatesPerTurn: 3 };
      const proposed = await extractFacts({ model, timeoutMs: 60_000 }, input).catch((error) => {
        expect(MemoryError.is(error) && error.code).toBe("MODEL_OUTPUT_INVALID");
        return { candidates: [] };
      });
      const rules = { policy, messages: said, known, minConfidence: 0.4, minImportance: 1 };
      const { chosen } = await chooseFacts(proposed.candidates, {
        ...rules,
        perMessage: 3,
        inAll: 9,
      });
      for (const [at, { message, quote, key, since, relation }] of chosen.entries()) {
        expect(findSaid(said[message] ?? "", quote)).not.toBeNull();
        expect(key ?? "").not.toMatch(/^(?:null|none)$/);
        expect(since?.getUTCFullYear() ?? 2_026).toBeGreaterThan(999);
        if (typeof relation?.target === "number") expect(relation.target).toBeLessThan(at);
        else expect([undefined, "0", "1"]).toContain(relation?.target);
      }
    }),
    { numRuns: 500 },
  );
});
