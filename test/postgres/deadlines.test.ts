import { HumanMessage } from "@langchain/core/messages";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { withMemory } from "../../src/langgraph/wrap/with-memory.js";
import type { Memory } from "../../src/memory.js";
import {
  answering,
  chatAgent,
  lines,
  newThread,
  say,
  streamed,
} from "../langgraph/conversation.js";
import { recordingLogger } from "../support/recording-logger.js";
import { silentProxy } from "../support/silent-proxy.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { createTestMemory, type TestOptions } from "../support/test-memory.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const tooLong = expect.objectContaining({ code: "DATABASE_TIMEOUT" });
const closing: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const close of closing) await close();
});

/** A connection string with an application name. */
function named(name: string): string {
  const url = new URL(inject("databaseUrl") ?? "");
  url.searchParams.set("application_name", `${name}_${db.schema}`);
  return url.href;
}

/** Counts the statements that run or wait in the sessions of `name`. */
async function running(name: string): Promise<number> {
  const { rows } = await db.pool.query(
    "select count(*)::int as count from pg_stat_activity where application_name = $1 and state <> 'idle'",
    [`${name}_${db.schema}`],
  );
  return rows[0].count;
}

/** A memory on its own pool ("string"), or on a pool of the caller without a deadline. */
const pools = {
  string: (name: string, options: TestOptions) => {
    const memory = createTestMemory({
      database: named(name),
      schema: db.schema,
      jobs: "inline",
      ...options,
    });
    closing.push(() => memory.close());
    return memory;
  },
  "pg.Pool": (name: string, options: TestOptions) => {
    const pool = new pg.Pool({ connectionString: named(name), max: 1 });
    closing.push(() => pool.end());
    return db.memory({ database: pool, ...options });
  },
};

async function lastOf(lines: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const line of lines) last = line;
  return last;
}

/** Runs `work` while another session locks `table`. */
async function whileLocked<Result>(table: string, work: () => Promise<Result>): Promise<Result> {
  const holder = new pg.Client(inject("databaseUrl") ?? "");
  await holder.connect();
  try {
    await holder.query(`begin; lock table "${db.schema}".${table} in access exclusive mode`);
    return await work();
  } finally {
    await holder.end();
  }
}

