import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, it } from "vitest";
import { backgroundJobs, inlineJobs } from "../../src/jobs/background-work.js";
import { createGate } from "../../src/testing/index.js";
import { recordingLogger } from "../support/recording-logger.js";
import { silentLogger } from "../support/silent-logger.js";

describe("background jobs", () => {
  it("return before the job is done, and are idle after", async () => {
    const jobs = backgroundJobs(2, silentLogger);
    const gate = createGate();
    let done = false;
    await jobs.run("job", async () => {
      await gate.wait();
      done = true;
    });
    expect(done).toBe(false);
    gate.open();
    await jobs.idle();
    expect(done).toBe(true);
    await jobs.idle();
  });

  it("run at most as many at once as they may", async () => {
    const jobs = backgroundJobs(3, silentLogger);
    const gate = createGate();
    let most = 0;
    for (let number = 0; number < 10; number++) {
      await jobs.run(`job ${number}`, async () => {
        most = Math.max(most, gate.waiting + 1);
        await gate.wait();
      });
    }
    await expect.poll(() => gate.waiting).toBe(3);
    gate.open();
    await jobs.idle();
    expect(most).toBe(3);
  });

  it("wait for jobs that jobs started", async () => {
    const jobs = backgroundJobs(1, silentLogger);
    const order: string[] = [];
    await jobs.run("outer", async () => {
      await jobs.run("inner", async () => void order.push("inner"));
      order.push("outer");
    });
    await jobs.idle();
    expect(order).toEqual(["outer", "inner"]);
  });
});

describe.each([
  ["background", backgroundJobs],
  ["inline", (_: number, logger: typeof silentLogger) => inlineJobs(logger)],
] as const)("%s jobs", (_, create) => {
  it("log an error and go on", async () => {
    const logger = recordingLogger();
    const jobs = create(1, logger);
    await jobs.run("Summary 7", async () => {
      throw new Error("no");
    });
    let ran = false;
    await jobs.run("next", async () => {
      ran = true;
    });
    await jobs.idle();
    const line = /^error: Summary 7 failed: unexpected Error at job-runner\.test\.ts:\d+$/;
    expect(logger.lines).toEqual([expect.stringMatching(line)]);
    expect(ran).toBe(true);
  });

  it("know nothing of the run they were started in", async () => {
    const run = new AsyncLocalStorage<string>();
    const jobs = create(1, silentLogger);
    let seen: string | undefined = "nothing ran";
    await run.run("a user's run", async () => {
      await jobs.run("job", async () => {
        seen = run.getStore();
      });
    });
    await jobs.idle();
    expect(seen).toBeUndefined();
  });
});
