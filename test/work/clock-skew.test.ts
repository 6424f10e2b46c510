import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, describe, expect, it, vi } from "vitest";
import { MemoryError } from "../../src/index.js";
import { createModelPause } from "../../src/models/model-pause.js";
import { facts, taskModel } from "../support/task-model.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { openThread, say } from "../support/thread-facts.js";
import { limitsMs } from "../support/timing.js";

const db = useTestDatabase();
afterEach(() => vi.useRealTimers());

const limited = (seconds: number) =>
  Object.assign(new Error("too many"), {
    status: 429,
    headers: { "retry-after": String(seconds) },
  });

describe.skipIf(!onServer())("a process with another time than its database (server only)", () => {
  it.each([-60_000, 60_000])(
    "Work that waits for its model is taken again when the wait is over: %s ms",
    async (skewMs) => {
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + skewMs, shouldAdvanceTime: true });
      let calls = 0;
      const { memory, thread } = openThread(db, {
        jobs: "background",
        model: taskModel({ fact_extraction: () => (calls++ === 0 ? limited(2) : facts()) }),
        config: { memories: { extract: true } },
      });
      const statements: string[] = [];
      const note = (text: unknown) => void statements.push(String(text));
      subscribe("mnemograph:statement", note);
      await say(memory, thread, "I keep bees.");
      await expect
        .poll(() => memory.jobs.list({ scope: thread.scope }), { timeout: limitsMs.step })
        .toEqual([]);
      unsubscribe("mnemograph:statement", note);
      expect(calls).toBe(2);
      const taken = statements.filter((text) => text.includes("set attempts = attempts + 1"));
      expect(taken.length).toBeLessThan(10);
    },
  );
});

it("A clock that is set back ends a model's pause", () => {
  let nowMs = 3_600_000;
  const pause = createModelPause(() => new Date(nowMs), 1_000);
  pause.failed(new MemoryError("MODEL_FAILED", "Too many.", { cause: limited(60) }));
  expect(pause.until()).toEqual(new Date(nowMs + 60_000));
  nowMs = 0;
  expect(pause.until()).toBeNull();
});
