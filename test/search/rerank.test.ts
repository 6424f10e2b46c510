import { expect, it, vi } from "vitest";
import type { MemoryDraft, Reranker } from "../../src/index.js";
import { memoryBlock } from "../../src/prompt/memory-block.js";
import { useTestDatabase } from "../support/test-database.js";
import { asDrafts, openThread } from "../support/thread-facts.js";

const db = useTestDatabase();

/** What a query and a prompt find for a user who has `drafts`. */
async function opened(score: Reranker, drafts: readonly MemoryDraft[], more: object = {}) {
  const asked = vi.fn(score);
  const rerank = { with: asked, ...more };
  const { memory, thread, scope } = openThread(db, { config: { retrieval: { rerank } } });
  await memory.memories.add({ scope, memories: drafts });
  return {
    memory,
    thread,
    asked: asked.mock.calls,
    queried: async (query: string) =>
      (await memory.query({ scope, query })).map((hit) => hit.memory.text),
    shown: async (query: string) =>
      (await memory.recall({ ...thread, query })).memories.relevant.map((hit) => hit.memory.text),
  };
}

const shortest: Reranker = async (_, texts) => texts.map((text) => -text.length);

const query = "Does the user love the boat?";
/** In our order. */
const boats = [
  "The user would love to sail a boat again.",
  "The user painted the boat green.",
  "A boat!",
] as const;
const [best, second, third] = boats;

it("A reranker orders the best hits of a query and of a prompt, and no others", async () => {
  const { memory, thread, asked, queried } = await opened(shortest, asDrafts(boats), { limit: 2 });
  expect(await queried(query)).toEqual([second, best, third]);
  expect(memoryBlock(await memory.recall({ ...thread, query }))).toMatch(
    new RegExp([second, best, third].join("[^]*")),
  );
  const { hits } = await memory.query({ ...thread, query, explain: true });
  expect(hits.map((hit) => [hit.memory.text, hit.reason])).toEqual([
    [second, "same words, reranked"],
    [best, "same words, reranked"],
    [third, "same words"],
  ]);
  const given = [query, [best, second], { signal: expect.any(AbortSignal) }];
  expect(asked).toEqual([given, given, given]);
});

it("A reranker reads keys and values; a prompt keeps what it always shows, and insights last", async () => {
  const slot = { text: "The loved boat is Ida.", key: "boat", value: "Ida", importance: 1 };
  const pinned = { text: "The loved boat is insured.", pinned: true };
  const insight = { text: "The user loves a boat.", kind: "insight" as const };
  const { asked, queried, shown } = await opened(shortest, [slot, pinned, insight]);
  expect((await queried(query))[0]).toBe(insight.text);
  expect(await shown(query)).toEqual([slot.text, insight.text]);
  expect(asked[1]?.[1]).toEqual(["The loved boat is Ida. (boat: Ida)", insight.text]);
});

it("A reranker is not asked where nothing fits, one memory fits, or everything is listed", async () => {
  const cache = "The user uses Redis as a cache for tide tables.";
  const facts = [...boats, cache, "The user uses Biome for formatting of code."];
  const { asked, queried, shown } = await opened(shortest, asDrafts(facts));
  for (const find of [queried, shown]) {
    expect(await find("quantum chromodynamics")).toEqual([]);
    expect(await find("Which cache do we use for tide tables?")).toEqual([cache]);
  }
  expect(await queried("Who am I?")).toHaveLength(5);
  expect(asked).toEqual([]);
});

it("A reranker leaves the later of nearly equal statements first", async () => {
  const { queried, shown } = await opened(shortest, [
    { text: "The chair of the club is Ana.", validFrom: "2026-03-02" },
    { text: "The chair of the club is Benedita.", validFrom: "2026-09-14" },
  ]);
  for (const find of [queried, shown])
    expect((await find("Who is the chair of the club?"))[0]).toContain("Benedita");
});

const rejectsLate: Reranker = (_, __, { signal }) =>
  new Promise((___, reject) => {
    signal.onabort = () => setImmediate(reject);
  });

it.each<[string, RegExp, Reranker]>([
  [
    "throws",
    /^unexpected Error at rerank.test.ts:\d+$/,
    (_, [quoted]) => {
      throw new Error(quoted);
    },
  ],
  ["rejects after the deadline", /within 9 ms/, rejectsLate],
  ["gives too few scores", /1 scores for 3 texts/, async () => [1]],
  ["gives NaN", /not finite/, async () => [1, Number.NaN, 2]],
])("Hits keep their order when the reranker %s, and an event says so", async (_, why, score) => {
  // The others answer before any timer.
  const { memory, asked, queried, shown } = await opened(score, asDrafts(boats), { timeoutMs: 9 });
  const events = () => memory.events.list({ step: "rerank" });
  const before = await events();
  for (const find of [queried, shown]) expect(await find(query)).toEqual(boats);
  await expect.poll(events).toHaveLength(before.length + 2);
  expect((await events())[0]?.detail).toMatch(why);
  expect(asked.every(([, , { signal }]) => signal.aborted || score !== rejectsLate)).toBe(true);
});
