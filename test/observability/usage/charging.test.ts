import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../../src/memory.js";
import { recordingLogger } from "../../support/recording-logger.js";
import { summaryMemory } from "../../support/summary-memory.js";
import { candidate, taskModel } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";
import { type Address, newAddress, say } from "../../support/thread-facts.js";

const db = useTestDatabase();

/** A reply that says what it took, and why the model stopped. */
function costing(
  input_tokens: number,
  output_tokens: number,
  content: string,
  finish_reason = "stop",
): AIMessage {
  const reply = new AIMessage({ content, response_metadata: { finish_reason } });
  Object.assign(reply, {
    usage_metadata: { input_tokens, output_tokens, total_tokens: input_tokens + output_tokens },
  });
  return reply;
}

const consumed = async (memory: Memory, { scope }: Address) =>
  (await memory.stats({ scope })).energy.kinds;

const summary = JSON.stringify({ reasoning: "", summary: "They talked." });
const rounds = (count: number) =>
  Array.from({ length: count }, (_, round) => [
    new HumanMessage(`Question ${round}`),
    new AIMessage(`Answer ${round}`),
  ]).flat();

describe("background calls", () => {
  it("Background calls are counted as the model reports them, each with its owner and purpose", async () => {
    const memory = db.memory({
      model: taskModel({
        conversation_summary: () => costing(1_000, 50, summary),
        fact_extraction: () =>
          costing(
            700,
            30,
            JSON.stringify({ facts: [candidate("The user likes tea.", "I like tea")] }),
          ),
        episode_summary: () =>
          costing(400, 20, JSON.stringify({ summary: "They talked about tea." })),
        procedure_steps: () =>
          costing(90, 10, JSON.stringify({ title: "Tea", steps: ["Boil water."] })),
      }),
      config: { memories: { extract: true, episodes: true } },
    });
    const thread = newAddress();
    await say(memory, thread, "I like tea");
    await memory.remember({ ...thread, messages: rounds(30) });
    await memory.upkeep();
    await memory.procedures.write(thread);
    const by = new Map((await consumed(memory, thread)).map(({ kind, ...took }) => [kind, took]));
    expect([...by.keys()].toSorted()).toEqual(["episodes", "facts", "procedure", "summaries"]);
    for (const [kind, input, output] of [
      ["summaries", 1_000, 50],
      ["facts", 700, 30],
      ["episodes", 400, 20],
      ["procedure", 90, 10],
    ] as const) {
      const { calls, ...took } = by.get(kind) ?? { calls: 0 };
      expect(calls).toBeGreaterThan(0);
      const units = (calls * (input + output)) / 100;
      expect(took).toEqual({ inputTokens: calls * input, outputTokens: calls * output, units });
    }
  });

  it("Background calls go on if they cannot be charged, and the log says so", async () => {
    const logger = recordingLogger();
    const memory = summaryMemory(db, { model: taskModel({}), logger });
    const thread = newAddress();
    await db.pool.query(`alter table "${db.schema}".usage rename to usage_away`);
    try {
      await memory.remember({ ...thread, messages: rounds(3) });
    } finally {
      await db.pool.query(`alter table "${db.schema}".usage_away rename to usage`);
    }
    expect((await memory.recall(thread)).summary?.text).toBe("They talked.");
    expect(logger.lines.filter((line) => line.startsWith("error"))).toEqual([
      expect.stringMatching(/What a call of a model took could not be written down \(summaries\)/),
    ]);
    expect(memory.energyConsumedSinceLastPoll()).toBeGreaterThan(0);
  });
});
