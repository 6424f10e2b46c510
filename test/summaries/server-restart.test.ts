import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { MemoryError } from "../../src/errors.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { silentLogger } from "../support/silent-logger.js";
import { round } from "../support/spoken.js";
import { summariesOnly } from "../support/summary-memory.js";
import { createTestMemory } from "../support/test-memory.js";

const script = process.env.POSTGRES_SCRIPT;
const server = ["--name", "restart", "--port", "24399"];
const postgres = async (command: string) =>
  (await promisify(execFile)(script ?? "", [command, ...server])).stdout.trim();

// A server of its own: others use the main one.
describe.skipIf(!script)("a server restarted under load (needs POSTGRES_SCRIPT)", () => {
  afterAll(() => postgres("stop"));

  it("A server that restarts under load loses no acknowledged message and no summary, and leaves no gap", async () => {
    const database = await postgres("start");
    const probe = new pg.Pool({ connectionString: database, max: 1 });
    probe.on("error", () => {});
    const startedAt = async () =>
      (await probe.query("select pg_postmaster_start_time()::text as at")).rows[0].at;
    const model = new ScriptedChatModel({
      latencyMs: 20,
      replies: (_, index) => ({ structured: { reasoning: "…", summary: `summary ${index + 1}` } }),
    });
    const config = {
      ...summariesOnly,
      summaries: { leaseMs: 2_000, retryDelayMs: 50 },
      jobs: { sweepIntervalMs: 200 },
    };
    const memory = createTestMemory({ database, model, config, logger: silentLogger });
    await memory.setup();

    const threads = ["a", "b", "c", "d"].map((threadId) => ({
      scope: { userId: "ana" },
      threadId,
    }));
    const acknowledged = new Map(threads.map(({ threadId }) => [threadId, [] as string[]]));
    let writing = true;
    const writers = threads.map(async (thread) => {
      for (let number = 0; writing; number++) {
        const messages = round(`${thread.threadId}-${number}`);
        await untilAvailable(() => memory.remember({ ...thread, messages }));
        acknowledged.get(thread.threadId)?.push(...messages.map((message) => message.id ?? ""));
        await sleep(5);
      }
    });

    const starts = [await startedAt()];
    const completed: number[] = [];
    const count = async (status: string) => {
      const ofThreads = await Promise.all(
        threads.map((thread) => untilAvailable(() => memory.summaries.list(thread))),
      );
      return ofThreads.flat().filter((summary) => summary.status === status).length;
    };
    const moreSummaries = async () => {
      await expect.poll(() => count("completed")).toBeGreaterThan(completed.at(-1) ?? 0);
      completed.push(await count("completed"));
    };
    for (let restart = 0; restart < 2; restart++) {
      await moreSummaries();
      await postgres("restart");
      starts.push(await untilAvailable(startedAt));
    }
    await moreSummaries();
    writing = false;
    await Promise.all(writers);
    expect(new Set(starts).size).toBe(3);

    await expect.poll(() => count("processing")).toBe(0);
    await memory.idle();
    completed.push(await count("completed"));
    expect(completed).toEqual(completed.toSorted((one, other) => one - other));
    for (const thread of threads) {
      const { rows } = await probe.query(
        `select m.seq, m.message_id from mnemograph.message m join mnemograph.thread t on t.id = m.thread_ref
         where t.thread_id = $1 order by m.seq`,
        [thread.threadId],
      );
      expect(rows.map((row) => row.seq)).toEqual(rows.map((_, seq) => seq));
      expect(rows.map((row) => row.message_id)).toEqual(acknowledged.get(thread.threadId));
      const { summary, gap, lastSeq } = await memory.recall(thread);
      expect(summary).not.toBeNull();
      expect(gap).toHaveLength(lastSeq - (summary?.endSeq ?? -1));
    }
    await memory.close();
    await probe.end();
  });
});

/** Retries while the database is away. */
async function untilAvailable<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (MemoryError.is(error) && error.code !== "DATABASE_UNAVAILABLE") throw error;
      await sleep(50);
    }
  }
}
