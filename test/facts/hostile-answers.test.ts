import { expect, it } from "vitest";
import { resolveConfig } from "../../src/config.js";
import { chooseFacts, type FactCandidate } from "../../src/facts/choose-facts.rule.js";
import { extractFacts } from "../../src/facts/extract-facts.js";
import { ScriptedChatModel } from "../../src/testing/index.js";

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
