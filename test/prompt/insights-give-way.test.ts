import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryDraft, MemoryKind } from "../../src/memories/item/memory.js";
import type { Memory } from "../../src/memory.js";
import { memoryParts, ofPart, shownIn } from "../../src/prompt/recalled.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();
const subjects = ["opera", "chess", "boats", "sleep", "piano"];

const draft = (kind: "fact" | "insight") =>
  fc.record({
    text: fc
      .tuple(fc.constantFrom(...subjects), fc.constantFrom(...subjects), fc.uuid())
      .map(([one, other, name]) => `The user ${name} speaks of ${one}, and of ${other}.`),
    kind: fc.constant(kind),
    category: fc.constantFrom(
      "knowledge",
      kind === "insight" ? "relationship_dynamic" : "workgoals",
    ),
    importance: fc.constantFrom(1, 2, 3, 5),
  });

/** The kinds that a recall shows, by part, in a thread that has seen all changes. */
async function shown(
  memory: Memory,
  thread: { readonly scope: { readonly userId: string }; readonly threadId: string },
) {
  const seen = { revision: (await memory.recall(thread)).changes.revision, memoryIds: [] };
  await memory.remember({ ...thread, messages: [new HumanMessage("Hello.")], shown: seen });
  const { memories } = await memory.recall({ ...thread, query: "What about opera and chess?" });
  return memoryParts.map((part) => ofPart(shownIn(memories), part).map(({ kind }) => kind));
}

const countOf = (parts: readonly (readonly MemoryKind[])[], kind: MemoryKind) =>
  parts.flat().filter((each) => each === kind).length;

describe("insights", () => {
  it("Insights displace no fact from a recall, and follow the facts of their part", async () => {
    const lists = fc.tuple(
      fc.array(draft("fact"), { minLength: 1, maxLength: 14 }),
      fc.array(draft("insight"), { minLength: 1, maxLength: 12 }),
      fc.record({ budgetTokens: fc.constantFrom(120, 300, 1_500), topK: fc.constantFrom(1, 3, 8) }),
    );
    await fc.assert(
      fc.asyncProperty(lists, async ([facts, insights, retrieval]) => {
        const memory = db.memory({
          config: {
            retrieval,
            categories: { custom: [{ name: "workgoals", context: "rag", rag_length: 3 }] },
          },
        });
        const [alone, both] = [newAddress(), newAddress()];
        await memory.memories.add({ ...alone, memories: facts as MemoryDraft[] });
        await memory.memories.add({ ...both, memories: [...facts, ...insights] as MemoryDraft[] });
        const [without, beside] = [await shown(memory, alone), await shown(memory, both)];
        // Other facts may be shown that take more room: words are as rare as the texts that have
        // them.
        const slack = retrieval.budgetTokens < 1_000 ? 1 : 0;
        expect(countOf(beside, "fact")).toBeGreaterThanOrEqual(countOf(without, "fact") - slack);
        for (const kinds of beside) expect(kinds).toEqual(kinds.toSorted());
        await memory.close();
      }),
      { numRuns: 20, endOnFailure: true },
    );
  });

  it("Insights score half in a query, and can be its only hit", async () => {
    const memory = db.memory();
    const scope = { userId: randomUUID() };
    await memory.memories.add({
      scope,
      memories: [
        { kind: "insight", text: "The user grows calm over green tea." },
        { text: "The user buys green tea in Porto." },
      ],
    });
    const hits = await memory.query({ scope, query: "green tea" });
    expect(hits.map(({ memory }) => memory.kind)).toEqual(["fact", "insight"]);
    const [fact = Number.NaN, insight = Number.NaN] = hits.map(({ score }) => score);
    expect(insight / fact).toBeGreaterThan(0.4);
    expect(insight / fact).toBeLessThan(0.6);
    const [only] = await memory.query({ scope, query: "calm" });
    expect(only?.memory.kind).toBe("insight");
  });
});
