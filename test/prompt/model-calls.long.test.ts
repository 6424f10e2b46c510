import { describe, expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { answering, chatAgent, newThread, say } from "../langgraph/conversation.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestConfig } from "../support/test-memory.js";

const db = useTestDatabase();
const turns = 24;

/** Model calls of 24 turns of plain chat, whose background work is done before the next begins. */
async function callsWith(config: TestConfig) {
  const background = taskModel({});
  const memory = db.memory({
    model: background,
    // Inline work waits for nothing more to be said.
    jobs: config.preset === "ledger" ? "background" : "inline",
    config: { ...config, memories: { extract: true, episodes: true, ...config.memories } },
  });
  const chat = answering();
  const graph = withMemory(chatAgent(chat), memory).compile({
    checkpointer: memory.checkpointer(),
  });
  const thread = newThread();
  const underWay = async () =>
    (
      await db.pool.query(
        `select from "${db.schema}".work where lease_until is not null or retry_at <= now()`,
      )
    ).rows.length;
  for (let turn = 1; turn <= turns; turn++) {
    await say(graph, `I have ${turn} apples.`, thread);
    await expect.poll(underWay).toBe(0);
  }
  const count = (name: string) => background.prompts(name).length;
  await memory.close();
  return {
    chat: chat.calls.length,
    summaries: count("conversation_summary"),
    extractions: count("fact_extraction"),
    episodes: count("episode_summary"),
    all: background.calls.length,
  };
}

describe(`model calls of ${turns} turns`, () => {
  it.each<[string, TestConfig, Awaited<ReturnType<typeof callsWith>>]>([
    ["in every round", {}, { chat: 24, summaries: 22, extractions: 24, episodes: 1, all: 47 }],
    [
      "by default",
      { preset: "ledger" },
      { chat: 24, summaries: 0, extractions: 6, episodes: 1, all: 7 },
    ],
    [
      "by default, without extraction",
      { preset: "ledger", memories: { extract: false } },
      { chat: 24, summaries: 0, extractions: 0, episodes: 1, all: 1 },
    ],
    [
      "without extraction",
      { memories: { extract: false } },
      { chat: 24, summaries: 22, extractions: 0, episodes: 1, all: 23 },
    ],
    [
      "without extraction and episodes",
      { memories: { extract: false, episodes: false } },
      { chat: 24, summaries: 22, extractions: 0, episodes: 0, all: 22 },
    ],
  ])("24 turns take a fixed number of model calls: %s", async (_, config, calls) =>
    expect(await callsWith(config)).toEqual(calls),
  );
});
