import { describe, expect, it } from "vitest";
import { createGate, ScriptedChatModel } from "../../src/testing/index.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const numbered = () =>
  new ScriptedChatModel({
    latencyMs: 2,
    replies: (_, index) => ({ structured: { reasoning: "…", summary: `summary ${index + 1}` } }),
  });

// What an operator asks the tables by hand.
describe("an operator's four queries", () => {
  it("history with version chain: summaries.list and its SQL agree", async () => {
    const memory = summaryMemory(db, { model: numbered() });
    const thread = { scope, threadId: "history" };
    for (const name of ["1", "2", "3", "4", "5"]) await memory.remember({ ...thread, messages: round(name) });
    const { rows } = await db.pool.query(
      `select s.*, b.end_seq as base_end_seq
       from "${db.schema}".summary s
       join "${db.schema}".thread t on t.id = s.thread_ref
       left join "${db.schema}".summary b on b.id = s.base_id
       where t.thread_id = $1 order by s.end_seq desc`,
      [thread.threadId],
    );
    const list = await memory.summaries.list(thread);
    expect(list.toReversed().map((summary) => [summary.id, summary.endSeq, summary.baseEndSeq])).toEqual(
      rows.map((row) => [Number(row.id), row.end_seq, row.base_end_seq]),
    );
    expect(rows.map((row) => [row.start_seq, row.end_seq, row.base_end_seq])).toEqual([
      [0, 9, 7],
      [0, 7, 5],
      [0, 5, null],
    ]);
  });

  it("stuck processing tasks, from five minutes on", async () => {
    let now = Date.parse("2030-01-01T00:00:00Z");
    const gate = createGate();
    const model = new ScriptedChatModel({
      gate,
      replies: [{ structured: { reasoning: "…", summary: "late" } }],
    });
    const clock = () => new Date(now);
    const memory = summaryMemory(db, { model, jobs: "background", clock });
    const thread = { scope, threadId: "stuck" };
    await memory.remember({ ...thread, messages: ["1", "2", "3"].flatMap(round) });
    await expect.poll(() => gate.waiting).toBe(1);
    const stuck = async () =>
      (
        await db.pool.query(
          `select t.thread_id, s.id, $1::timestamptz - s.created_at as age
       from "${db.schema}".summary s join "${db.schema}".thread t on t.id = s.thread_ref
       where s.status = 'processing' and s.created_at <= $1::timestamptz - interval '5 minutes'`,
          [clock()],
        )
      ).rows;
    now += 299_999;
    expect(await stuck()).toEqual([]);
    now += 1;
    expect(await stuck()).toMatchObject([{ thread_id: "stuck", age: { minutes: 5 } }]);
    await db.pool.query(`delete from "${db.schema}".summary where status = 'processing'`);
    gate.open();
    await memory.idle();
  });

  it("sliding window progression: windows of at most 14 messages, with their times", async () => {
    const memory = summaryMemory(db, { model: numbered() });
    const thread = { scope, threadId: "progression" };
    for (let number = 1; number <= 12; number++) {
      await memory.remember({ ...thread, messages: round(`r${number}`) });
    }
    const { rows } = await db.pool.query(
      `select t.thread_id, s.start_seq, s.end_seq, s.end_seq - s.start_seq + 1 as window_size, s.generation_time_ms
       from "${db.schema}".summary s join "${db.schema}".thread t on t.id = s.thread_ref
       where s.status = 'completed' and t.thread_id = $1 order by s.created_at desc limit 20`,
      [thread.threadId],
    );
    expect(rows.map((row) => row.window_size)).toEqual([14, 14, 14, 14, 14, 14, 12, 10, 8, 6]);
    expect(rows.every((row) => row.generation_time_ms >= 1)).toBe(true);
    expect(rows[0]).toMatchObject({ start_seq: 10, end_seq: 23 });
  });

  it("average summarization time, of completed summaries only", async () => {
    const memory = summaryMemory(db, { model: numbered() });
    const failing = summaryMemory(db, {
      model: new ScriptedChatModel({ replies: [new Error("overloaded")] }),
    });
    await memory.remember({ scope, threadId: "average 1", messages: ["1", "2", "3"].flatMap(round) });
    await failing.remember({ scope, threadId: "average 2", messages: ["1", "2", "3"].flatMap(round) });
    const { rows } = await db.pool.query(
      `select avg(generation_time_ms)::float8 as avg_ms, max(generation_time_ms) as max_ms, count(*)::int as total
       from "${db.schema}".summary where status = 'completed' and generation_time_ms is not null`,
    );
    const [made] = await memory.summaries.list({ scope, threadId: "average 1" });
    expect(rows[0].avg_ms).toBeGreaterThan(0);
    expect(rows[0].max_ms).toBeGreaterThanOrEqual(made?.generationTimeMs ?? Number.NaN);
    const [failed] = await memory.summaries.list({ scope, threadId: "average 2" });
    expect(failed).toMatchObject({ status: "failed", generationTimeMs: null });
  });
});
