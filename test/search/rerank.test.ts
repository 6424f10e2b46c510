import { describe, expect, it } from "vitest";
import type { MemoryDraft } from "../../src/index.js";
import type { Reranker } from "../../src/search/retrieval-options.js";
import { memoryBlock } from "../../src/turns/memory-block.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";
import { asDrafts, openThread } from "../support/thread-facts.js";

const db = useTestDatabase();

const texts = (hits: readonly { readonly memory: { readonly text: string } }[]) =>
  hits.map(({ memory }) => memory.text);

/** A thread whose user has `drafts`, and what `score` was asked. */
async function reranked(score: Reranker, drafts: readonly MemoryDraft[], more: object = {}) {
  const asked: Parameters<Reranker>[] = [];
  const rerank = {
    with: ((...given) => {
      asked.push(given);
      return score(...given);
    }) satisfies Reranker,
    ...more,
  };
  const logger = recordingLogger();
  const { memory, scope, threadId } = openThread(db, { config: { retrieval: { rerank } }, logger });
  await memory.memories.add(drafts, { scope });
  const found = async (query: string) => texts(await memory.query({ scope, query }));
  const relevant = async (query: string) =>
    texts((await memory.recall({ scope, threadId, query })).memories.relevant);
  /** The order without the reranker. */
  const ours = async (query: string) => texts(await db.memory().query({ scope, query }));
  return { memory, scope, threadId, logger, asked, found, relevant, ours };
}

const boats = asDrafts([
  "The user sails a red boat.",
  "The user painted the boat green in May.",
  "The user sold a boat to Ida, and bought a boat from Ben.",
]);
const about = "What about the boat?";
const backwards: Reranker = async (_, all) => all.map((__, place) => place);

describe("a reranker", () => {
  it("A reranker orders the best hits of a query and of a prompt, and changes nothing else", async () => {
    const { memory, scope, threadId, asked, ...of } = await reranked(backwards, boats, {
      limit: 2,
    });
    const [first, second, third] = await of.ours(about);
    const expected = [second, first, third];
    expect(await of.found(about)).toEqual(expected);
    const recalled = await memory.recall({ scope, threadId, query: about });
    expect(texts(recalled.memories.relevant)).toEqual(expected);
    const block = memoryBlock(recalled) ?? "";
    expect(expected.map((text) => block.indexOf(text ?? ""))).toEqual(
      expected.map((text) => block.indexOf(text ?? "")).toSorted((one, other) => one - other),
    );
    const explained = await memory.query({ scope, query: about, explain: true });
    expect(texts(explained.hits)).toEqual(expected);
    expect(explained.hits.map(({ reason }) => reason)).toEqual([
      "same words, reranked",
      "same words, reranked",
      "same words",
    ]);
    // Once for each search, also for its explanation.
    expect(asked.map(([question, given]) => [question, given])).toEqual(
      Array.from({ length: 3 }, () => [about, [first, second]]),
    );
  });

  it("A reranker reads keys and values, and never what a prompt always shows; insights stay last", async () => {
    const slot = { text: "The loved boat is Ida.", key: "boat_name", value: "Ida", importance: 1 };
    const pinned = { text: "The loved boat is insured.", pinned: true };
    const insight = { text: "The user seems to love the boat.", kind: "insight" as const };
    const likesInsight: Reranker = async (_, all) => all.map((text) => Number(/seems/.test(text)));
    const loved = "Does the user love the boat?";
    const { asked, found, relevant } = await reranked(likesInsight, [slot, pinned, insight]);
    expect((await found(loved))[0]).toBe(insight.text);
    expect(asked[0]?.[1].toSorted()).toEqual([
      "The loved boat is Ida. (boat_name: Ida)",
      pinned.text,
      insight.text,
    ]);
    expect(await relevant(loved)).toEqual([slot.text, insight.text]);
    expect(asked[1]?.[1]).not.toContain(pinned.text);
  });

  it("A reranker is not asked where nothing fits, one memory fits, or everything is listed", async () => {
    const noise = asDrafts([
      "The user uses Redis as a cache for tide tables.",
      "The user uses Biome for formatting of code.",
    ]);
    const { asked, found, relevant } = await reranked(backwards, [...boats, ...noise]);
    for (const [query, hits] of [
      ["quantum chromodynamics", []],
      ["Which cache do we use for tide tables?", [noise[0]?.text]],
    ] as const) {
      expect(await found(query)).toEqual(hits);
      expect(await relevant(query)).toEqual(hits);
    }
    expect(await found("Who am I?")).toHaveLength(5);
    expect(asked).toEqual([]);
  });

  it.each([
    ["Who is the chair of the rowing club?", "Duarte"],
    ["Who was the chair of the rowing club on 2 March 2026?", "Marta"],
  ])(
    "The later of nearly equal statements stays first, unless a day is named: %s",
    async (query, name) => {
      const likesMarta: Reranker = async (_, all) => all.map((text) => Number(/Marta/.test(text)));
      const chair = (who: string, day: string) => {
        return { text: `The chair of the rowing club is ${who}.`, validFrom: new Date(day) };
      };
      const { asked, found, relevant } = await reranked(likesMarta, [
        chair("Marta Lopes", "2026-03-02"),
        chair("Duarte Reis", "2026-09-14"),
      ]);
      expect((await found(query))[0]).toContain(name);
      expect((await relevant(query))[0]).toContain(name);
      expect(asked).toHaveLength(2);
    },
  );
});

describe("a reranker that fails", () => {
  it.each<[string, Reranker, RegExp]>([
    [
      "throws",
      (_, [quoted]) => {
        throw new Error(quoted);
      },
      /^unexpected Error/,
    ],
    [
      "rejects after the deadline",
      (_, __, { signal }) =>
        new Promise((___, reject) => {
          signal.addEventListener("abort", () => setImmediate(reject, new Error("aborted")));
        }),
      /within 1 ms/,
    ],
    ["gives too few scores", async () => [1], /1 scores for 3 texts/],
    ["gives NaN", async () => [3, Number.NaN, 1], /not finite/],
    ["gives an infinite score", async () => [3, Number.POSITIVE_INFINITY, 1], /not finite/],
    ["gives nothing", async () => undefined as never, /^unexpected TypeError/],
  ])(
    "The order stays, and an event and a line of the log say why, when it %s",
    async (_, score, why) => {
      const timeoutMs = why.source.includes("1 ms") ? 1 : 10_000;
      const { memory, logger, asked, ...of } = await reranked(score, boats, { timeoutMs });
      const events = () => memory.events.list({ step: "rerank", status: "error" });
      const before = await events();
      const ours = await of.ours(about);
      expect(await of.found(about)).toEqual(ours);
      expect(await of.relevant(about)).toEqual(ours);
      await expect.poll(events).toHaveLength(before.length + 2);
      const [{ op, node, detail } = {}] = await events();
      expect([op, node]).toEqual(["search", "context"]);
      expect(detail).toMatch(why);
      expect(logger.lines).toHaveLength(2);
      expect(`${detail} ${logger.lines}`).not.toContain("boat");
      expect(asked.every(([, , { signal }]) => signal.aborted || timeoutMs > 1)).toBe(true);
    },
  );
});
