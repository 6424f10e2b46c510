import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";

const embeddings = new HashingEmbeddings();
const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] ?? Number.NaN), 0);
const similarity = async (a: string, b: string): Promise<number> =>
  dot(await embeddings.embedQuery(a), await embeddings.embedQuery(b));
const anyText = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.lorem());

describe("any text", () => {
  test("Any text gives a vector of the requested length with norm 1", async () => {
    await fc.assert(
      fc.asyncProperty(anyText, fc.integer({ min: 1, max: 1024 }), async (text, dimensions) => {
        const vector = await new HashingEmbeddings({ dimensions }).embedQuery(text);
        expect(vector).toHaveLength(dimensions);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 9);
      }),
    );
  });

  test("Any text gives the same vector every time, alone or among others", async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (a, b) => {
        const among = await new HashingEmbeddings().embedDocuments([b, a]);
        expect(among[1]).toEqual(await embeddings.embedQuery(a));
        expect(await similarity(a, a)).toBeCloseTo(1, 9);
        expect(Math.abs(await similarity(a, b))).toBeLessThanOrEqual(1 + 1e-9);
      }),
    );
  });

  test("Letter case, accents and spacing do not change the vector of a text", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom("café", "naïve", "Ana", "lives", "42"), { minLength: 1 }),
        async (words) => {
          const plain = words
            .join(" ")
            .normalize("NFD")
            .replace(/[\u0300-\u036f]/g, "");
          expect(await similarity(words.join("  ").toUpperCase(), plain)).toBeCloseTo(1, 9);
        },
      ),
    );
  });
});

test("Related sentences are nearer than unrelated ones", async () => {
  const related: [string, string][] = [
    ["Ana lives in Lisbon.", "Where does Ana live?"],
    ["She is allergic to peanuts.", "User has a peanut allergy"],
    ["Prefers replies in French.", "The user prefers French replies"],
    ["He is planning to ship version one by September", "The plan is to ship v1 in September"],
    ["The dog is called Rex", "My dog's name is Rex"],
    ["Uses PostgreSQL at work", "We are using postgres for the database"],
  ];
  const all = related.flat();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...related),
      fc.constantFrom(...all),
      async ([a, b], other) => {
        fc.pre(other !== a && other !== b);
        expect(await similarity(a, b)).toBeGreaterThan(await similarity(a, other));
        expect(await similarity(a, b)).toBeGreaterThan(await similarity(b, other));
      },
    ),
    { numRuns: 500 },
  );
});

test.each([
  ["likes cats", "liked cat"],
  ["running", "runs"],
  ["cities", "city"],
  ["making boxes", "makes box"],
])("Forms of a word are similar: %s, %s", async (a, b) => {
  expect(await similarity(a, b)).toBeGreaterThan(0.99);
});

test("Texts in other scripts and texts of symbols differ", async () => {
  expect(await similarity("彼は東京に住んでいます", "彼女は東京に住んでいます")).toBeGreaterThan(
    0.3,
  );
  expect(await similarity("Я живу в Москве", "Она живёт в Москве")).toBeGreaterThan(0.2);
  expect(await similarity("👍", "👎")).toBeLessThan(0.99);
});

test("Texts without content share one vector", async () => {
  const [empty, blank] = await embeddings.embedDocuments(["", " \n\t "]);
  expect(empty).toEqual(blank);
  expect(empty?.[0]).toBe(1);
});

test("The vectors equal those that are already stored", async () => {
  const vector = await new HashingEmbeddings({ dimensions: 8 }).embedQuery("Ana lives in Lisbon.");
  expect(vector.map((value) => Number(value.toFixed(4)))).toEqual([
    0.0165, -0.0693, -0.8107, 0.2643, 0.0338, -0.3562, -0.2643, 0.2643,
  ]);
  expect(embeddings.model).toBe("hashing-1");
});

test.each([0, -1, 1.5, Number.NaN])("HashingEmbeddings refuses %s dimensions", (dimensions) => {
  expect(() => new HashingEmbeddings({ dimensions })).toThrow(RangeError);
});
