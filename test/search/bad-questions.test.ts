import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { chosenVectors } from "../support/chosen-vectors.js";
import { silentLogger } from "../support/silent-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const megabyte = "boat ".repeat(200_000);

/** A memory with one statement, and what it warns of. */
async function asked() {
  const warnings: string[] = [];
  const given = { vector: [1, 0, 0] };
  const embeddings = chosenVectors(() => given.vector);
  const logger = { ...silentLogger, warn: (line: string) => void warnings.push(line) };
  const memory = db.memory({ embeddings, logger });
  await memory.setup();
  const thread = { scope: { userId: randomUUID() }, threadId: randomUUID() };
  await memory.memories.add({
    ...thread,
    memories: { text: "The boat is red.", category: "knowledge" },
  });
  return { memory, thread, given, warnings };
}

describe("invalid search input", () => {
  it("The error of invalid search input has the given and the allowed value", async () => {
    const { memory, thread } = await asked();
    const ask = { ...thread, query: "boat" };
    await expect(memory.query({ ...ask, topK: 201 })).rejects.toThrow(/<=200, not 201\s+→ at topK/);
    await expect(memory.query({ ...ask, query: megabyte })).rejects.toThrow(
      "<=10000 characters, not 1000000",
    );
    await expect(memory.query({ ...ask, kinds: [] })).rejects.toThrow("leave it out for all");
    await expect(memory.query({ ...ask, topK: 2, top_k: 3 })).rejects.toThrow("differ");
    await expect(memory.query({ ...ask, filters: { pined: true } as never })).rejects.toThrow(
      '"pinned"',
    );
  });

  it("A recall accepts a question that is too long and reads its head", async () => {
    const { memory, thread } = await asked();
    const { memories } = await memory.recall({ ...thread, query: megabyte });
    expect(memories.relevant).toHaveLength(1);
  });

  it("A question whose vector is empty or has NaN is searched by words", async () => {
    const { memory, thread, given, warnings } = await asked();
    const ask = { ...thread, query: "boat" };
    warnings.splice(0);
    for (const vector of [[Number.NaN, 0, 0], [], [1, 0, Number.POSITIVE_INFINITY]]) {
      given.vector = vector;
      expect(await memory.query(ask)).toHaveLength(1);
      expect((await memory.recall(ask)).memories.relevant).toHaveLength(1);
      expect(warnings.splice(0)).toEqual(
        Array(2).fill(expect.stringContaining("empty vector or one with NaN")),
      );
    }
  });
});
