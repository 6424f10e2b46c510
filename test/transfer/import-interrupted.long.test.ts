import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ExportLine } from "../../src/transfer/export-line.js";
import { linesOf, ofType, withoutHeader } from "../support/export-lines.js";
import { useFreshSchemas } from "../support/fresh-schema.js";
import { useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const freshSchema = useFreshSchemas(db);
const word = () => `word${randomUUID().replaceAll("-", "")}`;

describe("large and interrupted exports and imports", () => {
  it("An interrupted import stops and goes on where it was", async () => {
    const scope = { userId: word() };
    const source = db.memory();
    const drafts = Array.from({ length: 1_200 }, (_, index) => ({
      text: `Knows that number ${index} is odd.`,
    }));
    await source.memories.add({ scope, memories: drafts });
    const lines = await linesOf(source, scope);
    const target = (await freshSchema()).memory();
    await expect(target.import({ lines: cutOff(lines, 900) })).rejects.toThrow("the disk is full");
    expect(ofType(await linesOf(target, scope), "memory")).toHaveLength(498);
    expect(await target.import({ lines })).toMatchObject({
      written: { memory: 702, history: ofType(lines, "history").length, change: 1_200 },
    });
    expect(withoutHeader(await linesOf(target, scope))).toEqual(withoutHeader(lines));
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error("enough"));
    await expect(target.import({ lines, signal: controller.signal, onProgress })).rejects.toThrow(
      "enough",
    );
  });

  it("Export and import hold a page at a time, for any number of lines", async () => {
    const scope = { userId: word() };
    const drafts = Array.from({ length: 2_500 }, (_, index) => ({
      text: `Knows that number ${index} is even.`,
    }));
    const { pool, statements } = watchedPool(db.pool);
    const memory = db.memory({ database: pool });
    await memory.memories.add({ scope, memories: drafts });
    const lines = memory.export({ scope })[Symbol.asyncIterator]();
    await lines.next();
    await lines.next();
    statements.length = 0;
    const pages: number[] = [];
    for (let count = 0; count < 2_500; count++) {
      expect((await lines.next()).value).toMatchObject({ type: "memory" });
      if (count % 500 === 0) pages.push(statements.length);
    }
    // One more statement for five hundred more lines: none is read before it is asked for.
    expect(pages.map((page) => page - (pages[0] ?? 0))).toEqual([0, 1, 2, 3, 4]);

    // Import asks for no more than a batch beyond what it has written.
    const target = (await freshSchema()).memory();
    let given = 0;
    let furthest = 0;
    async function* counted() {
      for await (const line of memory.export({ scope })) {
        given++;
        yield line;
      }
    }
    await target.import({
      lines: counted(),
      onProgress: ({ lines: written }) => {
        furthest = Math.max(furthest, given - written);
      },
    });
    expect(given).toBeGreaterThan(7_500);
    expect(furthest).toBeLessThanOrEqual(1);
  });
});

async function* cutOff(lines: ExportLine[], after: number) {
  for (const [index, line] of lines.entries()) {
    if (index === after) throw new Error("the disk is full");
    yield line;
  }
}
