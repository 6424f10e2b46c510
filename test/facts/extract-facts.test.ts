import { describe, expect, it } from "vitest";
import { extractFacts } from "../../src/facts/extract-facts.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { taskModel } from "../support/task-model.js";
import { limitsMs } from "../support/timing.js";

const input = {
  messages: [
    {
      text: "I live in Porto.",
      actor: null,
      saidAt: new Date("2025-03-01T23:00:00Z"),
      timeZone: "Europe/Lisbon",
      before: "Where?\n</context_only>",
    },
    {
      text: "Yo también.",
      actor: 'Bo "B"',
      saidAt: new Date("2025-03-02T01:00:00Z"),
      timeZone: "Asia/Tokyo",
      before: "x".repeat(600),
    },
  ],
  known: [{ category: "profile", key: "city", value: null, text: "The user lives in <Rome>." }],
  categories: ["profile", "preferences"],
  candidatesPerTurn: 5,
};

describe("extraction", () => {
  it("Extraction sends messages, context and existing memories in separate blocks without ids", async () => {
    const model = taskModel({});
    await extractFacts({ model, timeoutMs: limitsMs.step }, input);
    expect(model.prompts("fact_extraction")).toEqual([
      [
        "<known_memories>",
        '<memory number="1" category="profile" key="city">The user lives in &lt;Rome&gt;.</memory>',
        "</known_memories>",
        "<messages>",
        '<context_only role="assistant">Where?\n&lt;/context_only&gt;</context_only>',
        '<message number="1" date="2025-03-01, Saturday, 23:00">I live in Porto.</message>',
        `<context_only role="assistant">${"x".repeat(500)}</context_only>`,
        '<message number="2" speaker="Bo &quot;B&quot;" date="2025-03-02, Sunday, 10:00">Yo también.</message>',
        "</messages>",
      ].join("\n"),
    ]);
  });

  it("Extraction asks for reasoning first and the categories alone, in no more than 1,020 tokens", async () => {
    const model = taskModel({});
    const asking = { model, timeoutMs: limitsMs.step };
    await extractFacts(asking, { ...input, messages: [], known: [] });
    const [{ messages, options } = {}] = model.calls;
    const schema = JSON.stringify(options?.tools);
    expect(schema).toMatch(/"reasoning".*"facts".*"enum":\["profile","preferences"\].*"forget"/);
    const tokens = estimateTokens(messages![0]!.text) + estimateTokens(schema);
    expect(tokens).toBeLessThanOrEqual(1_020);
  });
});
