import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { describe, expect, inject, it } from "vitest";
import { createMemory } from "../../../src/create-memory.js";
import type { Memory, Recalled, Scope } from "../../../src/index.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { useChildScripts } from "../../support/child-scripts.js";
import { useFreshSchemas } from "../../support/fresh-schema.js";
import { holdingAtMost, notHeld, recallUntilHeld, textsOf } from "../../support/held.js";
import { expectSame } from "../../support/same-recall.js";
import { silentLogger } from "../../support/silent-logger.js";
import { round } from "../../support/spoken.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";
import { limitsMs } from "../../support/timing.js";

const db = useTestDatabase();
const freshSchema = useFreshSchemas(db);
const start = useChildScripts();
const embeddings = new HashingEmbeddings({ dimensions: 16 });
const script = process.env.POSTGRES_SCRIPT;

/** Memories that all tell of something else, in batches. */
async function fill(memory: Memory, scope: Scope, count: number): Promise<void> {
  for (let first = 0; first < count; first += 100) {
    const texts = Array.from(
      { length: Math.min(100, count - first) },
      (_, index) => `Ana keeps box ${first + index} in cellar ${(first + index) * 7}.`,
    );
    await memory.memories.add(
      texts.map((text) => ({ text })),
      { scope },
    );
  }
}

describe.skipIf(!onServer())("a process that is killed while it takes a user in (server only)", () => {
  it("keeps no other from taking the same user in, and leaves nothing behind", async () => {
    const { memory, schema } = await freshSchema();
    const [holding, cold] = [memory({ embeddings }), memory({ embeddings, config: notHeld })];
    const scope = { userId: "ana" };
    await fill(holding, scope, 1_500);
    const input = { scope, threadId: "t", query: "What is in cellar 700?" };
    for (let times = 0; times < 2; times++) {
      const killed = start("held-loading", [inject("databaseUrl") ?? "", schema, "ana", `held_${schema}`]);
      await killed.line("loading");
      await holding.memories.add({ text: `Ana found key ${times} in cellar 700.` }, { scope });
      expectSame(await holding.recall(input), await cold.recall(input));
      await killed.kill();
      expectSame(await recallUntilHeld(holding, input), await cold.recall(input));
    }
    const sessions = () =>
      db.pool.query("select pid, state, query from pg_stat_activity where application_name = $1", [
        `held_${schema}`,
      ]);
    await expect.poll(async () => (await sessions()).rows).toEqual([]);
  });
});

describe("a memory that is closed while it takes a user in", () => {
  it("is closed at once, and another goes on", async () => {
    const { memory } = await freshSchema();
    const scope = { userId: "ana" };
    await fill(memory({ embeddings }), scope, 300);
    const input = { scope, threadId: "t", query: "What is in cellar 700?" };
    const closing = memory({ embeddings });
    await Promise.all([closing.recall(input), closing.recall(input)]);
    await closing.close();
    expect(closing.held()).toMatchObject({ owners: 0, bytes: 0, loading: 0 });
    const next = memory({ embeddings });
    expectSame(
      await recallUntilHeld(next, input),
      await memory({ embeddings, config: notHeld }).recall(input),
    );
  });
});

/** Tries again while the database is away. */
async function untilBack(work: () => Promise<Recalled>): Promise<Recalled> {
  for (const startedAt = performance.now(); ; await sleep(50)) {
    const recalled = await work().catch((error: unknown) => {
      if (performance.now() - startedAt > limitsMs.step) throw error;
      return null;
    });
    if (recalled) return recalled;
  }
}

