import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { defineWork } from "../../src/jobs/define-work.js";
import { createRunner } from "../../src/jobs/runner.js";
import { createGate } from "../../src/testing/index.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

/** A runner whose only work is `run`. */
function runnerOf(how: "background" | "inline", run: (ref: number) => Promise<void>, concurrency = 3) {
  const logger = recordingLogger();
  const works = [defineWork({ kind: "lifecycle", due: async () => [], run })];
  const deps = { db: db.database, logger, works, concurrency, sweepIntervalMs: 60_000 };
  const runner = createRunner({ ...deps, within: (_, piece) => piece() }, how);
  return { logger, runner, start: (ref: number) => runner.start({ kind: "lifecycle", ref }) };
}

describe("jobs in the background", () => {
  it("are done after the call, so many at once as they may", async () => {
    const gate = createGate();
    let [most, done] = [0, 0];
    const { runner, start } = runnerOf("background", async () => {
      most = Math.max(most, gate.waiting + 1);
      await gate.wait();
      done++;
    });
    for (let ref = 1; ref <= 10; ref++) await start(ref);
    await expect.poll(() => gate.waiting).toBe(3);
    expect(done).toBe(0);
    gate.open();
    await runner.idle();
    expect([most, done]).toEqual([3, 10]);
  });

  it("of kinds that are not done here are left to others", async () => {
    const { runner } = runnerOf("background", async () => {});
    await runner.start({ kind: "facts", ref: 1 });
    await runner.idle();
  });
});

describe.each(["background", "inline"] as const)("%s jobs", (how) => {
  it("log an error and go on, and know nothing of the run that they were started in", async () => {
    const run = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const { logger, runner, start } = runnerOf(how, async (ref) => {
      if (ref === 7) throw new Error("no");
      seen.push(run.getStore());
    });
    await run.run("a user's run", async () => {
      await start(7);
      await start(8);
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
