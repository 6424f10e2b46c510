import { describe, expect, inject, it } from "vitest";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useChildScripts } from "../support/child-scripts.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const start = useChildScripts();
const scope = { userId: "ana" };
function agent(threadId: string, writer: string, rounds: number, model: "quick" | "hang") {
  const url = inject("databaseUrl") ?? "";
  return start("remember-rounds", [url, db.schema, threadId, writer, `${rounds}`, model]);
}

describe.skipIf(!onServer())("processes that share a thread (server only)", () => {
  it("Processes that share a thread make one summary at a time, without a gap, in a sound chain", async () => {
    const thread = { scope, threadId: "shared" };
    const memory = db.memory();
    const agents = ["one", "two"].map((writer) => agent(thread.threadId, writer, 40, "quick"));
    let running = true;
    const ended = Promise.all(agents.map((each) => each.exitCode)).finally(() => {
      running = false;
    });
    let maxAtOnce = 0;
    while (running) {
      const { rows } = await db.pool.query(
        `select count(*)::int as count from "${db.schema}".summary where status = 'processing'`,
      );
      maxAtOnce = Math.max(maxAtOnce, rows[0].count);
    }
    expect(await ended).toEqual([0, 0]);
    expect(maxAtOnce).toBeLessThanOrEqual(1);

    const { rows } = await db.pool.query(
      `select array_agg(seq order by seq) as seqs, count(distinct message_id)::int as ids from "${db.schema}".message`,
    );
    expect([rows[0].seqs, rows[0].ids]).toEqual([
      Array.from({ length: 160 }, (_, seq) => seq),
      160,
    ]);

    // All 80 turns may end while one summary is made: another turn makes the next.
    const next = summaryMemory(db, { model: new OfflineChatModel() });
    await next.remember({ ...thread, messages: round("next") });
    const summaries = await memory.summaries.list(thread);
    expect(summaries.length).toBeGreaterThanOrEqual(2);
    expect(new Set(summaries.map((summary) => summary.status))).toEqual(new Set(["completed"]));
    for (const [index, { startSeq, endSeq, baseId, baseEndSeq }] of summaries.entries()) {
      const before = summaries[index - 1];
      expect(baseId).toBe(before?.id ?? null);
      expect(endSeq).toBeGreaterThan(baseEndSeq ?? -1);
      expect(startSeq).toBeGreaterThanOrEqual(before?.startSeq ?? 0);
      // A window, and what no summary had when many turns ended at once.
      expect(startSeq).toBeLessThanOrEqual((baseEndSeq ?? -1) + 1);
    }
  });
});
