import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { createGate } from "../../src/testing/index.js";
import { firstOf, type Work } from "../../src/work/define-work.js";
import { createRunner } from "../../src/work/runner.js";
import { dueJobsConfig } from "../support/due-jobs.js";
import { recordingLogger } from "../support/recording-logger.js";
import { facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

/** A runner whose only work is `run`. */
function runnerOf(
  how: "background" | "inline",
  run: (ref: number) => Promise<void>,
  concurrency = 3,
) {
  const logger = recordingLogger();
  const works: Work[] = [{ kind: "lifecycle", due: async () => [], run: firstOf(run) }];
  const deps = { db: db.database, logger, works, concurrency, sweepIntervalMs: 60_000 };
  const runner = createRunner({ ...deps, within: (_, piece) => piece() }, how);
  return { logger, runner, start: (ref: number) => runner.start({ kind: "lifecycle", ref }) };
}

describe("jobs in the background", () => {
  it("Jobs of kinds without a definition are left to other processes", async () => {
    const { runner } = runnerOf("background", async () => {});
    await runner.start({ kind: "facts", ref: 1 });
    await runner.idle();
  });
});

describe.each(["background", "inline"] as const)("%s jobs", (how) => {
  it("A failed job logs its error, and the others go on outside the run that started them", async () => {
    const run = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const { logger, runner, start } = runnerOf(how, async (ref) => {
      if (ref === 7) throw new Error("no");
      seen.push(run.getStore());
    });
    await run.run("a user's run", async () => {
      for (const number of [7, 8]) await start(number);
    });
    await runner.idle();
    expect(logger.lines).toEqual([
      expect.stringMatching(
        /^error: Work "lifecycle" of 7 failed: unexpected Error at job-runner\.test\.ts:\d+$/,
      ),
    ]);
    expect(seen).toEqual([undefined]);
  });
});

describe("a tenant's job after 60 of another", () => {
  const remember = async (memory: Memory, tenantId: string, threads: number) => {
    for (let thread = 1; thread <= threads; thread++) {
      const messages = [{ role: "user", content: `I own a dog of ${tenantId}.` }];
      await memory.remember({
        scope: { tenantId, userId: "u" },
        threadId: `${tenantId} ${thread}`,
        messages,
      });
    }
  };
  const memoryWith = (jobs: "background" | "inline") => {
    const gate = createGate();
    const model = taskModel({ fact_extraction: () => gate.wait().then(() => facts()) });
    const order = () =>
      model.prompts("fact_extraction").map((prompt) => /dog of (\w+)/.exec(prompt)?.[1] ?? "");
    const memories = { ...dueJobsConfig.memories, episodes: false, extractAfterMessages: 1 };
    const config = { ...dueJobsConfig, jobs: { concurrency: 2 }, memories };
    return { gate, order, memory: db.memory({ model, jobs, config }) };
  };

  it("A tenant's job after 60 of another is among the first that wait, in order within each tenant", async () => {
    const { gate, order, memory } = memoryWith("background");
    await remember(memory, "flood", 60);
    await remember(memory, "small", 2);
    gate.open();
    await memory.idle();
    // Under load some more have begun before it waits.
    expect(order().indexOf("small")).toBeLessThan(6);
    expect(order().lastIndexOf("small")).toBeLessThan(10);
    expect(order()).toHaveLength(62);
  });

  it("A tenant's job after 60 of another is among the 20 that a sweep of the tables finds", async () => {
    const { gate, order, memory } = memoryWith("inline");
    gate.open();
    await remember(memory, "flood", 60);
    await remember(memory, "small", 1);
    const before = order().length;
    await db.pool.query(`update "${db.schema}".work set done_until = -1, retry_at = now() - id * interval '-1 s'
      - interval '1 day' where kind = 'facts'`);
    await memory.upkeep({ kinds: ["facts"] });
    expect(order().slice(before)).toHaveLength(20);
    expect(order().slice(before)).toContain("small");
  });
});
