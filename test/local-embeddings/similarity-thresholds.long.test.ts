import { beforeAll, describe, expect, it } from "vitest";
import pairs from "../../bench/data/statement-pairs.json" with { type: "json" };
import { localEmbeddings } from "../../src/local-embeddings/index.js";
import { consolidateNow } from "../support/consolidate-now.js";
import { useFreshSchemas } from "../support/fresh-schema.js";
import { localModelDir, usePackages } from "../support/local-model.js";
import { judgingModel } from "../support/pair-judge.js";
import { useTestDatabase } from "../support/test-database.js";

const modelDir = localModelDir();
const scope = { userId: "ana" };

describe.skipIf(modelDir === null)("similarity with real vectors", () => {
  const freshSchema = useFreshSchemas(useTestDatabase());
  const open = () => localEmbeddings({ modelDir: modelDir ?? "" });
  beforeAll(usePackages);

  /** Pairs that consolidation asks about, and what is active after verdicts that none is one. */
  async function consolidated(texts: readonly string[], askSimilarity?: number) {
    const asked = new Set<string>();
    const model = judgingModel(({ one, other }) => {
      asked.add(one + other);
      return "unrelated";
    });
    const { memory: memoryOn } = await freshSchema();
    const memory = memoryOn({ model, embeddings: open(), config: { memories: { askSimilarity } } });
    await memory.memories.add({ scope, memories: texts.map((text) => ({ text })) });
    await consolidateNow(memory, { scope });
    const active = await memory.memories.list({ scope, limit: 500 });
    const count = (of: readonly string[][]) => of.filter((pair) => asked.has(pair.join(""))).length;
    return { count, active };
  }

  it("Consolidation asks about nine of ten paraphrases, and about no unrelated statements", async () => {
    const same = pairs.same.slice(0, 10);
    const unrelated = pairs.unrelated.slice(0, 10);
    const { count } = await consolidated([...same, ...unrelated].flat());
    expect(count(same)).toBeGreaterThanOrEqual(9);
    expect(count(unrelated)).toBe(0);
  });

  it("No similarity merges memories without a model's word", async () => {
    const texts = new Set([...pairs.contradicting, ...pairs.related].flat());
    expect((await consolidated([...texts], 0)).active).toHaveLength(texts.size);
  });

  it("An episode is found by meaning at the model's own distance, or at retrieval.maxEpisodeDistance", async () => {
    const { memory: memoryOn } = await freshSchema();
    const embeddings = open();
    const refund =
      "The user claimed compensation for a flight cancelled on 3 August; the airline first refused and then paid 400 euros.";
    const found = async (query: string, maxEpisodeDistance?: number) => {
      const memory = memoryOn({ embeddings, config: { retrieval: { maxEpisodeDistance } } });
      const { memories } = await memory.recall({ scope, threadId: query, query });
      return memories.episodes.map((hit) => hit.memory.text);
    };
    await memoryOn({ embeddings }).memories.add({
      scope,
      memories: { kind: "episode", text: refund },
    });
    expect(await found("Was my refund settled?")).toEqual([refund]);
    expect(await found("What is the weather like?")).toEqual([]);
    expect(await found("Was my refund settled?", 0.4)).toEqual([]);
  });
});
