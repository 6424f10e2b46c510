import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type Memory,
  type MemoryDraft,
  type MemoryQuery,
  memoryQueryTool,
} from "../../src/index.js";
import { chosenVectors } from "../support/chosen-vectors.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const config = {
  allowlists: { planner: ["tasks"], everyone: ["knowledge", "tasks", "procedural"] },
};
const crowd = 700;

/**
 * Texts with "near" are near the question, those with "wanted" a little less, all others at a right
 * angle.
 */
const angles = chosenVectors((text) => {
  if (text.includes("meaning")) return [1, 0, 0];
  const cosine = text.includes("near") ? 0.9 : text.includes("wanted") ? 0.8 : 0;
  return [cosine, Math.sqrt(1 - cosine ** 2), 0];
});

const wantedText =
  "The wanted lighthouse plan is one of many things written about in this long line.";
/** Each better than what is wanted, by words, vectors, messages and dates alike. */
const better = (index: number, more: Partial<MemoryDraft> = {}): MemoryDraft => ({
  text: `Lighthouse lighthouse near ${index}.`,
  importance: 5,
  validFrom: new Date("2022-05-25T10:00Z"),
  ...more,
});
const validFrom = new Date("2022-05-25T10:00Z");
const wanted: MemoryDraft = {
  text: wantedText,
  importance: 1,
  category: "tasks",
  agentId: "keeper",
  validFrom,
};

/** Ways to have all others out of the way, and which of them also go for a recall. */
type Way = readonly [string, Partial<MemoryQuery>, { agent?: string } | null];
const categories: Way[] = [
  ["a category of the agent's allowlist", { agent: "planner" }, { agent: "planner" }],
  ["a category asked for", { categories: ["tasks"] }, null],
  ["a filter", { filters: { agent_id: "keeper" } }, null],
];
const crowds: [string, Partial<MemoryDraft>, Way[]][] = [
  ["of their kind", {}, categories],
  ["of a kind that is not searched", { kind: "procedure" }, [["a kind", {}, {}]]],
  ["of another kind", { kind: "insight" }, [["a kind asked for", { kinds: ["fact"] }, null]]],
];

describe.each(crowds)("hundreds of better memories %s", (name, others, ways) => {
  const scope = { userId: name };
  let lexical: Memory;
  let vectors: Memory;

  beforeAll(async () => {
    lexical = db.memory({ config });
    vectors = db.memory({ config, embeddings: angles });
    await vectors.setup();
    const messages = Array.from(
      { length: crowd },
      (_, index) =>
        new HumanMessage({ id: `${name} ${index}`, content: "A zeppelin, a zeppelin!" }),
    );
    const said = new HumanMessage({
      id: `${name} said`,
      content: `Of all ${"other things ".repeat(30)} a zeppelin.`,
    });
    await lexical.record({ scope, threadId: name, messages: [...messages, said] });
    const from = (seq: number) => ({ threadId: name, seqs: [seq] });
    const drafts = Array.from({ length: crowd }, (_, index) =>
      better(index, { ...others, source: from(index) }),
    );
    for (let start = 0; start < crowd; start += 350) {
      await vectors.memories.add({ scope, memories: drafts.slice(start, start + 350) });
    }
    await vectors.memories.add({ scope, memories: { ...wanted, source: from(crowd) } });
  });

  describe.each(ways)("one match of %s", (_, asked, recalled) => {
    it.each([
      ["words", "lighthouse", false],
      ["vectors", "by its meaning", true],
      ["the time it holds since", "What happened on 25 May 2022?", false],
    ])(
      "The only match of a restricted search is found by %s alone, by query, tool and recall",
      async (_, query, byVector) => {
        const memory = byVector ? vectors : lexical;
        expect(
          (await memory.query({ scope, query, ...asked })).map((hit) => hit.memory.text),
        ).toEqual([wantedText]);
        const { agent, categories, filters, kinds } = asked;
        if (!kinds) {
          const tool = memoryQueryTool(memory, { scope, ...(agent && { agent }) });
          const answer: string = await tool.invoke({ query, categories, filters, return: "full" });
          expect(JSON.parse(answer)).toMatchObject([{ text: wantedText }]);
        }
        if (recalled) {
          const { memories } = await memory.recall({
            scope,
            threadId: `${name} asks`,
            query,
            ...recalled,
          });
          expect(memories.relevant.map((hit) => hit.memory.text)).toEqual([wantedText]);
        }
      },
    );
  });
});

describe("one match of this app among hundreds of another app's", () => {
  const custom = [{ name: "local", level: "app" as const }];
  it("One match of this app among hundreds of another app's is found by query and recall", async () => {
    const memory = db.memory({ config: { categories: { custom } } });
    const user = { userId: "ana of two apps" };
    const drafts = Array.from({ length: crowd }, (_, index) =>
      better(index, { category: "local" }),
    );
    await memory.memories.add({
      scope: { ...user, appId: "mail" },
      memories: drafts.slice(0, 350),
    });
    await memory.memories.add({ scope: { ...user, appId: "mail" }, memories: drafts.slice(350) });
    const scope = { ...user, appId: "notes" };
    await memory.memories.add({ scope, memories: { ...wanted, category: "local" } });
    expect(
      (await memory.query({ scope, query: "lighthouse" })).map((hit) => hit.memory.text),
    ).toEqual([wantedText]);
    const { memories } = await memory.recall({ scope, threadId: "app", query: "lighthouse" });
    expect(memories.relevant.map((hit) => hit.memory.text)).toEqual([wantedText]);
  });
});

it("One message among thousands of better ones in other threads is found when only its thread is searched", async () => {
  const memory = db.memory();
  const scope = { userId: "talker" };
  const loud = Array.from(
    { length: 1_700 },
    (_, n) => new HumanMessage({ id: `l${n}`, content: "Marmot, marmot!" }),
  );
  await memory.record({ scope, threadId: "loud", messages: loud });
  const quiet = `Of all ${"other things ".repeat(30)} a marmot.`;
  await memory.record({
    scope,
    threadId: "quiet",
    messages: [new HumanMessage({ id: "q", content: quiet })],
  });
  const hits = await memory.transcript.search({ scope, query: "marmot", threadId: "quiet" });
  expect(hits.map(({ text }) => text)).toEqual([quiet]);
});
