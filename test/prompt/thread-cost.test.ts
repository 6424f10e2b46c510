import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { addressOf, newThread, say } from "../langgraph/conversation.js";
import { agentIn, type Way, ways } from "../langgraph/ways.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

const saidBy = (
  content: string,
  input_tokens: number,
  output_tokens: number,
  cache_read?: number,
) =>
  Object.assign(new AIMessage(content), {
    usage_metadata: { input_tokens, output_tokens, input_token_details: { cache_read } },
  });

const turns = 12;

/**
 * An agent's thread of twelve turns, folded on the way, and the prompts that its model was given.
 */
async function talk(reports: boolean) {
  const summary = JSON.stringify({
    reasoning: "",
    summary: "They talked about the sea. ".repeat(4),
  });
  const background = taskModel({ conversation_summary: () => saidBy(summary, 500, 40) });
  const config = {
    preset: "ledger",
    context: { tailTokens: 400 },
    memories: { extract: true },
  } as const;
  const memory = db.memory({ model: background, config });
  const prompts: string[] = [];
  const model = new ScriptedChatModel({
    replies(messages, index) {
      prompts.push(messages.map(({ text }) => text).join("\n"));
      const answer = `Answer ${index}: the tide turns twice a day. `.repeat(3);
      return reports ? saidBy(answer, 1_000 + index, 50, index && 900) : saidBy(answer, 0, 0);
    },
  });
  const thread = newThread();
  const address = addressOf(thread);
  await memory.memories.add({
    ...address,
    memories: ["The user swims in the bay.", "The user owns a red canoe."].map((text) => ({
      text,
    })),
  });
  const agent = await agentIn(ways[0] as Way, { memory, model });
  for (let turn = 1; turn <= turns; turn++) {
    await say(agent, `Question ${turn}: how high is the water in the bay today?`, thread);
    await memory.idle();
  }
  return { memory, address, prompts };
}

/** Tokens that two prompts begin with. */
function shared(one = "", other = ""): number {
  const differs = [...one].findIndex((character, place) => character !== other[place]);
  return (differs < 0 ? one.length : differs) / 4;
}

it("A turn's cost is estimated within a tenth, if the model does not report it", async () => {
  const { memory, address, prompts } = await talk(false);
  const cost = await memory.threads.cost(address);
  const costs = cost.turns.toReversed();
  const folds = costs.filter(({ sharedTokens }) => sharedTokens === 0);
  expect(folds.length).toBeGreaterThan(1);
  for (const [index, { promptTokens, sharedTokens, outputTokens: _, ...turn }] of costs.entries()) {
    const rest = {
      turn: index + 1,
      seq: 2 * index,
      cachedTokens: null,
      calls: 1,
      source: "estimate",
    };
    expect(turn).toEqual(rest);
    const isFold = sharedTokens === 0;
    for (const [estimated, real] of [
      [promptTokens, (prompts[index] ?? "").length / 4],
      [sharedTokens, isFold ? 0 : shared(prompts[index - 1], prompts[index])],
    ] as const)
      expect(Math.abs(Number(estimated) - real), `turn ${turn.turn}`).toBeLessThanOrEqual(
        real / 10,
      );
  }
  const promptTokens = costs.reduce((sum, turn) => sum + Number(turn.promptTokens), 0);
  expect(cost.total).toMatchObject({ promptTokens, cachedTokens: null, calls: turns });
  const calls = folds.length - 1;
  const made = { kind: "summaries", calls, inputTokens: 500 * calls, outputTokens: 40 * calls };
  expect(cost.background).toEqual([expect.objectContaining({ kind: "facts" }), made]);
  const page = await memory.threads.cost({ ...address, limit: 3, before: 12 });
  expect(page).toEqual({ ...cost, turns: costs.slice(3, 6).toReversed() });
});

it("Reported costs count for the tokens that turns share, for the owner only and until deletion", async () => {
  const { memory, address } = await talk(true);
  const { turns: costs, total } = await memory.threads.cost(address);
  for (const { turn, sharedTokens } of costs) expect([0, 1_000 + turn - 2]).toContain(sharedTokens);
  expect(total).toMatchObject({ calls: turns });
  const others = { ...address, scope: { userId: "another" } };
  await expect(memory.threads.cost(others)).rejects.toMatchObject({ code: "THREAD_FORBIDDEN" });
  const none = { turns: [], total: { promptTokens: null, calls: 0 }, background: [] };
  expect(
    await memory.threads.cost({ ...address, scope: { ...address.scope, tenantId: "other" } }),
  ).toMatchObject(none);
  await memory.threads.delete(address);
  // The same id again: nothing of the one before is counted.
  await memory.record({ ...address, messages: [new AIMessage("Hi.")] });
  expect(await memory.threads.cost(address)).toMatchObject({ total: { calls: 1 }, background: [] });
});

it("Unknown costs of turns without a recall are null", async () => {
  const memory = db.memory();
  const address = newAddress();
  const odd = '"usage_metadata":{"input_tokens":7} \u0000 \\u0000 \ud800';
  const messages = [
    new HumanMessage("Hi."),
    saidBy("Hello, you.", 0, -9),
    new HumanMessage("Call it."),
  ];
  const called = [
    saidBy(odd, 70, 5, 0),
    saidBy("Called.", 90, 6),
    new HumanMessage("Anyone there?"),
  ];
  await memory.record({ ...address, messages: [...messages, ...called] });
  const unknown = {
    promptTokens: null,
    sharedTokens: null,
    cachedTokens: null,
    source: "estimate",
  };
  const known = { promptTokens: 160, sharedTokens: null, cachedTokens: 0 };
  expect(await memory.threads.cost(address)).toEqual({
    turns: [
      { turn: 3, seq: 5, ...unknown, outputTokens: 0, calls: 0 },
      { turn: 2, seq: 2, ...known, outputTokens: 11, calls: 2, source: "model" },
      { turn: 1, seq: 0, ...unknown, outputTokens: 3, calls: 1 },
    ],
    total: { ...known, outputTokens: 14, calls: 3 },
    background: [],
  });
});