describe.skipIf(!onServer())("a database that goes away under held users (server only)", () => {
  it("is recalled right once it is back: connections cut", async () => {
    const { memory, schema, pool } = await freshSchema();
    const other = memory({ embeddings });
    const url = new URL(inject("databaseUrl") ?? "");
    url.searchParams.set("application_name", schema);
    const holding = createMemory({ database: url.href, schema, embeddings, logger: silentLogger });
    const scope = { userId: "ana" };
    await fill(other, scope, 50);
    const input = { scope, threadId: "t", query: "What is in cellar 70?" };
    await recallUntilHeld(holding, input);
    for (let times = 0; times < 3; times++) {
      const [removed] = await other.memories.list({ scope, limit: 1 });
      await other.memories.remove(removed?.id as string, { scope });
      await other.memories.add({ text: `Ana found key ${times} in cellar 70.` }, { scope });
      await pool.query("select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1", [
        schema,
      ]);
      const recalled = await untilBack(() => holding.recall(input));
      expectSame(recalled, await memory({ embeddings, config: notHeld }).recall(input));
      expect(textsOf(recalled)).toContain(`Ana found key ${times} in cellar 70.`);
    }
    await holding.close();
  });

  it.skipIf(!script)(
    "is recalled right once it is back: the server restarted (needs POSTGRES_SCRIPT)",
    async () => {
      const server = ["--name", "held", "--port", "24398"];
      const postgres = async (command: string) =>
        (await promisify(execFile)(script ?? "", [command, ...server])).stdout.trim();
      const database = await postgres("start");
      try {
        const open = (config = {}) => createMemory({ database, embeddings, logger: silentLogger, config });
        const [holding, other, cold] = [open(), open(), open(notHeld)];
        await other.setup();
        const scopes = ["ana", "ben"].map((userId) => ({ userId }));
        const input = (scope: Scope) => ({
          scope,
          threadId: `t of ${scope.userId}`,
          query: "What is in cellar 70?",
        });
        for (const scope of scopes) {
          await fill(other, scope, 50);
          await other.record({
            scope,
            threadId: input(scope).threadId,
            messages: round(`Cellar 70 of ${scope.userId}?`),
          });
          await recallUntilHeld(holding, input(scope));
        }
        for (const time of ["first", "second"]) {
          const text = `Ana found a key in cellar 70 before the ${time} restart.`;
          await other.memories.add({ text }, { scope: { userId: "ana" } });
          await postgres("restart");
          for (const scope of scopes) {
            const recalled = await untilBack(() => holding.recall(input(scope)));
            expectSame(recalled, await untilBack(() => cold.recall(input(scope))));
          }
          expect(textsOf(await holding.recall(input({ userId: "ana" })))).toContain(text);
        }
        for (const memory of [holding, other, cold]) await memory.close();
      } finally {
        await postgres("stop");
      }
    },
  );
});

describe("a thousand users where a few can be held", () => {
  it(
    "are recalled right, and never more is held than may be",
    async () => {
      const { memory } = await freshSchema();
      const mostBytes = 1_000_000;
      const config = holdingAtMost(mostBytes);
      const holding = memory({ embeddings, config });
      const users = Array.from({ length: 1_000 }, (_, index) => `user ${index}`);
      const textOf = (userId: string) => `The key of ${userId} hangs in the hall.`;
      let most = { bytes: 0, owners: 0 };
      const look = () => {
        const { bytes, owners } = holding.held();
        most = { bytes: Math.max(most.bytes, bytes), owners: Math.max(most.owners, owners) };
      };
      const serve = async (userId: string, times: number) => {
        for (let time = 0; time < times; time++) {
          const input = { scope: { userId }, threadId: `t of ${userId}`, query: "Where does the key hang?" };
          expect(textsOf(await holding.recall(input))).toEqual([textOf(userId)]);
          look();
        }
      };
      const inTens = async (work: (userId: string) => Promise<unknown>) => {
        for (let first = 0; first < users.length; first += 10)
          await Promise.all(users.slice(first, first + 10).map(work));
      };
      await inTens(async (userId) => {
        await holding.memories.add({ text: textOf(userId) }, { scope: { userId } });
        await serve(userId, 2);
      });
      await inTens((userId) => serve(userId, 1));
      // Who comes now is held in spite of all the others.
      await recallUntilHeld(holding, { scope: { userId: "late" }, threadId: "t of somebody late" });
      look();
      expect(most.bytes).toBeLessThanOrEqual(mostBytes);
      expect(most.bytes).toBeGreaterThan(0);
      expect(most.owners).toBeGreaterThan(1);
      expect(most.owners).toBeLessThan(users.length);
    },
    limitsMs.long,
  );

  it("of whom one alone is too large is recalled by the statement", async () => {
    const { memory } = await freshSchema();
    const mostBytes = 200_000;
    const config = holdingAtMost(mostBytes);
    const [holding, cold] = [memory({ embeddings, config }), memory({ embeddings, config: notHeld })];
    const scope = { userId: "ana" };
    const input = { scope, threadId: "t", query: "What is in cellar 70?" };
    await fill(holding, scope, 2);
    expectSame(await recallUntilHeld(holding, input), await cold.recall(input));
    // It grows while it is held.
    await fill(memory({ embeddings }), scope, 500);
    for (let times = 0; times < 4; times++) {
      expectSame(await holding.recall(input), await cold.recall(input));
      expect(holding.held().bytes).toBeLessThanOrEqual(mostBytes);
    }
  });
});
