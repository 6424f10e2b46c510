import { describe, expect, it } from "vitest";
import type { Memory, Scope } from "../../src/index.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { useCells } from "../support/cells.js";

const on = useCells(3);

/** A model that knows what "automobile" means. */
class KnowsCars extends HashingEmbeddings {
  override async embedQuery(question: string) {
    return super.embedQuery(question.replace("automobile", "car"));
  }
}

describe("embeddings over cells", () => {
  it("find in each cell what has no word of the question, and are made anew in all", async () => {
    const embeddings = new KnowsCars({ dimensions: 384 });
    const first = on.memory({ embeddings, embeddingSpace: "first" });
    await first.setup();
    const scopes: Scope[] = [0, 1, 2].map((cell) => ({ tenantId: on.tenantIn(cell), userId: "ana" }));
    for (const scope of scopes) await first.memories.add({ text: "Ana bought an old car." }, { scope });
    const found = async (memory: Memory) => {
      const hits = await Promise.all(scopes.map((scope) => memory.query({ scope, query: "automobile" })));
      return hits.map((of) => of.map((hit) => hit.memory.text));
    };
    const everywhere = scopes.map(() => ["Ana bought an old car."]);
    expect(await found(first)).toEqual(everywhere);

    const second = on.memory({ embeddings, embeddingSpace: "second" });
    await second.setup();
    expect(await found(second)).toEqual([[], [], []]);
    expect(await second.reembed()).toMatchObject({ embedded: 3, remaining: 0 });
    expect(await found(second)).toEqual(everywhere);
  });
});
