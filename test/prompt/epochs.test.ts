import { HumanMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { memoryMiddleware } from "../../src/index.js";
import { memoryPreface } from "../../src/messages/recalled-mark.js";
import { shownBy } from "../../src/prompt/shown-by.js";
import { OfflineChatModel, ScriptedChatModel } from "../../src/testing/index.js";
import { lines } from "../langgraph/conversation.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestConfig } from "../support/test-memory.js";

const db = useTestDatabase();
const minute = 60_000;
let users = 0;

function talk(settings: TestConfig = {}, clock = () => new Date()) {
  const memory = db.memory({
    model: new OfflineChatModel(),
    clock,
    config: { ...settings, preset: "ledger", context: { tailTokens: 300, ...settings.context } },
  });
  const model = new ScriptedChatModel({
    replies: () => "That is a long story, and I tell it gladly. ".repeat(3),
  });
  const agent = createAgent({
    model,
    tools: [],
    systemPrompt: "Be kind.",
    checkpointer: memory.checkpointer(),
    middleware: [memoryMiddleware(memory)],
  });
  const userId = `user ${users++}`;
  const scope = { userId };
  const thread = { scope, threadId: `thread of ${userId}` };
  const config = { configurable: { thread_id: thread.threadId, user_id: userId } };
  const say = async (text: string) => {
    await agent.invoke({ messages: [new HumanMessage(text)] }, config);
    await memory.idle();
    return promptOf(model);
  };
  const add = (text: string, more = {}) =>
    memory.memories.add({ scope, memories: { text, category: "knowledge", ...more } });
  return { memory, model, say, add, scope, thread, config, agent };
}

const promptOf = (model: ScriptedChatModel) => lines(model.calls.at(-1)?.messages ?? []);
const blockIn = (prompt: readonly string[]) =>
  prompt.find((line) => line.startsWith("human: [Previous context: ")) ?? "";
/** The message before what the user said. */
const addedTo = (said: string, prompt: readonly string[]) =>
  prompt[prompt.indexOf(`human: ${said}`) - 1] ?? "";
const isContinued = (before: readonly string[], now: readonly string[]) =>
  before.every((line, at) => now[at] === line);

/** The prompts of `turns` turns, and the turns whose prompt does not continue the one before. */
async function sayMany(say: (text: string) => Promise<string[]>, turns: number) {
  const prompts: string[][] = [];
  for (let turn = 1; turn <= turns; turn++)
    prompts.push(await say(`Tell me about matter ${turn}.`));
  const folds = prompts.flatMap((prompt, at) =>
    at > 0 && !isContinued(prompts[at - 1] ?? [], prompt) ? [at + 1] : [],
  );
  return { prompts, folds };
}

describe("a ledger", () => {
  it("A ledger only grows until it is folded, and then begins with a newer summary", async () => {
    const { say, add } = talk();
    await add("Ana has a cat called Zerberus.");
    const { prompts, folds } = await sayMany(say, 14);
    expect(folds.length).toBeGreaterThanOrEqual(1);
    expect(folds.length).toBeLessThanOrEqual(3);
    expect(blockIn(prompts[0] ?? [])).not.toContain("Summary");
    expect(blockIn(prompts.at(-1) ?? [])).toContain("[Summary of Round 1-");
    // Three turns at least stay word for word.
    expect(
      prompts[(folds[0] ?? 0) - 1]?.filter((line) => line.startsWith("human")).length,
    ).toBeGreaterThanOrEqual(4);
  });

  it("A ledger reports what replaced a line, until more than three are out of date", async () => {
    const { say, add } = talk({ context: { tailTokens: 4_000 } });
    const slots = ["tea", "bread", "cheese", "fruit"];
    for (const key of slots)
      await add(`Likes plain ${key}.`, { key, value: `plain ${key}`, importance: 5 });
    const first = await say("Hello!");
    await add("Likes green tea.", { key: "tea", value: "green tea", importance: 5 });
    const told = await say("What now?");
    expect(blockIn(told)).toBe(blockIn(first));
    expect(told.at(-2)).toMatch(
      /Memory updates since rev 4:\n- ↑updated: \[Knowledge\] Likes green tea\. \(instead of: plain tea\)\n/,
    );
    expect(isContinued(told, await say("And then?"))).toBe(true);
    for (const key of slots.slice(1))
      await add(`Likes fine ${key}.`, { key, value: `fine ${key}`, importance: 5 });
    const folded = await say("Well?");
    expect(blockIn(folded)).toContain("green tea");
    expect(blockIn(folded)).not.toContain("plain tea");
  });

  it("A ledger is folded when the provider's cache is cold and there is a newer summary", async () => {
    let now = Date.now();
    const { say, add } = talk({ context: { tailTokens: 500 } }, () => new Date(now));
    const prompts = [];
    for (let turn = 1; turn <= 10; turn++) prompts.push(await say(`Tell me about matter ${turn}.`));
    const before = prompts.at(-1) ?? [];
    expect(isContinued(before, await say("Soon after."))).toBe(true);
    now += 6 * minute;
    const later = await say("Much later.");
    expect(isContinued(before, later)).toBe(false);
    expect(blockIn(later)).toMatch(/matter/);
    expect(blockIn(later)).not.toBe(blockIn(before));
    // The block was the summary alone: what is added says what memory is.
    await add("Zerberus is a cat.");
    const told = await say("And now?");
    expect(isContinued(later, told)).toBe(true);
    expect(told.join("\n").split(memoryPreface)).toHaveLength(2);
    expect(told.at(-2)).toMatch(/<memory>\nMemory updates since rev \d+:\n/);
  });

  it("A branch of an earlier checkpoint has what that turn was shown, and an epoch of its own", async () => {
    const { say, add, agent, config } = talk({ context: { tailTokens: 4_000 } });
    await say("Hello!");
    await add("Zerberus is a cat who eats tuna.");
    const fork = await agent.graph.getState(config);
    await say("What does Zerberus eat?");
    await agent.invoke({ messages: [new HumanMessage("Does Zerberus sing?")] }, fork.config);
    const prompt = await say("Go on.");
    const all = prompt.join("\n");
    expect(all).not.toContain("What does Zerberus eat?");
    expect(all.split("Zerberus is a cat").length - 1).toBe(1);
    expect(addedTo("Does Zerberus sing?", prompt)).toContain("Zerberus is a cat");
  });

  it("Agents that read other categories have other epochs", async () => {
    const { memory, thread, add, say } = talk({
      allowlists: { clerk: ["profile"] },
      context: { tailTokens: 4_000 },
    });
    await add("Ana has a cat called Zerberus.");
    expect(blockIn(await say("Hello!"))).toContain("Zerberus");
    const { memories, epoch } = await memory.recall({ ...thread, agent: "clerk" });
    expect(JSON.stringify(memories)).not.toContain("Zerberus");
    expect(epoch.isNew).toBe(true);
    expect((await memory.recall(thread)).epoch.isNew).toBe(false);
  });

  it("A task continues no epoch of earlier ones, whose messages it does not show", async () => {
    const { memory, add, scope } = talk({ context: { tailTokens: 4_000 } });
    await add("Zerberus is a cat who eats tuna.");
    const task = {
      scope,
      threadId: "chat/mnemograph:delegated/clerk",
      query: "What does Zerberus eat?",
    };
    const shown = shownBy(await memory.recall(task));
    await memory.record({
      scope,
      threadId: task.threadId,
      messages: [new HumanMessage("Zerberus?")],
      shown,
    });
    const { epoch, memories } = await memory.recall(task);
    expect(epoch).toMatchObject({ isNew: true, earlier: [] });
    expect(memories.relevant.map(({ memory: { text } }) => text)).toEqual([
      "Zerberus is a cat who eats tuna.",
    ]);
  });

  it("Each turn has a block of its own with the preset every-round", async () => {
    const memory = db.memory();
    const thread = { scope: { userId: "every round" }, threadId: "every round" };
    const shown = { revision: 0, memoryIds: [], parts: {}, firstSeq: 0 };
    await memory.record({ ...thread, messages: [new HumanMessage("Hello")], shown });
    expect((await memory.recall(thread)).epoch.isNew).toBe(true);
  });
});
