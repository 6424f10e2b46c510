import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { TurnCost } from "../../src/rounds/thread-cost.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { addressOf, newThread, say } from "../langgraph/conversation.js";
import { agentIn, type Way, ways } from "../langgraph/ways.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

const usage = (input_tokens: number, output_tokens: number, cache_read?: number) => ({
  usage_metadata: { input_tokens, output_tokens, input_token_details: { cache_read } },
});
const saidBy = (content: string, reported = {}) => Object.assign(new AIMessage(content), reported);

const turns = 12;

/** An agent's thread of twelve turns, folded on the way, and the prompts that its model was given. */
async function talk(reports: boolean) {
  const summary = JSON.stringify({ reasoning: "", summary: "They talked about the sea. ".repeat(4) });
  const background = taskModel({ conversation_summary: () => saidBy(summary, usage(500, 40)) });
  const config = { preset: "ledger", context: { tailTokens: 400 }, memories: { extract: true } } as const;
  const memory = db.memory({ model: background, config });
  const prompts: string[] = [];
  const model = new ScriptedChatModel({
    replies: (messages, index) => {
      prompts.push(messages.map(({ text }) => text).join("\n"));
      const answer = `Answer ${index}: the tide turns twice a day. `.repeat(3);
      return saidBy(answer, reports ? usage(1_000 + index, 50, index === 0 ? 0 : 900) : usage(0, 0));
    },
  });
  const thread = newThread();
  const address = addressOf(thread);
  await memory.memories.add(
    ["swims in the bay", "owns a red canoe"].map((text) => ({ text: `The user ${text}.` })),
    address,
  );
  const agent = await agentIn(ways[0] as Way, { memory, model });
  for (let turn = 1; turn <= turns; turn++) {
    await say(agent, `Question ${turn}: how high is the water in the bay today?`, thread);
    await memory.idle();
  }
  return { memory, address, prompts };
}

const sum = (costs: readonly TurnCost[], name: "promptTokens" | "sharedTokens" | "cachedTokens") =>
  costs.reduce((total, cost) => total + (cost[name] ?? 0), 0);

function commonPrefix(one: string, other: string): number {
  const differs = [...one].findIndex((character, place) => character !== other[place]);
  return differs < 0 ? one.length : differs;
}

describe("prompt 8: what a thread costs", () => {
  it("prompt 8: is estimated close to the prompts that a model was given, where it reports nothing", async () => {
    const { memory, address, prompts } = await talk(false);
    const cost = await memory.threads.cost(address);
    const told = cost.turns.toReversed();
    expect(told.map(({ turn, seq, calls, source }) => [turn, seq, calls, source])).toEqual(
      Array.from({ length: turns }, (_, index) => [index + 1, 2 * index, 1, "estimate"]),
    );
    for (const [index, { promptTokens, cachedTokens }] of told.entries()) {
      const real = (prompts[index] as string).length / 4;
      expect(Math.abs((promptTokens ?? 0) - real) / real, `prompt ${index}`).toBeLessThan(0.1);
      expect(cachedTokens).toBeNull();
    }
    // A fold begins another prompt, as the first turn does.
    const folds = told.filter(({ sharedTokens }) => sharedTokens === 0).map(({ turn }) => turn);
    expect(folds.length).toBeGreaterThan(1);
    for (const [index, { sharedTokens, turn }] of told.entries()) {
      if (folds.includes(turn)) continue;
      const real = commonPrefix(prompts[index - 1] as string, prompts[index] as string) / 4;
      expect(Math.abs((sharedTokens ?? 0) - real) / real, `shared ${index}`).toBeLessThan(0.1);
    }
    expect(cost.total).toMatchObject({
      ...{ promptTokens: sum(told, "promptTokens"), sharedTokens: sum(told, "sharedTokens"), calls: turns },
      cachedTokens: null,
    });
    expect(cost.background.map(({ kind }) => kind)).toEqual(["facts", "summary"]);
    const made = folds.length - 1;
    expect(cost.background[1]).toMatchObject({
      calls: made,
      inputTokens: 500 * made,
      outputTokens: 40 * made,
    });
    const page = await memory.threads.cost({ ...address, limit: 3, before: told[6]!.seq });
    expect(page).toEqual({ ...cost, turns: told.slice(3, 6).toReversed() });
  });

  it("prompt 8: is what the model reports, and what it says was cached", async () => {
    const { memory, address } = await talk(true);
    const { turns: told, total } = await memory.threads.cost(address);
    expect(
      told.map(({ promptTokens, cachedTokens, outputTokens, source }) => [
        promptTokens,
        cachedTokens,
        outputTokens,
        source,
      ]),
    ).toEqual(
      Array.from({ length: turns }, (_, back) => turns - 1 - back).map((index) => [
        1_000 + index,
        index && 900,
        50,
        "model",
      ]),
    );
    for (const { sharedTokens, turn } of told) expect([0, 1_000 + turn - 2]).toContain(sharedTokens);
    expect(total).toMatchObject({ cachedTokens: 900 * (turns - 1), outputTokens: 50 * turns, calls: turns });
  });

  it("prompt 8: knows only what is said of turns that memory was not asked in", async () => {
    const memory = db.memory();
    const address = newAddress();
    const odd = ['"usage_metadata":{"input_tokens":7}', "\u0000 \\u0000 \ud800"];
    const messages = [
      ...[new HumanMessage("Hi."), saidBy("Hello, you.", usage(0, -9))],
      ...[
        new HumanMessage("Call it."),
        saidBy(odd.join(""), usage(70, 5, 0)),
        saidBy("Called.", usage(90, 6)),
      ],
      new HumanMessage("Anyone there?"),
    ];
    await memory.record({ ...address, messages });
    const unknown = { promptTokens: null, sharedTokens: null, cachedTokens: null };
    const said = { promptTokens: 160, sharedTokens: null, cachedTokens: 0 };
    expect(await memory.threads.cost(address)).toEqual({
      turns: [
        { turn: 3, seq: 5, ...unknown, outputTokens: 0, calls: 0, source: "estimate" },
        { turn: 2, seq: 2, ...said, outputTokens: 11, calls: 2, source: "model" },
        { turn: 1, seq: 0, ...unknown, outputTokens: 3, calls: 1, source: "estimate" },
      ],
      total: { ...said, outputTokens: 14, calls: 3 },
      background: [],
    });
  });

  it("prompt 8: is told to nobody else, and is gone with the thread", async () => {
    const { memory, address } = await talk(true);
    const { scope } = address;
    const others = { ...address, scope: { userId: "another" } };
    await expect(memory.threads.cost(others)).rejects.toMatchObject({ code: "THREAD_FORBIDDEN" });
    const none = {
      turns: [],
      total: expect.objectContaining({ promptTokens: null, calls: 0 }),
      background: [],
    };
    expect(await memory.threads.cost({ ...address, scope: { ...scope, tenantId: "other" } })).toEqual(none);
    await memory.threads.delete(address);
    expect(await memory.threads.cost(address)).toEqual(none);
    // The same id again: nothing of the one before is counted.
    await memory.record({ ...address, messages: [new HumanMessage("Hi.")] });
    expect(await memory.threads.cost(address)).toMatchObject({ total: { calls: 0 }, background: [] });
  });
});
