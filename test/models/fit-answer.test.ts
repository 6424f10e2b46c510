import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { fitAnswer } from "../../src/models/fit-answer.js";
import { jsonIn } from "../../src/models/read-json.js";
import { forAll } from "../support/for-all.js";
import { processorMs } from "../support/timing.js";

const item = z.object({
  title: z.string(),
  kind: z.string(),
  count: z.number().default(3),
  known: z.number().nullable(),
  plain: z.boolean().default(false),
  found: z.object({ at: z.number().default(0), words: z.string() }).default({ at: 0, words: "" }),
});
const schema = z.object({ reasoning: z.string().default(""), items: z.array(item) });
const tea = {
  title: "tea",
  kind: "drink",
  count: 2,
  known: 1,
  plain: true,
  found: { at: 1, words: "tea" },
};
const named = { title: "tea", kind: "drink" };
const bare = { ...named, count: 3, known: null, plain: false };
const value = (answer: unknown) => fitAnswer(schema, answer)?.value;
const items = (answer: unknown) => (value(answer) as z.infer<typeof schema> | undefined)?.items;

const answers = fc.record({
  reasoning: fc.string(),
  items: fc.array(
    fc.record({
      title: fc.string(),
      kind: fc.string(),
      count: fc.double({ noNaN: true, noDefaultInfinity: true }),
      known: fc.option(fc.integer()),
      plain: fc.boolean(),
      found: fc.record({ at: fc.integer(), words: fc.string() }),
    }),
  ),
});

describe("answers", () => {
  it("An answer that fits is accepted in each shape that models wrap it in", () => {
    const shapes: ((answer: object) => unknown)[] = [
      (answer) => answer,
      (answer) => ({ things: answer }),
      (answer) => ({ name: "things", arguments: answer }),
      (answer) => ({ name: "things", arguments: JSON.stringify(answer) }),
      (answer) => ({ output: { result: answer } }),
    ];
    forAll(answers, fc.constantFrom(...shapes), (answer, wrap) => {
      const plain = JSON.parse(JSON.stringify(answer)) as object;
      expect(fitAnswer(schema, wrap(plain))).toEqual({ value: plain, dropped: 0 });
    });
  });

  it("An answer keeps the valid items of a list", () => {
    const kind = "a";
    const odd = fc.oneof(
      fc.constantFrom(
        null,
        "",
        "tea",
        7,
        [],
        {},
        [[]],
        { title: null, kind },
        { title: ["a"], kind },
        { count: 1 },
      ),
      fc.jsonValue().filter((json) => items({ items: [json] }) === undefined),
    );
    forAll(fc.array(odd, { maxLength: 4 }), fc.array(odd, { maxLength: 4 }), (before, after) => {
      const fitted = fitAnswer(schema, { items: [...before, tea, ...after] });
      expect(fitted).toEqual({
        value: { reasoning: "", items: [tea] },
        dropped: before.length + after.length,
      });
    });
  });

  it("Any JSON is fitted to the schema, or read as null", () =>
    forAll(fc.jsonValue(), (json) => {
      const fitted = fitAnswer(schema, json);
      if (fitted) expect(schema.safeParse(fitted.value).success).toBe(true);
    }));

  it.each<[string, unknown, unknown[]]>([
    [
      "numbers in quotes",
      { items: [{ ...tea, count: "2", known: " 1 ", found: { at: "#1", words: "tea" } }] },
      [tea],
    ],
    [
      "nulls in quotes",
      { items: [{ ...tea, kind: "None", known: "null" }] },
      [{ ...tea, kind: "", known: null }],
    ],
    ["a decimal comma", { items: [{ ...tea, count: "0,9" }] }, [{ ...tea, count: 0.9 }]],
    ["a percentage", { items: [{ ...tea, count: "90%" }] }, [{ ...tea, count: 0.9 }]],
    [
      "an id where a number may be null",
      { items: [{ ...tea, known: "0b6d0d5e-3c1d-4a53" }] },
      [{ ...tea, known: null }],
    ],
    ["optional fields missing", { items: [named] }, [{ ...bare, found: { at: 0, words: "" } }]],
    [
      "words where there is a default",
      { items: [{ ...tea, count: "high", plain: "yes" }] },
      [{ ...tea, count: 3 }],
    ],
    ["a number for a text", { items: [{ ...tea, title: 7 }] }, [{ ...tea, title: "7" }]],
    ["one object for a list", { items: tea }, [tea]],
    ["a list in a list's place, wrapped once more", { items: { items: [tea] } }, [tea]],
    ["numbered items", { items: { "1": tea, "2": tea } }, [tea, tea]],
    ["a list in JSON", { items: JSON.stringify([tea, tea]) }, [tea, tea]],
    ["items in JSON", { items: [JSON.stringify(tea)] }, [tea]],
    ["the list alone", [tea, tea], [tea, tea]],
    ["the item alone", tea, [tea]],
    [
      "an object given as text",
      { items: [{ ...tea, found: "tea" }] },
      [{ ...tea, found: { at: 0, words: "tea" } }],
    ],
    [
      "an object's fields beside it",
      { items: [{ ...named, at: 1, words: "tea" }] },
      [{ ...bare, found: tea.found }],
    ],
    ["no items", { items: [] }, []],
  ])("An answer may have %s", (_, answer, expected) => expect(items(answer)).toEqual(expected));

  it.each<[string, unknown]>([
    ["no list", { reasoning: "nothing" }],
    ["null for the list", { reasoning: "nothing", items: null }],
    ["only items that cannot be read", { items: [null, { count: 1 }] }],
    ["a word for the list", { items: "none" }],
    ["two lists that could be meant", { a: { items: [tea] }, b: { items: [] } }],
    ["nothing", {}],
    ["a text", "tea"],
    ["null", null],
  ])("An answer that cannot be fitted is read as null: %s", (_, answer) =>
    expect(fitAnswer(schema, answer)).toBeNull(),
  );

  it("An answer may spell enum values otherwise, and give lines for a list of texts", () => {
    const verdict = z.object({ verdict: z.enum(["same", "says_more"]) });
    expect(fitAnswer(verdict, { verdict: "Says more" })?.value).toEqual({ verdict: "says_more" });
    expect(fitAnswer(verdict, { verdict: "perhaps" })).toBeNull();
    const steps = z.object({ steps: z.array(z.string()) });
    const read = (given: unknown) => fitAnswer(steps, { steps: given });
    expect(read("1. Open it.\n\n2. Close it.")?.value).toEqual({
      steps: ["1. Open it.", "2. Close it."],
    });
    const expected = { value: { steps: ["Open it.", "Close it."] }, dropped: 1 };
    expect(read([{ step: 1, text: "Open it." }, null, "Close it."])).toEqual(expected);
  });
});

