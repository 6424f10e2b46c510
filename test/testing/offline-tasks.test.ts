import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { compressTurns } from "../../src/episodes/make-episode.js";
import { extractFacts } from "../../src/facts/extract-facts.js";
import { writeProcedure } from "../../src/procedures/write-procedure.js";
import { judgePairs, type ShownPair } from "../../src/reflection/consolidation/judge-pairs.js";
import { OfflineChatModel } from "../../src/testing/index.js";

const asking = { model: new OfflineChatModel(), timeoutMs: 1_000 };
const said = { saidAt: new Date("2025-03-01T12:00:00Z"), timeZone: "UTC" };
const extract = (
  texts: readonly string[],
  known: Parameters<typeof extractFacts>[1]["known"] = [],
) =>
  extractFacts(asking, {
    messages: texts.map((text) => ({ text, actor: null, ...said, before: "My name is Bot." })),
    known,
    categories: ["profile"],
    candidatesPerTurn: 5,
  }).then(({ candidates }) => candidates);
const turn = (role: "user" | "assistant", text: string, seq = 0) => ({
  seq,
  role,
  actor: null,
  text,
  ...said,
});

describe("facts of the offline model", () => {
  test.each([
    ["My name is Ana.", "profile name Ana", "The user's name is Ana."],
    ["Please call me Al!", "profile preferred_name Al", "The user's preferred name is Al."],
    ["I live in São Paulo, Brazil.", "profile city São Paulo", "The user lives in São Paulo."],
    ["I work as a nurse.", "profile job a nurse", "The user works as a nurse."],
    ["I work for Acme & Sons.", "profile employer Acme & Sons", "The user works for Acme & Sons."],
    ["I'm allergic to peanuts.", "constraints null null", "The user is allergic to peanuts."],
    ["I prefer tea to coffee", "preferences null null", "The user prefers tea to coffee."],
    ["I really love <b>jazz</b>.", "preferences null null", "The user likes <b>jazz</b>."],
    [
      "My favourite dark tea is Pu'er.",
      "preferences favourite_dark_tea Pu'er",
      "The user's favourite dark tea is Pu'er.",
    ],
    [
      "Always answer in French.",
      "instructions null null",
      "The user wants the assistant to always answer in French.",
    ],
    [
      "Never use emojis.",
      "instructions null null",
      "The user wants the assistant to never use emojis.",
    ],
  ])("The offline model extracts one fact from: %s", async (said, slot, text) => {
    const [fact, ...others] = await extract([said]);
    expect([`${fact?.category} ${fact?.key} ${fact?.value}`, fact?.text, others]).toEqual([
      slot,
      text,
      [],
    ]);
    expect(said).toContain(fact?.quote);
    expect(fact).toMatchObject({ message: 1, relation: "new", target: null, statedByUser: true });
  });

  test("Facts of several messages and sentences name their message", async () => {
    const found = await extract([
      "Hi.",
      "My name is Ana and I live in Porto. I like rye; I hate figs.",
    ]);
    expect(found.map(({ text, message }) => [text, message])).toEqual([
      ["The user's name is Ana.", 2],
      ["The user lives in Porto.", 2],
      ["The user likes rye.", 2],
      ["The user dislikes figs.", 2],
    ]);
  });

  test("Questions, small talk and what the assistant said contain no facts", async () => {
    expect(
      await extract([
        "Do you think my name is Ana?",
        "Where do I live?",
        "Thanks, I don't like that.",
      ]),
    ).toEqual([]);
  });

  test("A fact that corrects a known one names it", async () => {
    const known = [
      { category: "profile", key: "city", value: "Rome", text: "The user lives in Rome." },
    ];
    const [moved] = await extract(["No, I live in Porto."], known);
    expect(moved).toMatchObject({
      value: "Porto",
      relation: "updates",
      target: 1,
      personal: "city",
    });
  });
});

test("An episode is what the user said, and goes on in the next piece", async () => {
  const compress = (previous: string | null, ...texts: string[]) =>
    compressTurns(asking, {
      turns: { start: 1, end: 3 },
      previous,
      messages: texts.map((text) => turn("user", text)),
    });
  const first = await compress(null, "Let us build a shop. Soon.", "Which database?");
  expect(first).toBe("The user said: Let us build a shop; Which database?.");
  expect(await compress(first, "PostgreSQL!")).toBe(
    "The user said: Let us build a shop; Which database?; PostgreSQL.",
  );
  const long = await compress(
    null,
    ...Array.from({ length: 60 }, (_, index) => `Sentence number ${index} of many.`),
  );
  expect(long.length).toBeLessThanOrEqual(600);
});

test("The offline model merges no two memories", async () => {
  const alike = ["A dog & a cat.", "A cat & a dog."].map((text) => ({
    category: "knowledge",
    key: null,
    value: null,
    validFrom: said.saidAt,
    text,
  })) as unknown as ShownPair;
  const { votes } = await judgePairs(asking, [alike], "UTC");
  expect(votes.map(({ verdict }) => verdict)).toEqual(["unrelated"]);
});

test("The steps of a procedure are what was asked for", async () => {
  const steps = (messages: ReturnType<typeof turn>[], title: string | null = null) =>
    writeProcedure(asking, { title, previous: null, messages });
  expect(await steps([turn("user", "Build it."), turn("user", "Push it.")], "Ship")).toEqual({
    title: "Ship",
    steps: ["Build it.", "Push it."],
  });
  expect((await steps([turn("user", "Deploy & test it.")]))?.title).toBe("Deploy & test it");
});

test("Rules of the caller replace the offline model's own", async () => {
  const own = new OfflineChatModel({
    structured: { fact_extraction: () => ({ reasoning: "", facts: [] }) },
  });
  const schema = z.object({ reasoning: z.string(), facts: z.array(z.unknown()) });
  const asked = own.withStructuredOutput(schema, { name: "fact_extraction" });
  expect(await asked.invoke([new HumanMessage("My name is Ana.")])).toEqual({
    reasoning: "",
    facts: [],
  });
});
