import { describe, expect, it } from "vitest";
import { extractFacts } from "../../src/facts/extract-facts.js";
import { useOpenAI } from "../support/openai-stub.js";
import { candidate, taskModel } from "../support/task-model.js";
import { limitsMs } from "../support/timing.js";

const openai = useOpenAI();

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

/** Every object of a JSON schema, however deep. */
function objectsOf(
  schema: unknown,
): { properties: object; required: string[]; additionalProperties: boolean }[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = "properties" in schema ? [schema as never] : [];
  return [...own, ...Object.values(schema).flatMap(objectsOf)];
}

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
    const model = await openai.model([
      { structured: { reasoning: "…", facts: [fact], forget: [] } },
    ]);
    expect((await extractFacts(model, input, limitsMs.step)).candidates).toEqual([
      expect.objectContaining({
        text: fact.text,
        quote: fact.quote,
        statedByUser: true,
        personal: null,
      }),
    ]);
    const format = openai.requests[0]?.body.response_format as {
      json_schema: {
        name: string;
        strict: boolean;
        schema: { properties: Record<string, unknown> };
      };
    };
    const { name, strict, schema } = format.json_schema;
    const expected = ["fact_extraction", true, ["reasoning", "facts", "forget"]];
    expect([name, strict, Object.keys(schema.properties)]).toEqual(expected);
    expect(JSON.stringify(schema)).toContain('"enum":["profile","preferences"]');
    for (const object of objectsOf(schema)) {
      expect(object.required.toSorted()).toEqual(Object.keys(object.properties).toSorted());
      expect(object.additionalProperties).toBe(false);
    }
  });
});
