import fc from "fast-check";
import { expect, it } from "vitest";
import type { MemoryItem } from "../../src/memories/item/memory.js";
import { relatedTo } from "../../src/search/rank-memories.rule.js";

const ids: fc.Arbitrary<string> = fc.constantFrom("a", "b", "c", "d", "e", "f", "constructor", "__proto__");
const item = (id: string) => ({ id }) as MemoryItem;
const someIds = fc.uniqueArray(ids, { maxLength: 6 });

it("tells two memories at most, each once, beside the first hit that is linked to it, and none that is known", () => {
  fc.assert(
    fc.property(someIds, fc.array(fc.tuple(ids, someIds)), someIds, (hits, links, known) => {
      const linked = new Map(links.map(([id, to]) => [id, to.map(item)]));
      const told = relatedTo(
        hits.map((id) => ({ memory: item(id) })),
        linked,
        known.map(item),
      );
      expect(told.map(({ hit }) => hit.memory.id)).toEqual(hits);
      const news = told.flatMap(({ memories }) => memories.map(({ id }) => id));
      expect(new Set(news).size).toBe(news.length);
      for (const id of news) expect([...hits, ...known]).not.toContain(id);
      const all = new Set(hits.flatMap((id) => linked.get(id) ?? []).map(({ id }) => id));
      const free = [...all].filter((id) => ![...hits, ...known].includes(id));
      expect(news.length).toBe(Math.min(2, free.length));
    }),
  );
});
