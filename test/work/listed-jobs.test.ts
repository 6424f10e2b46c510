import { describe, expect, it } from "vitest";
import { OfflineChatModel } from "../../src/testing/index.js";
import { newTalk, noted, say, talkAndEnd } from "../notes/note-model.js";
import { dueJobsConfig, instantAnswers, makeDueJobs } from "../support/due-jobs.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

describe("unfinished background work", () => {
  it("An unfinished job is listed by pages, retried or dismissed, and then not listed", async () => {
    const memory = db.memory({
      model: new OfflineChatModel({ structured: instantAnswers }),
      config: dueJobsConfig,
    });
    expect(await memory.jobs.list()).toEqual([]);
    await makeDueJobs(db, 3);
    const all = await memory.jobs.list();
    const waiting = ["episodes", "facts"].flatMap((kind) => Array(3).fill(`${kind} waiting`));
    expect(all.map(({ kind, state }) => `${kind} ${state}`).sort()).toEqual(waiting);
    const [first] = await memory.jobs.list({ limit: 1 });
    expect(first).toEqual(all[0]);
    expect(await memory.jobs.list({ after: all[4]?.id ?? "" })).toEqual(all.slice(5));
    expect(await memory.jobs.list({ tenantId: "tenant 1", kind: "facts" })).toMatchObject([
      {
        scope: { tenantId: "tenant 1", userId: "user 1" },
        threadId: "thread of user 1",
        attempts: 0,
      },
    ]);

    const ofOne = { tenantId: "tenant 1", userId: "user 1" };
    expect((await memory.jobs.list({ scope: ofOne })).map(({ threadId }) => threadId)).toEqual([
      ...["thread of user 1", "thread of user 1"],
    ]);
    for (const scope of [{ userId: "user 1" }, { ...ofOne, appId: "shop" }, { appId: "shop" }])
      expect(await memory.jobs.list({ scope })).toEqual([]);
    const table = `"${db.schema}".work`;
    await db.pool.query(
      `update ${table} set attempts = 2, error = 'no answer', retry_at = now() + interval '1 hour' where kind = 'facts'`,
    );
    const failed = await memory.jobs.list({ state: "failed" });
    expect(failed).toHaveLength(3);
    expect(failed[0]).toMatchObject({ kind: "facts", error: "no answer", attempts: 2 });
    const id = failed[0]?.id ?? "";
    await expect(memory.jobs.retry({ id, tenantId: "tenant 6" })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    await expect(memory.jobs.retry({ id: "facts 1" })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(memory.jobs.retry({ kind: "no such kind" as never })).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
    await expect(memory.jobs.dismiss({ id })).rejects.toMatchObject({
      code: "WRONG_STATE",
      message: expect.stringContaining("was not given up"),
    });
    expect(await memory.jobs.retry({ id })).toMatchObject({ retried: 1, pausedUntil: null });
    expect(await memory.jobs.list({ state: "failed" })).toHaveLength(2);
    expect(await memory.jobs.retry({ kind: "facts" })).toMatchObject({ retried: 2 });
    expect(await memory.jobs.list({ kind: "facts" })).toEqual([]);
    const [scope] = failed.map((job) => job.scope);
    expect(await memory.memories.list({ scope: scope ?? {} })).toHaveLength(1);

    // What was given up can be dismissed, and an event says by whom and why.
    await db.pool.query(
      `update ${table} set given_up_at = now(), retry_at = null, error = 'no answer' where kind = 'episodes'`,
    );
    const [job, other, ...others] = await memory.jobs.list({ state: "failed" });
    const which = { id: job?.id ?? "", tenantId: job?.scope.tenantId };
    const foreign = { ...which, tenantId: other?.scope.tenantId };
    await expect(memory.jobs.dismiss(foreign)).rejects.toMatchObject({ code: "NOT_FOUND" });
    const reason = "Only a test.";
    expect(await memory.jobs.dismiss({ ...which, actor: "joe", reason })).toEqual(job);
    await expect(memory.jobs.dismiss(which)).rejects.toMatchObject({ code: "NOT_FOUND" });
    expect(await memory.jobs.list({ state: "failed" })).toEqual([other, ...others]);
    const { threadId } = job ?? {};
    expect(await memory.events.list({ op: "dismiss" })).toMatchObject([
      {
        ...{ scope: job?.scope, threadId, step: "episodes", status: "skipped" },
        detail: "joe: Only a test.",
      },
    ]);
    expect((await memory.stats()).writes).not.toHaveProperty("dismiss");
  });

  it("A job that waits for a model that is down is listed as failed with the error, until it is done", async () => {
    let now = Date.now();
    let isDown = true;
    const model = taskModel({
      app_note: () => (isDown ? new Error("no answer from the provider") : noted("Wants tea.")),
    });
    const memory = db.memory({ model, clock: () => new Date(now) });
    const talk = newTalk();
    await talkAndEnd(memory, talk);
    for (let hour = 0; hour < 3; hour++) {
      now += 3_600_000;
      await memory.upkeep({ kinds: ["notes"] });
      // A job of a paused model is taken and put off again.
      await say(memory, talk, "More of it.");
      await memory.threads.end(talk);
      await memory.upkeep({ kinds: ["notes"] });
      expect(await memory.jobs.list({ scope: talk.scope, state: "failed" })).toMatchObject([
        { kind: "notes", detail: "no answer from the provider", givenUpAt: null },
      ]);
    }
    isDown = false;
    now += 3_600_000;
    await memory.upkeep({ kinds: ["notes"] });
    expect(await memory.jobs.list({ scope: talk.scope, kind: "notes" })).toEqual([]);
  });

  it("A failed job has its provider's status, its provider's words without secrets, and when it was and is tried", async () => {
    const secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
    const problem = Object.assign(new Error(`The quota of ${secret} is used up`), { status: 429 });
    let fails = true;
    const model = new OfflineChatModel({
      structured: {
        fact_extraction() {
          if (fails) throw problem;
          return { facts: [] };
        },
      },
    });
    const memories = { extract: true, episodes: false };
    const memory = db.memory({ model, config: { ...dueJobsConfig, memories } });
    const scope = { userId: "over quota" };
    const content = "My name is Ana and I live in Lisbon.";
    await memory.remember({ scope, threadId: "quota", messages: [{ role: "user", content }] });
    const [failed] = await memory.jobs.list({ scope });
    expect(failed).toMatchObject({ state: "failed", attempts: 1, dueAt: expect.any(Date) });
    expect(failed?.error).toContain("(429)");
    expect(failed?.triedAt?.getTime()).toBeLessThanOrEqual(Date.now());
    expect(failed?.detail).toMatch(/^The quota of .* is used up$/);
    expect(failed?.detail).not.toContain(secret);
    fails = false;
    await memory.jobs.retry({ id: failed?.id ?? "" });
    expect(await memory.jobs.list({ scope })).toEqual([]);
    const { rows } = await db.pool.query(
      `select 1 from "${db.schema}".work where output is not null`,
    );
    expect(rows).toEqual([]);
  });

  it("A job that was given up is not retried while a worker has later work of its thread", async () => {
    const model = new OfflineChatModel({ structured: { fact_extraction: () => ({}) } });
    const memories = { extract: true, episodes: false };
    const upkeep = { maxAttempts: 1, retryDelayMs: 0 };
    const memory = db.memory({ model, config: { ...dueJobsConfig, memories, upkeep } });
    const scope = { userId: "given up" };
    const content = "My name is Ana and I live in Lisbon.";
    await memory.remember({ scope, threadId: "letter", messages: [{ role: "user", content }] });
    const [letter] = await memory.jobs.list({ kind: "facts" });
    expect(letter).toMatchObject({ state: "failed", scope, threadId: "letter" });
    await db.pool.query(`update "${db.schema}".work set lease_until = now() + interval '1 minute'
      where given_up_at is null and thread_ref = (select id from "${db.schema}".thread where thread_id = 'letter')`);
    const refused = { code: "WRONG_STATE" };
    await expect(memory.jobs.retry({ id: letter?.id ?? "" })).rejects.toMatchObject(refused);
  });

  it("A job that is retried while its model is not called says until when it waits", async () => {
    const now = new Date("2030-01-01T10:00:00Z");
    const until = new Date(now.getTime() + 600_000);
    const limited = Object.assign(new Error("too many"), {
      status: 429,
      headers: { "retry-after": "600" },
    });
    const memory = db.memory({
      model: taskModel({ fact_extraction: () => limited }),
      config: { memories: { extract: true } },
      clock: () => now,
    });
    const talk = newTalk();
    await say(memory, talk, "I keep bees.");
    const listed = () => memory.jobs.list({ scope: talk.scope, kind: "facts" });
    const [job] = await listed();
    const retried = { retried: 1, pausedUntil: until };
    expect(await memory.jobs.retry({ id: job?.id ?? "" })).toEqual(retried);
    expect(await listed()).toMatchObject([{ dueAt: until }]);
  });
});
