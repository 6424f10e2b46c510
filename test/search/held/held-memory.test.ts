import { HumanMessage } from "@langchain/core/messages";
import type pg from "pg";
import { describe, expect, it } from "vitest";
import { createMemory, type Memory, type MemoryOptions, type Scope } from "../../../src/index.js";
import { currentTenancy } from "../../../src/postgres/isolation.js";
import { recordingLogger } from "../../support/recording-logger.js";
import { silentLogger } from "../../support/silent-logger.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";
import { newAddress } from "../../support/thread-facts.js";

const db = useTestDatabase();

/** A memory that closes after `work`; `pool` stands before the database. */
async function holding(
  work: (memory: Memory) => Promise<void>,
  options: MemoryOptions & { readonly pool?: pg.Pool } = {},
): Promise<void> {
  const { pool = db.pool, ...rest } = options;
  const memory = createMemory({ database: pool, schema: db.schema, logger: silentLogger, ...rest });
  try {
    await work(memory);
  } finally {
    await memory.close();
  }
}

/** `db.pool`, with `instead` done in place of the statement that begins to read an owner. */
function readingOwners(instead: () => Promise<never>): pg.Pool {
  const begins = (args: unknown[]) =>
    JSON.stringify(args[0]).includes("o.tick::float8 as tick, o.memory_count");
  const intercepted = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(_, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (property === "query" && begins(args)) return instead();
          const result: unknown = value.apply(target, args);
          return property === "connect" ? (result as Promise<pg.PoolClient>).then(intercepted) : result;
        };
      },
    });
  return intercepted(db.pool);
}

/** Has the owners of a scope held. */
async function hold(memory: Memory, scope: Scope): Promise<void> {
  for (let recall = 0; recall < 2; recall++) await memory.recall({ scope, threadId: newAddress().threadId });
  await memory.idle();
}

const heldScopes = (memory: Memory) => memory.held().list.map(({ scope }) => scope);

describe("memory.held()", () => {
  it("is empty at first, and tells of what was recalled", async () => {
    const memory = db.memory();
    expect(memory.held()).toEqual({
      ...{ enabled: true, owners: 0, memories: 0, bytes: 0, mostBytes: 64_000_000, loading: 0 },
      ...{ served: { held: 0, statement: 0 }, list: [] },
      letGo: { idle: 0, full: 0, tooLarge: 0, dropped: 0, failed: 0 },
    });
    await hold(memory, newAddress().scope);
    expect(memory.held()).toMatchObject({ owners: 1, served: { held: 0, statement: 2 } });
  });

  it("tells of the owners that were recalled twice: the user, and the app; not of passive recalls", async () => {
    await holding(async (memory) => {
      const { userId } = newAddress().scope;
      const scope: Scope = { tenantId: "acme", userId: userId!, appId: "shop" };
      for (let recall = 0; recall < 3; recall++)
        await memory.recall({ scope, threadId: "t", mode: "passive" });
      expect(memory.held().served.statement).toBe(0);
      await memory.recall({ scope, threadId: "t" });
      await memory.recall({ scope: { ...scope, userId: "other" }, threadId: "u" });
      await memory.idle();
      expect(heldScopes(memory)).toEqual([{ tenantId: "acme", appId: "shop" }]);
      await memory.recall({ scope, threadId: "t" });
      await memory.idle();
      expect(heldScopes(memory)).toEqual([
        { tenantId: "acme", userId },
        { tenantId: "acme", appId: "shop" },
      ]);
      const { bytes, list, ...rest } = memory.held();
      expect(rest).toMatchObject({ enabled: true, owners: 2, memories: 0, loading: 0 });
      expect(bytes).toBe(list.reduce((sum, owner) => sum + owner.bytes, 0));
      expect(Math.abs(Number(list[0]?.loadedAt) - Date.now())).toBeLessThan(60_000);
    });
  });

  it.each<[string, MemoryOptions["config"]]>([
    ["false", { retrieval: { held: false } }],
    ["{ enabled: false }", { retrieval: { held: { enabled: false } } }],
  ])("says so where it is switched off by %s", async (_, config) => {
    await holding(
      async (memory) => {
        await hold(memory, newAddress().scope);
        expect(memory.held()).toMatchObject({ enabled: false, owners: 0 });
      },
      { config: config as object },
    );
  });

  it("reads owners outside of the run that asked, for the owner's tenant, and logs what fails, and not of whom", async () => {
    const logger = recordingLogger();
    const tenancies: (string | undefined)[] = [];
    const { userId } = newAddress().scope;
    await holding(
      async (memory) => {
        await hold(memory, { tenantId: "acme", userId: userId! });
        expect(memory.held()).toMatchObject({ owners: 0, letGo: { failed: 1 } });
        await hold(memory, { tenantId: "acme", userId: userId! });
      },
      {
        logger,
        pool: readingOwners(async () => {
          tenancies.push(currentTenancy());
          throw new Error("no room on the disk");
        }),
      },
    );
    expect(tenancies).toEqual(["t:acme"]);
    const told = logger.lines.filter((line) => line.includes("taken into"));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^warn: .*recalls read the tables meanwhile/);
    expect(told[0]).not.toContain(userId);
  });

  // The embedded database answers one statement after the other: one that is never answered stops it.
  it.runIf(onServer())("has a recall wait for nothing that is being taken in, nor a close", async () => {
    let end = () => {};
    const answer = new Promise<never>((_, reject) => {
      end = () => reject(new Error("the test is over"));
    });
    await holding(
      async (memory) => {
        const { scope } = newAddress();
        for (let recall = 0; recall < 3; recall++) await memory.recall({ scope, threadId: "t" });
        expect(memory.held()).toMatchObject({ owners: 0, loading: 1 });
        await memory.close();
        expect(memory.held()).toMatchObject({ owners: 0, letGo: { failed: 0 } });
      },
      {
        pool: readingOwners(() => answer),
      },
    );
    end();
  });
});

describe("an owner is let go", () => {
  it("by forget, by the deletion of a thread, and by nothing that changes nothing", async () => {
    await holding(async (memory) => {
      const [ana, ben] = [newAddress(), newAddress()];
      for (const { scope, threadId } of [ana, ben]) {
        await memory.record({ scope, threadId, messages: [new HumanMessage("Hello.")] });
        await hold(memory, scope);
      }
      const both = [ben.scope, ana.scope];
      await memory.forget(ana.scope, { dryRun: true });
      await memory.threads.delete({ ...ana, dryRun: true });
      await expect(memory.forget(undefined as never)).rejects.toMatchObject({ code: "SCOPE_REQUIRED" });
      await expect(memory.threads.delete(undefined as never)).rejects.toMatchObject({
        code: "INVALID_INPUT",
      });
      expect(heldScopes(memory)).toEqual(both);

      await memory.threads.delete(ana);
      expect(heldScopes(memory)).toEqual([ben.scope]);
      // One recall is enough for who was held.
      await memory.recall({ scope: ana.scope, threadId: "next" });
      await memory.idle();
      await memory.forget(ana.scope);
      await memory.forget({ ...ben.scope, appId: "shop" });
      expect(heldScopes(memory)).toEqual([]);
      expect(memory.held()).toMatchObject({ bytes: 0, letGo: { dropped: 3 } });
    });
  });

  it("by close", async () => {
    const closed: Memory[] = [];
    await holding(async (memory) => {
      await hold(memory, newAddress().scope);
      expect(memory.held().owners).toBe(1);
      closed.push(memory);
    });
    expect(closed[0]?.held()).toMatchObject({ owners: 0, bytes: 0, loading: 0 });
  });
});