describe.skipIf(!onServer()).each(Object.entries(pools))(
  "deadlines on a %s (server only)",
  (kind, open) => {
    const name = `deadline ${kind}`;
    const logger = recordingLogger();
    const threadId = kind;
    /** Without a statement timeout, the server goes on with abandoned statements. */
    const leftRunning = kind === "string" ? 0 : expect.any(Number);
    let memory: Memory;

    beforeAll(() => {
      const config = { database: { statementTimeoutMs: 1_600 }, retrieval: { timeoutMs: 1_200 } };
      memory = open(name, { logger, config });
    });

    it("A recall whose search times out shows the conversation and the profile, and says so", async () => {
      const slot = {
        category: "profile",
        key: "nickname",
        value: "Ani",
        text: "The nickname is Ani.",
      };
      await memory.memories.add({
        scope,
        consent: "given",
        memories: [slot, { text: "Went to a garden in Rome." }],
      });
      await memory.record({ scope, threadId, messages: [new HumanMessage("hello")] });
      const ask = () => memory.recall({ scope, threadId, query: "Which garden?" });
      const before = await ask();
      expect(before.memories.relevant).toHaveLength(1);
      expect(before.memories.timedOut).toBeUndefined();

      const recalled = await whileLocked("memory_term", async () => {
        const result = await ask();
        await expect.poll(() => running(name)).toEqual(leftRunning);
        return result;
      });
      const memories = {
        timedOut: true,
        profile: before.memories.profile,
        relevant: [],
        episodes: [],
      };
      expect(recalled).toMatchObject({ lastSeq: 0, changes: before.changes, memories });
      expect(recalled.gap.map(({ text }) => text)).toEqual(["hello"]);
      expect(logger.lines).toEqual([expect.stringMatching(/^warn: recall .* within 1200 ms/)]);
      expect(logger.lines.join()).not.toContain("garden");
      const event = { op: "search", status: "error", detail: "timeout", threadId };
      expect((await memory.events.list({ scope, step: "recall" }))[0]).toMatchObject(event);
      expect((await ask()).memories.relevant.map(({ memory: { text } }) => text)).toEqual([
        "Went to a garden in Rome.",
      ]);
    });

    it("A turn whose search times out has its conversation, and an event that says why nothing is found", async () => {
      const model = answering();
      const graph = withMemory(chatAgent(model), memory).compile();
      const thread = newThread();
      // Without any memory no word is looked up; a procedure is never shown unasked.
      const owner = { scope: { userId: thread.configurable.user_id } };
      await memory.memories.add({ ...owner, memories: { kind: "procedure", text: "1. Ask." } });
      await say(graph, "question 1", thread);
      const events = await whileLocked("memory_term", () =>
        streamed(
          graph,
          { messages: [new HumanMessage("question 2")] },
          { ...thread, streamMode: "custom" },
        ),
      );
      expect(events[0]).toMatchObject({
        type: "memory.recall",
        status: "ok",
        memories: { relevant: 0 },
        detail: "timeout",
      });
      expect(lines(model.calls[1]?.messages ?? [])).toEqual([
        "human: question 1",
        "ai: answer 1",
        "human: question 2",
      ]);
    });

    it.each([
      ["a statement", () => memory.memories.list({ scope })],
      [
        "a statement of a transaction",
        () => memory.memories.add({ scope, memories: { text: "Likes plums." } }),
      ],
      ["a recall whose conversation waits as well", () => memory.recall({ scope, threadId })],
    ])("A call that takes too long fails with what to do: %s", async (_, call) => {
      await whileLocked("memory", async () => {
        await expect(call()).rejects.toThrow(tooLong);
        await expect(call()).rejects.toThrow(/pg_stat_activity.*database\.statementTimeoutMs/);
        await expect.poll(() => running(name)).toEqual(leftRunning);
      });
      await call();
    });

    it.each([
      ["export", () => lastOf(memory.export({ scope }))],
      ["forget", () => memory.forget({ scope, dryRun: true })],
      ["setup", () => memory.setup()],
    ])("memory.%s has no deadline", async (call, work) => {
      const table = call === "setup" ? "meta" : "memory";
      let done: Promise<unknown> = Promise.resolve();
      await whileLocked(table, async () => {
        done = work();
        await expect.poll(() => running(name)).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        // A migration abandons a lock after 2 s, and tries again.
        await expect.poll(() => running(name)).toBe(1);
      });
      await done;
    });
  },
);

describe.skipIf(!onServer())("a server that falls silent (server only)", () => {
  it("A server that falls silent is abandoned soon after the deadline, and used again when it answers", async () => {
    const proxy = await silentProxy(named("silent"));
    const config = { database: { statementTimeoutMs: 1_000 } };
    const memory = createTestMemory({ database: proxy.url, schema: db.schema, config });
    closing.push(async () => {
      await memory.close();
      proxy.close();
    });

    await memory.threads.list({ scope });
    proxy.silent = true;
    await expect(memory.threads.list({ scope })).rejects.toThrow(tooLong);
    await expect(
      memory.memories.add({ scope, memories: { text: "Likes plums." } }),
    ).rejects.toThrow(expect.objectContaining({ code: "DATABASE_UNAVAILABLE" }));
    proxy.silent = false;
    await expect.poll(() => memory.threads.list({ scope })).toEqual(expect.any(Array));
  });
});

describe.skipIf(!onServer())("sessions of the memory's own pool (server only)", () => {
  const settingOf = async (database: string) => {
    const memory = createTestMemory({ database, schema: db.schema });
    const { pool } = memory.checkpointer() as unknown as { pool: pg.Pool };
    const { rows } = await pool.query("select current_setting('statement_timeout') as timeout");
    await memory.close();
    return rows[0].timeout;
  };

  it("Sessions of the memory's own pool have a statement timeout, for the checkpointer too", async () =>
    expect(await settingOf(named("session"))).toBe("30s"));

  it("Sessions of the memory's own pool keep the deadline that the connection string gives them", async () => {
    const url = new URL(named("session"));
    url.searchParams.set("options", "-c statement_timeout=7s");
    expect(await settingOf(url.href)).toBe("7s");
  });
});