describe("JSON in a text", () => {
  it("Of JSON that was cut anywhere, whole items count, and a bracket may be missing", () => {
    const all = [tea, { ...tea, title: '"tea' }, { ...tea, title: "[}" }];
    const json = JSON.stringify({ reasoning: "…", items: all, more: ["a", "b"] });
    for (let end = 0; end < json.length - 1; end++) {
      const found = jsonIn(json.slice(0, end), true) as { items?: unknown[] } | undefined;
      const { items = [], ...rest } = found ?? {};
      expect(items).toEqual(all.slice(0, items.length));
      expect([{}, { reasoning: "…" }, { reasoning: "…", more: ["a"] }]).toContainEqual(rest);
    }
    expect(jsonIn(json.slice(0, -1))).toEqual(JSON.parse(json));
    for (const cut of ['{"items":[', '{"text":"in 2024', '{"text":"\\"', '{"items":[1,'])
      expect(jsonIn(cut)).toBeUndefined();
  });

  it.each([
    [
      "line breaks as they are",
      '{\n"text": "one\ntwo\t\\"three\\""\n}',
      { text: 'one\ntwo\t"three"' },
    ],
    ["quotes within quotes", '{"text": "Ana said "no" twice"}', { text: 'Ana said "no" twice' }],
    ["Python's words", "Here: {'a': True, 'b': None, }", { a: true, b: null }],
    ["comments and no quotes", "{a: [1, 2,], // two\n}", { a: [1, 2] }],
  ])("JSON in a text may have %s", (_, text, expected) => expect(jsonIn(text)).toEqual(expected));

  it.each(["n't ", "a'b ", "n't, ", "![](", "{", '"', "'", '"a" "b"', "’", "[", '{"a":', "\\"])(
    "jsonIn takes less than 200 ms for any length of %j",
    (part) => {
      for (const length of [1_000, 2_000, 5_000, 20_000, 100_000])
        for (const [before, after] of [
          ["[{", "}]"],
          ['{"a": ', "}"],
        ]) {
          const answer = `${before}${part.repeat(length / part.length)}${after}`;
          expect(processorMs(() => jsonIn(answer), 200)).toBeLessThan(200);
        }
    },
  );

  it("jsonIn repairs long answers with apostrophes", () => {
    const facts = Array.from({ length: 20 }, (_, index) => `{"text": "Ana's dog's ${index}",}`);
    expect(jsonIn(`{"facts": [${facts.join()}]}`)).toMatchObject({
      facts: facts.map((_, index) => ({ text: `Ana's dog's ${index}` })),
    });
  });

  it("jsonIn returns undefined for two fences and for prose", () => {
    expect(jsonIn('```\n{"a":1}\n```\nor\n```\n{"a":2}\n```')).toBeUndefined();
    for (const prose of ["They talked (a lot).", "They [Ana and Rui] talked."])
      expect(jsonIn(prose)).toBeUndefined();
  });
});
