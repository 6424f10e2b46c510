import { beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "../../src/index.js";
import type { MemorySort } from "../../src/memories/item/memory.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
let memory: Memory;
beforeAll(async () => {
  memory = db.memory();
  const drafts = Array.from({ length: 25 }, (_, index) => ({
    text: `Plays song number ${index} on the Piano.`,
    importance: 1 + (index % 5),
  }));
  await memory.memories.add({ scope, memories: drafts });
  const draft = {
    text: "Lives in Porto, at 100% of_it.",
    category: "projects",
    key: "city",
    value: "Porto",
  };
  await memory.memories.add({ scope, memories: draft });
  const [second] = await memory.memories.list({ scope, contains: "number 2 " });
  await memory.memories.update({ scope, id: second?.id ?? "", importance: 5 });
});

describe("memories.list", () => {
  it.each<MemorySort>(["newest", "oldest", "updated", "used", "importance"])(
    "memories.list pages through every memory once, sorted by %s",
    async (sort) => {
      const found: string[] = [];
      for (let after: string | undefined; ; ) {
        const page = await memory.memories.list({ scope, sort, limit: 7, after });
        found.push(...page.map(({ id }) => id));
        if (page.length < 7) break;
        after = page.at(-1)?.id;
      }
      expect(new Set(found).size).toBe(26);
      expect(found).toEqual((await memory.memories.list({ scope, sort })).map(({ id }) => id));
    },
  );

  it("memories.list sorts by the named order", async () => {
    const texts = async (sort: MemorySort) =>
      (await memory.memories.list({ scope, sort, limit: 3 })).map(({ text }) => text);
    expect((await texts("newest"))[0]).toMatch(/^Lives/);
    expect((await texts("oldest"))[0]).toMatch(/number 0 /);
    expect((await texts("updated"))[0]).toMatch(/number 2 /);
    const values = (await memory.memories.list({ scope, sort: "importance" })).map(
      ({ importance }) => importance,
    );
    expect(values).toEqual([...values].sort((one, other) => other - one));
  });

  it("memories.list finds substrings of text, key and value, ignoring case and pattern characters", async () => {
    const count = async (contains: string) =>
      (await memory.memories.list({ scope, contains })).length;
    expect(await count("piano")).toBe(25);
    expect(await count("NUMBER 1")).toBe(11);
    expect(await count("city")).toBe(1);
    expect(await count("100% of_")).toBe(1);
    expect(await count("100%of")).toBe(0);
    expect(await count("%")).toBe(1);
  });
});
