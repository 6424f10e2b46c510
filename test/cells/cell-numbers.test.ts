import { randomUUID } from "node:crypto";
import { afterAll, describe, expect, it } from "vitest";
import { dropSchemas } from "../support/cells.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const schema = `numbers_${randomUUID().slice(0, 8)}`;
afterAll(() => dropSchemas(db.pool, schema));

const scope = { userId: "ana" };
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    ({ code }: { code: string }) => code,
  );

describe("how many cells there are", () => {
  it("stays as it was set up: with another number nothing is set up, read or written", async () => {
    const two = db.memory({ schema, cells: 2 });
    const applied = await two.setup();
    expect(applied).toContain(`${schema}_c001: 0001_conversations`);
    expect(await two.setup()).toEqual([]);
    const three = db.memory({ schema, cells: 3 });
    expect(await codeOf(three.setup())).toBe("CELLS_DIFFER");
    for (const userId of ["ana", "bob", "eve", "joe", "kim", "lea"]) {
      // Where the third cell would be, nothing was set up.
      const code = three.cells.of({ userId }) === 2 ? "SETUP_REQUIRED" : "CELLS_DIFFER";
      expect(await codeOf(three.memories.list({ scope: { userId } }))).toBe(code);
    }
    expect(await codeOf(db.memory({ schema }).setup())).toBe("CELLS_DIFFER");
    expect(await codeOf(db.memory({ schema: db.schema, cells: 2 }).setup())).toBe("CELLS_DIFFER");
    expect(await codeOf(two.memories.list({ scope }))).toBe("done");
  });

  it("makes no cell anew that was there: it is somewhere else", async () => {
    const memory = db.memory({ schema, cells: 2 });
    const cell = memory.cells.of(scope);
    await db.pool.query(`alter schema "${schema}_c00${cell}" rename to "${schema}_elsewhere"`);
    expect(await codeOf(memory.setup())).toBe("CELLS_DIFFER");
    expect(await codeOf(memory.memories.list({ scope }))).toBe("SETUP_REQUIRED");
    expect((await memory.cells.list())[cell]?.state).toBe("missing");
    await db.pool.query(`alter schema "${schema}_elsewhere" rename to "${schema}_c00${cell}"`);
    expect(await codeOf(memory.memories.list({ scope }))).toBe("done");
  });

  it("is told apart from a cell in another's place", async () => {
    const swapped = db.memory({ schema, cells: 2 });
    await db.pool.query(`update "${schema}_c000".cell set cell = 1`);
    const [user] = ["ana", "bob", "eve", "joe"].filter((userId) => swapped.cells.of({ userId }) === 0);
    expect(await codeOf(swapped.memories.list({ scope: { userId: user ?? "" } }))).toBe("CELLS_DIFFER");
    await db.pool.query(`update "${schema}_c000".cell set cell = 0`);
  });

  it("is a whole number, and names of schemas have room for it", () => {
    expect(() => db.memory({ cells: 0 })).toThrow(/cells/);
    expect(() => db.memory({ cells: 1.5 })).toThrow(/cells/);
    expect(() => db.memory({ cells: 2, schema: "x".repeat(60) })).toThrow(/cannot be a schema name/);
    expect(db.memory({ schema, config: { database: { cells: 2 } } }).cells.of(scope)).toBeLessThan(2);
  });
});
