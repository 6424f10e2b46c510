import { HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { readOften } from "../support/rows-read.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const memories = 2_000;
const many = memories / 5;
const scope = { userId: "ana" };
const thread = { scope, threadId: "of ana" };

describe.skipIf(!onServer())(
  `${memories.toLocaleString("en")} memories of a user (server only)`,
  () => {
    /** One session that keeps its plans, as the library's own pools do. */
    let pool: pg.Pool;
    let memory: Memory;
    let id: string;
    let next = 0;
    /** Rows read by plans that were made for nearly empty tables. */
    let early: { readonly add: Record<string, number>; readonly recall: Record<string, number> };

    beforeAll(async () => {
      const connectionString = inject("databaseUrl") ?? "";
      const options = "-c plan_cache_mode=force_generic_plan";
      pool = new pg.Pool({ connectionString, max: 1, options });
      memory = db.memory({ database: pool });
      const batch = (start: number) =>
        Array.from({ length: 500 }, (_, n) => ({
          text: `word${start + n} term${start + n} lexeme${start + n}`,
        }));
      // Of small tables, all rows are rightly read.
      for (let other = 0; other < 20; other++)
        await memory.memories.add({ scope: { userId: `user ${other}` }, memories: batch(0) });
      for (let start = 0; start < memories; start += 500)
        await memory.memories.add({ scope, memories: batch(start) });
      const [added] = await memory.memories.add({ scope, memories: { text: "has a zebra" } });
      id = added?.id ?? "";
      const shown = {
        revision: (await memory.recall({ ...thread, query: "first" })).changes.revision,
        memoryIds: [],
      };
      await memory.record({ ...thread, messages: [new HumanMessage("hello")], shown });
      const add = () => memory.memories.add({ scope, memories: { text: `early${next++}` } });
      const recall = () =>
        memory.recall({ scope: { userId: "user 1" }, threadId: "early", query: "word1" });
      early = {
        add: await readOften({ pool, schema: db.schema }, many, add),
        recall: await readOften({ pool, schema: db.schema }, many, recall),
      };
      await db.pool.query("vacuum analyze");
    });
    afterAll(() => pool.end());

    const calls: Record<string, () => Promise<unknown>> = {
      "memories.add": () => memory.memories.add({ scope, memories: { text: `new${next++}` } }),
      "memories.add of a duplicate": () =>
        memory.memories.add({ scope, memories: { text: "has a zebra" } }),
      "memories.add to a slot": () =>
        memory.memories.add({
          scope,
          memories: { category: "preference", key: "colour", value: `${next}`, text: `c${next++}` },
        }),
      "memories.get": () => memory.memories.get({ scope, id }),
      "memories.list": () => memory.memories.list({ scope, limit: 10 }),
      "memories.list of the next page": () => memory.memories.list({ scope, limit: 10, after: id }),
      "memories.update": () => memory.memories.update({ scope, id, text: `has zebra ${next++}` }),
      "memories.update of a pin": () => memory.memories.update({ scope, id, pinned: true }),
      "memories.history": () => memory.memories.history({ scope, id }),
      "memories.remove and restore": async () => {
        await memory.memories.remove({ scope, id });
        await memory.memories.restore({ scope, id });
      },
      "memories.list of quarantine": () => memory.memories.list({ scope, states: ["quarantined"] }),
      "consents.list": () => memory.consents.list({ scope }),
      "threads.list": () => memory.threads.list({ scope }),
      query: () => memory.query({ scope, query: "zebra" }),
      "query of a time": () => memory.query({ scope, query: "What happened on 25 May 2022?" }),
      recall: () => memory.recall({ ...thread, query: "zebra" }),
      "transcript.search": () => memory.transcript.search({ scope, query: "zebra" }),
      record: () => {
        const shown = { revision: 0, memoryIds: [id] };
        return memory.record({ ...thread, messages: [new HumanMessage(`hello ${next++}`)], shown });
      },
    };

    it("memory.memories.add finds memories by key, with an early plan too", () =>
      expect(early.add).not.toHaveProperty("memory"));

    it("memory.recall reads only the user's own memories, with an early plan too", () =>
      expect(early.recall).not.toHaveProperty("memory_aging"));

    it.each(Object.entries(calls))(
      "memory.%s reads only some of the user's memories",
      async (_, call) => {
        expect(await readOften({ pool, schema: db.schema }, many, call)).toEqual({});
      },
    );
  },
);
