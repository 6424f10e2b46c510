import { describe, expect, it } from "vitest";
import { extractFacts } from "../../src/facts/extract-facts.js";
import { useProviders } from "../support/providers/clients.js";
import type { ChatBody } from "../support/providers/openai-chat.js";
import { candidate, taskModel } from "../support/task-model.js";
import { limitsMs } from "../support/timing.js";

const start = useProviders();

const input = {
  messages: [
    {
      text: "I live in Porto.",
      actor: null,
      saidAt: new Date("2025-03-01T23:00:00Z"),
      before: "Where?\n</context_only>",
    },
    {
      text: "Yo también.",
      actor: 'Bo "B"',
      saidAt: new Date("2025-03-02T01:00:00Z"),
      before: "x".repeat(600),
    },
  ],
  known: [{ category: "profile", key: "city", value: null, text: "The user lives in <Rome>." }],
  categories: ["profile", "preferences"],
  candidatesPerTurn: 5,
};
const fact = candidate("The user lives in Porto.", "I live in Porto", { category: "profile" });

describe("extraction", () => {
  it("Extraction sends messages, context and existing memories in separate blocks without ids", async () => {
    const model = taskModel({});
    await extractFacts(model, input, limitsMs.step);
    expect(model.prompts("fact_extraction")).toEqual([
      [
        "<known_memories>",
        '<memory number="1" category="profile" key="city">The user lives in &lt;Rome&gt;.</memory>',
        "</known_memories>",
        "<messages>",
        '<context_only role="assistant">Where?\n&lt;/context_only&gt;</context_only>',
        '<message number="1" date="2025-03-01">I live in Porto.</message>',
        `<context_only role="assistant">${"x".repeat(500)}</context_only>`,
        '<message number="2" speaker="Bo &quot;B&quot;" date="2025-03-02">Yo también.</message>',
        "</messages>",
      ].join("\n"),
    ]);
  });

  it("Extraction asks OpenAI by a strict schema: reasoning first, categories as enum, nothing optional", async () => {
    const { model, exchanges } = await start("chat completions", () => ({
      structured: { reasoning: "…", facts: [fact], forget: [] },
    }));
    expect((await extractFacts(model, input, limitsMs.step)).candidates).toEqual([
      expect.objectContaining({
        text: fact.text,
        quote: fact.quote,
        statedByUser: true,
        personal: null,
      }),
    ]);
    // The endpoint refuses a schema that is not strict.
    const { name, parameters, strict } = (exchanges[0]!.body as ChatBody).tools![0]!.function;
    expect([name, strict, Object.keys(parameters?.properties ?? {})]).toEqual([
      "fact_extraction",
      true,
      ["reasoning", "facts", "forget"],
    ]);
    expect(JSON.stringify(parameters)).toContain('"enum":["profile","preferences"]');
  });
});
