import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { newTalk, say } from "../notes/note-model.js";
import { providerNames, useProviders } from "../support/providers/clients.js";
import type { Reply } from "../support/providers/provider.js";
import { recordingLogger } from "../support/recording-logger.js";
import { candidate, facts } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const start = useProviders();

const bees = facts(candidate("The user keeps bees.", "I keep bees")) as Reply;
const config = {
  notes: { limit: 0 },
  memories: { extract: true, episodes: false },
  upkeep: { retryDelayMs: 30_000 },
};

describe.each(providerNames)("a limit of %s", (name) => {
  it("Work is done when the provider says, and not before, and the try is not counted", async () => {
    let isLimited = true;
    const limited = { status: 429, retryAfterSeconds: 90 };
    const { model, exchanges } = await start(name, () => (isLimited ? limited : bees), {
      maxRetries: 6,
    });
    let now = Date.now();
    const memory = db.memory({ model, config, clock: () => new Date(now) });
    const tenantId = `tenant ${randomUUID()}`;
    const talk = newTalk(randomUUID(), tenantId);
    await say(memory, talk, "I keep bees.");
    await say(memory, newTalk(randomUUID(), tenantId), "I keep bees.");
    expect(exchanges).toHaveLength(1);
    const dueAt = new Date(now + 90_000);
    expect(await memory.jobs.list({ tenantId, kind: "facts" })).toMatchObject([
      { attempts: 0, dueAt },
      { attempts: 0, dueAt },
    ]);
    now += 89_000;
    await memory.upkeep({ kinds: ["facts"] });
    expect(exchanges).toHaveLength(1);
    isLimited = false;
    now += 1_000;
    await memory.upkeep({ kinds: ["facts"] });
    expect(exchanges).toHaveLength(3);
    expect(await memory.jobs.list({ tenantId, kind: "facts" })).toEqual([]);
  });
});

describe("an outage of an hour", () => {
  it("The model is asked a few times in an hour, and then does the work in the order of its age", async () => {
    let isDown = true;
    let [running, most] = [0, 0];
    const done: string[] = [];
    const { model, exchanges } = await start("chat completions", async ({ messages }) => {
      if (isDown) return { status: 503 };
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
      done.push(/hive (\d+)/.exec(messages.flatMap(({ texts }) => texts).join())?.[1] ?? "");
      return bees;
    });
    let now = Date.now();
    const logger = recordingLogger();
    // No sweep begins a job between two lines of this test.
    const jobs = { concurrency: 1, sweepIntervalMs: 3_600_000 };
    const memory = db.memory({
      model,
      logger,
      jobs: "background",
      config: { ...config, jobs },
      clock: () => new Date(now),
    });
    const tenantId = `tenant ${randomUUID()}`;
    const count = 15;
    for (let minute = 0; minute < 60; minute++, now += 60_000) {
      if (minute % 4 === 0)
        await say(memory, newTalk(randomUUID(), tenantId), `I keep bees in hive ${minute / 4}.`);
      await memory.idle();
      await memory.upkeep({ kinds: ["facts"] });
      await memory.idle();
    }
    expect(exchanges.length).toBeLessThanOrEqual(2 * 8);
    expect(await memory.jobs.list({ tenantId, kind: "facts" })).toHaveLength(count);
    await memory.idle();
    isDown = false;
    now += 3_600_000;
    await memory.upkeep({ kinds: ["facts"] });
    await memory.idle();
    expect(done).toEqual(Array.from({ length: count }, (_, n) => `${n}`));
    expect(most).toBeLessThanOrEqual(jobs.concurrency);
    expect(await memory.jobs.list({ tenantId, kind: "facts" })).toEqual([]);
  });
});
