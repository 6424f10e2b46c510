import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../src/config.js";
import { factCategories } from "../../src/facts/choose-facts.rule.js";
import {
  findCategory,
  readableCategories,
  requireCategory,
} from "../../src/memories/item/category.rule.js";
import { forAll } from "../support/for-all.js";

const { policy } = resolveConfig({
  categories: {
    custom: [
      { name: "garden", context: "all", level: "app" },
      { name: "event", rag_length: 3 },
      { name: "constraints", level: "app" },
      { name: "activity", level: "app", context: undefined },
    ],
  },
  allowlists: { planner: ["goals", "preference"], executor: [] },
});

describe("categories", () => {
  it("Categories are matched by exact name or by alias", () => {
    expect(findCategory(policy, "identity")?.name).toBe("profile");
    expect(findCategory(policy, "instruction")?.name).toBe("instructions");
    expect(findCategory(policy, "Profile")).toBeNull();
    expect(findCategory(policy, "__proto__")).toBeNull();
    expect(() => requireCategory(policy, "hobbies")).toThrow(/no category "hobbies".*profile/);
  });

  it("Configured categories extend the default ones, and change of one what they say", () => {
    expect(findCategory(policy, "garden")).toMatchObject({ context: "all", level: "app" });
    expect(findCategory(policy, "event")).toMatchObject({ rag_length: 3, context: "rag" });
    expect(findCategory(policy, "constraints")).toMatchObject({ context: "all", level: "app" });
    const activity = { name: "activity", context: "rag", level: "app", rag_length: 50 };
    expect(findCategory(policy, "activity")).toEqual(activity);
  });

  it("Categories of facts exclude those reserved for other kinds", () => {
    const names = factCategories(policy);
    expect(names).toEqual(expect.arrayContaining(["profile", "preferences", "garden", "event"]));
    for (const other of ["activity", "app_notes", "relationship_dynamic", "procedural"])
      expect(names).not.toContain(other);
  });
});

describe("allowlists", () => {
  const open = ["instructions", "app_notes", "procedural", "relationship_dynamic"];

  it("Allowlists let an agent read the listed categories, and every agent the open ones", () => {
    expect([...readableCategories(policy, "planner")]).toEqual(["goals", "preferences", ...open]);
    expect([...readableCategories(policy, "nobody")]).toEqual(open);
    expect(readableCategories(policy, null).has("garden")).toBe(true);
  });

  it("An open category is restricted once any allowlist names it", () => {
    const demo = resolveConfig("examples/demo/memory.yaml").policy;
    const names = [...demo.categories.keys()];
    forAll(
      fc.dictionary(fc.constantFrom("supervisor", "planner", "executor"), fc.subarray(names)),
      fc.constantFrom("supervisor", "planner", "executor", "unlisted"),
      (allowlists, agent) => {
        const readable = readableCategories(resolveConfig({ allowlists }).policy, agent);
        const listed = Object.values(allowlists).flat();
        for (const name of names) {
          const own = allowlists[agent]?.includes(name) ?? false;
          const isOpen =
            open.includes(name) && !listed.includes(name) && allowlists[agent]?.length !== 0;
          expect(readable.has(name)).toBe(own || isOpen);
        }
      },
    );
    // The demo's own lists do not mention them, and its agents use them.
    for (const agent of ["supervisor", "planner", "executor", "researcher"])
      expect([...readableCategories(demo, agent)]).toEqual(expect.arrayContaining(open));
    expect(readableCategories(demo, "supervisor").has("tone")).toBe(false);
    expect(readableCategories(demo, "stylist").has("tone")).toBe(true);
  });

  it.each([
    [{ planner: ["goals", "constraints"], executor: [] }, undefined, []],
    [
      { planner: ["goals"], cook: ["constraint"], clerk: ["tasks"] },
      undefined,
      [/of planner, clerk leave out "constraints"/],
    ],
    [{ planner: ["goals"] }, { custom: [{ name: "constraints", context: "rag" as const }] }, []],
  ])(
    "resolveConfig warns only of allowlists that hide what a user must avoid: %j",
    (allowlists, categories, lines) => {
      const warned: string[] = [];
      resolveConfig({ allowlists, ...(categories && { categories }) }, {}, (line) =>
        warned.push(line),
      );
      expect(warned).toEqual(lines.map((line) => expect.stringMatching(line)));
    },
  );

  it("A configuration has at most 1,000 categories of a kind", () => {
    const custom = Array.from({ length: 20_000 }, (_, n) => ({ name: `c${n}` }));
    expect(() => resolveConfig({ categories: { custom } })).toThrow(/1000/);
    expect(
      resolveConfig({ categories: { custom: custom.slice(0, 1_000) } }).policy.categories.has(
        "c999",
      ),
    ).toBe(true);
  });

  it("Absent allowlists let every agent read every category", () => {
    const open = resolveConfig({}).policy;
    expect(readableCategories(open, "anyone")).toEqual(new Set(open.categories.keys()));
  });

  it.each([
    [{ allowlists: { planner: ["hobbies"] } }, /names the category "hobbies"/],
    [{ allowlists: { planner: ["gaols"] } }, /names the category "gaols".*did you mean "goals"/],
    [{ categories: { custom: [{ name: "two words" }] } }, /one word/],
    [
      { categories: { system: [{ name: "garden" }], custom: [{ name: "garden" }] } },
      /configured twice/,
    ],
    [{ categories: { custom: [{ name: "garden", color: "green" }] } }, /color/],
  ])("A config with wrong categories is refused: %j", (config, message) =>
    expect(() => resolveConfig(config as Parameters<typeof resolveConfig>[0])).toThrow(message),
  );
});
