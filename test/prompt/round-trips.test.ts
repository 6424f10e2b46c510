import { setTimeout as wait } from "node:timers/promises";
import { expect, it } from "vitest";
import { createGate, OfflineChatModel } from "../../src/testing/index.js";
import { round } from "../support/spoken.js";
import { useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const scope = { userId: "ana" };

it("A turn takes one round trip to recall, one to remember, and two when a summary starts", async () => {
  const { pool, statements } = watchedPool(db.pool);
  const gate = createGate();
  // The only place for background work is taken, so that every statement seen is the turn's own.
  const memory = db.memory({
    database: pool,
    model: new OfflineChatModel({ gate }),
    jobs: "background",
    config: { jobs: { concurrency: 1 } },
  });
  await memory.record({ scope, threadId: "busy", messages: [...round("1"), ...round("2")] });
  await memory.remember({ scope, threadId: "busy", messages: round("3") });
  await expect.poll(() => gate.waiting).toBe(1);
  // A process looks for due work when it begins.
  for (let seen = -1; seen !== statements.length; await wait(200)) seen = statements.length;
  const during = async (work: () => Promise<unknown>) => {
    statements.length = 0;
    await work();
    return statements.length;
  };

  const thread = { scope, threadId: "counted" };
  expect(await during(() => memory.recall(thread))).toBe(1);
  for (const name of ["1", "2"]) {
    expect(await during(() => memory.remember({ ...thread, messages: round(name) }))).toBe(1);
    expect(await during(() => memory.recall(thread))).toBe(1);
  }
  expect(await during(() => memory.remember({ ...thread, messages: round("3") }))).toBe(2);
  expect(await during(() => memory.recall(thread))).toBe(1);
  expect(await during(() => memory.remember({ ...thread, messages: round("4") }))).toBe(1);
  expect(await during(() => memory.record({ ...thread, messages: round("5") }))).toBe(1);
  expect(await during(() => memory.summaries.list(thread))).toBe(1);
  expect(await during(() => memory.threads.list({ scope }))).toBe(1);

  gate.open();
  await memory.idle();
  expect(await during(() => memory.recall(thread))).toBe(1);
});
