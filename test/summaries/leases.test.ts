import { HumanMessage } from "@langchain/core/messages";
import { beforeEach, describe, expect, it } from "vitest";
import { createGate, type Gate, ScriptedChatModel } from "../../src/testing/index.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { summaryTable } from "../support/summary-table.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

// Upkeep looks at every thread: each test leaves nothing behind that is due.
const db = useTestDatabase();
const leaseMs = 1_000;
let now = Date.parse("2030-01-01T00:00:00Z");
const threeRounds = [...round("1"), ...round("2"), ...round("3")];
const long = [1, 2, 3].map(
  (part) => new HumanMessage({ id: `${part}`, content: `${part} `.repeat(380) }),
);

beforeEach(() => {
  now += 86_400_000;
});

/** A memory on the shared clock, whose model waits at `gate`. */
function worker(
  name: string,
  gate: Gate,
  options: { model?: ScriptedChatModel; maxAttempts?: number } = {},
) {
  const model =
    options.model ??
    new ScriptedChatModel({
      gate,
      replies: (_, index) => ({ structured: { reasoning: "…", summary: `${name} ${index + 1}` } }),
    });
  const { maxAttempts = 5 } = options;
  const memory = summaryMemory(db, {
    model,
    jobs: "background",
    clock: () => new Date(now),
    config: { upkeep: { leaseMs, inputBudgetTokens: 200 }, summaries: { maxAttempts } },
  });
  return { memory, model, gate };
}

/**
 * A worker that summarises a long stretch piece by piece, and another one that waits for nothing.
 */
async function longStretch() {
  const [slow, other] = [worker("slow", createGate()), worker("other", createGate({ open: true }))];
  const thread = newAddress();
  await slow.memory.record({ ...thread, messages: [...round("1"), ...long] });
  await slow.memory.remember({ ...thread, messages: round("2") });
  return { slow, other, thread };
}

describe("a lease", () => {
  it("A lease that ran out is ended by the next turn, which starts its own summary", async () => {
    const slow = worker("slow", createGate());
    const quick = worker("quick", createGate({ open: true }));
    const thread = newAddress();
    await slow.memory.remember({ ...thread, messages: threeRounds });
    await expect.poll(() => slow.gate.waiting).toBe(1);
    const early = await quick.memory.remember({ ...thread, messages: round("4") });
    expect(early.summary).toEqual({ started: false, reason: "already_running" });
    now += leaseMs;
    const late = await quick.memory.remember({ ...thread, messages: round("5") });
    expect(late.summary).toMatchObject({ started: true, window: { startSeq: 0, endSeq: 9 } });
    await quick.memory.idle();
    slow.gate.open();
    await slow.memory.idle();
    expect(await summaryTable(quick.memory, thread)).toEqual([
      [1, 0, 5, null, "failed"],
      [2, 0, 9, null, "completed"],
    ]);
    expect(await quick.memory.upkeep()).toBe(0);
  });

  it("A lease is renewed between the pieces of a long stretch", async () => {
    const { slow, other, thread } = await longStretch();
    for (let piece = 1; piece <= 3; piece++) {
      await expect.poll(() => slow.model.calls.length).toBe(piece);
      now += leaseMs - 1;
      expect(await other.memory.upkeep()).toBe(0);
      slow.gate.open();
      slow.gate.close();
    }
    slow.gate.open();
    await slow.memory.idle();
    expect(other.model.calls).toHaveLength(0);
    expect(await other.memory.summaries.list(thread)).toMatchObject([{ status: "completed" }]);
  });

  it("A lease that is lost between two pieces ends the work immediately", async () => {
    const { slow, other, thread } = await longStretch();
    await expect.poll(() => slow.gate.waiting).toBe(1);
    now += leaseMs;
    expect(await other.memory.upkeep()).toBe(1);
    await other.memory.idle();
    slow.gate.open();
    await slow.memory.idle();
    expect(slow.model.calls).toHaveLength(1);
    expect((await other.memory.summaries.list(thread))[0]?.text).toMatch(/^other/);
  });
});

describe("concurrent workers", () => {
  it("Workers that end the same turn concurrently start one summary", async () => {
    const workers = [1, 2, 3, 4].map((number) => worker(`${number}`, createGate({ open: true })));
    const thread = newAddress();
    const ended = await Promise.all(
      workers.map((each) => each.memory.remember({ ...thread, messages: threeRounds })),
    );
    await Promise.all(workers.map((each) => each.memory.idle()));
    expect(ended.filter((each) => each.summary.started)).toHaveLength(1);
    expect(ended.reduce((sum, each) => sum + each.recorded, 0)).toBe(6);
    expect(await summaryTable(workers[0]!.memory, thread)).toEqual([[1, 0, 5, null, "completed"]]);
  });
});
