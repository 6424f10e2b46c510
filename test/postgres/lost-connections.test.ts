import pg from "pg";
import { describe, expect, inject, it } from "vitest";
import { brokenInvariants } from "../support/broken-invariants.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { newAddress, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();

/** Loses the connection of its `at`th statement, once: before it is sent, or after it was run. */
function losingPool(at: number, when: "before" | "after") {
  const asked: string[] = [];
  class LosingClient extends pg.Client {
    override query(...given: unknown[]): never {
      const run = () => super.query(...(given as [string])) as unknown;
      const { text = String(given[0]) } = given[0] as pg.QueryConfig;
      if (asked.push(text) !== at) return run() as never;
      const lose = () => {
        this.connection.stream.destroy();
        throw Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
      };
      return (async () => {
        if (when === "after") await run();
        lose();
      })() as never;
    }
  }
  const options = { connectionString: inject("databaseUrl") ?? "", max: 1, Client: LosingClient };
  return { pool: new pg.Pool(options), asked };
}

describe.skipIf(!onServer())("a connection that is lost in a transaction (server only)", () => {
  it.for(["before", "after"] as const)(
    "Memories are written once wherever the connection is lost, and only a commit's loss is reported: %s",
    async (when) => {
      const reported: string[] = [];
      for (let at = 1; ; at++) {
        const { scope } = newAddress();
        const { pool, asked } = losingPool(at, when);
        const memory = db.memory({ database: pool });
        const add = () =>
          memory.memories.add({ scope, memories: { text: "The user keeps bees." } });
        const error = await add().then(
          () => null,
          (error: Error) => error,
        );
        if (error) {
          reported.push(asked[at - 1] ?? "");
          expect(error).toMatchObject({
            code: "DATABASE_UNAVAILABLE",
            message: expect.stringContaining("may be there or not"),
          });
          await add();
        }
        expect(await textsOf(memory, { scope })).toEqual(["The user keeps bees."]);
        await pool.end();
        if (asked.length < at) break;
      }
      expect(reported).toEqual(["commit"]);
      expect(await brokenInvariants(db)).toEqual([]);
    },
  );
});
