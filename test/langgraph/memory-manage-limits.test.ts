import { randomUUID } from "node:crypto";
import { HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  createMemorySupervisor,
  type Memory,
  type MemoryDraft,
  memoryManageTool,
  memoryMiddleware,
  procedureTool,
  withMemory,
} from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { type AnyGraph, addressOf, newThread, say, toolAgent, userOf } from "./conversation.js";

const db = useTestDatabase();
type Thread = ReturnType<typeof newThread>;
type Args = Record<string, string>;

const things = ["rye", "figs", "plums", "kale", "leeks", "beans", "oats", "dates"] as const;
const likes = (thing: string): MemoryDraft => ({
  category: "preferences",
  text: `The user likes ${thing}.`,
  origin: "user",
});
const slot = (thing: string): MemoryDraft => ({
  ...likes(thing),
  key: `best ${thing}`,
  value: thing,
});
const adding = (thing: string, quote?: string): Args => ({
  action: "add",
  category: "knowledge",
  text: `The user grows ${thing}.`,
  ...(quote && { quote }),
});

async function knowing(
  drafts: readonly MemoryDraft[],
  options: Parameters<typeof db.memory>[0] = {},
) {
  const memory = db.memory(options);
  const thread = newThread();
  if (drafts.length > 0) await memory.memories.add({ ...userOf(thread), memories: drafts });
  return { memory, thread };
}

const all = async (memory: Memory, thread: Thread) =>
  (await memory.memories.list(userOf(thread))).toReversed();
const texts = async (memory: Memory, thread: Thread) =>
  (await all(memory, thread)).map(({ text }) => text);

const manages = (args: Args) => ({ name: "memory_manage", args });

/** What the tool answers to `calls` of one turn, at once or one after the other. */
async function answers(
  memory: Memory,
  thread: Thread,
  said: string,
  calls: readonly Args[],
  steps: "at once" | "one by one" = "at once",
) {
  const made = calls.map(manages);
  const replies =
    steps === "at once" ? [{ toolCalls: made }] : made.map((call) => ({ toolCalls: [call] }));
  const { agent } = toolAgent([...replies, "ok"], [memoryManageTool(memory)]);
  const { messages } = await say(withMemory(agent, memory).compile(), said, thread);
  return messages.filter((message) => ToolMessage.isInstance(message)).map(({ text }) => text);
}

describe("memoryManageTool with words that do not ask for it", () => {
  it.each([
    ["update", likes],
    ["update", slot],
    ["add", slot],
  ] as const)(
    "The manage tool overwrites nothing of the user by %s on words that do not ask for it (%O)",
    async (action, draft) => {
      const { memory, thread } = await knowing(things.map(draft));
      const calls = (await all(memory, thread)).map(({ id, key }) => {
        const place = action === "update" ? { memory: id } : { category: "preferences" };
        const value = key === null ? {} : { key, value: "EVIL" };
        return { action, ...place, ...value, text: "EVIL", quote: "a nice day it is" };
      });
      const refusal =
        draft === likes ? /^Refused: .+ own word.+ no words of the quote/ : /^Not changed/;
      for (const answer of await answers(memory, thread, "What a nice day it is.", calls))
        expect(answer).toMatch(refusal);
      expect(
        (await all(memory, thread)).map(({ text, value, trust }) => [text, value, trust]),
      ).toEqual(things.map((thing) => [draft(thing).text, draft === likes ? null : thing, "user"]));
    },
  );

  it("The manage tool adds a text without a quote, or without words of it, as the agent's", async () => {
    const { memory, thread } = await knowing([]);
    const words = "What a nice day it is for the user to sail";
    for (const [text, quote] of [
      ["The user is a fool.", words],
      ["The user sails to Crete.", "nice day"],
      ["ユーザーは緑茶が好き。", "nice day"],
      ["The user seems to like figs.", ""],
    ] as const)
      await answers(memory, thread, `${words}.`, [
        { action: "add", text, ...(quote && { quote }) },
      ]);
    const kept = (await all(memory, thread)).map(({ origin, trust }) => [origin, trust]);
    expect(kept).toEqual(Array.from({ length: 4 }, () => ["assistant", "agent"]));
  });

  it.each([
    ["Call me Sam.", "The user's preferred name is Sam."],
    ["緑茶が好きです。", "ユーザーは緑茶が好きである。"],
    ["Я живу в Киеве.", "Пользователь живёт в Киеве."],
  ])(
    "The manage tool adds a text with words of its quote as the user's: %j",
    async (said, text) => {
      const { memory, thread } = await knowing([]);
      await answers(memory, thread, said, [{ action: "add", text, quote: said.slice(0, -1) }]);
      expect(await all(memory, thread)).toMatchObject([{ text, origin: "user", trust: "user" }]);
    },
  );
});

describe("the limits of one message of the user", () => {
  it.each(["at once", "one by one"] as const)(
    "One message forgets, changes and replaces three memories in all, asked for %s",
    async (steps) => {
      const { memory, thread } = await knowing([
        ...things.slice(0, 4).map(likes),
        ...things.slice(4).map(slot),
      ]);
      const known = await all(memory, thread);
      const quote = "I like only apples now";
      const calls = known.map(({ id, key }, at): Args => {
        const text = `The user likes only apples, ${at} a day.`;
        const forgets = key === null && at % 2 === 0;
        const change = { action: "update", text, ...(key !== null && { value: `${at} apples` }) };
        return { ...(forgets ? { action: "forget" } : change), memory: id, quote };
      });
      // One of each kind comes first.
      const mixed = [0, 1, 4, 2, 3, 5, 6, 7].map((at) => calls[at] as Args);
      const told = await answers(memory, thread, `${quote}.`, mixed, steps);
      expect(told.filter((answer) => !answer.startsWith("Refused: "))).toHaveLength(3);
      for (const answer of told.filter((each) => each.startsWith("Refused: ")))
        expect(answer).toMatch(
          /change, replace or forget 3 memories.+Ask the user which.+the next message may.+memory\.forget/,
        );
      const left = await texts(memory, thread);
      const same = known.filter(({ text }) => left.includes(text));
      expect(same).toHaveLength(5);
      // The next message has a budget of its own.
      const next = calls.find((call) => call.memory === same.at(-1)?.id) as Args;
      expect(await answers(memory, thread, `${quote}.`, [next])).toEqual([
        expect.not.stringContaining("Refused"),
      ]);
    },
  );

  it.each(["at once", "one by one"] as const)(
    "One message adds three memories, asked for %s, with a quote or without",
    async (steps) => {
      const { memory, thread } = await knowing([]);
      const said = `I grow ${things.join(" and ")}`;
      const calls = things.map((thing, at) => adding(thing, at % 2 === 0 ? said : undefined));
      const told = await answers(memory, thread, `${said}.`, calls, steps);
      expect(told.filter((answer) => answer.startsWith("Remembered"))).toHaveLength(3);
      expect(told.find((answer) => answer.startsWith("Refused: "))).toMatch(
        /may add 3 memories.+the next message may/,
      );
      expect(await all(memory, thread)).toHaveLength(3);
      const [next] = await answers(memory, thread, `${said}.`, [adding("hops", said)]);
      expect(next).toMatch(/^Remembered/);
    },
  );

  it("One message adds three requests for consent or a second signal", async () => {
    const { memory, thread } = await knowing([]);
    const goals = things.map((thing) => ({ ...adding(thing), category: "goals" }));
    const told = await answers(memory, thread, "Hello.", goals);
    expect(told.filter((answer) => answer.startsWith("Not remembered yet"))).toHaveLength(3);
    expect(told.filter((answer) => answer.startsWith("Refused: One message"))).toHaveLength(5);
    const { scope } = addressOf(thread);
    expect(await memory.consents.list({ scope })).toHaveLength(3);
  });

  it("Two processes and a run that is started again count the same message", async () => {
    const { memory, thread } = await knowing([]);
    const messages = [new HumanMessage({ id: randomUUID(), content: "Hello." })];
    const ask = (by: Memory, thing: string) =>
      memoryManageTool(by).invoke(adding(thing), { ...thread, state: { messages } } as never);
    const told = [];
    for (const thing of things) told.push(await ask(db.memory(), thing));
    expect(told.filter((answer) => answer.startsWith("Remembered"))).toHaveLength(3);
    expect(await all(memory, thread)).toHaveLength(3);
  });

  it("Within a day, tools add as many memories as extraction may", async () => {
    let now = new Date("2026-03-02T10:00:00Z");
    const { memory, thread } = await knowing([], {
      clock: () => now,
      config: { memories: { writesPerDay: 4 } },
    });
    const told = [];
    for (const thing of things.slice(0, 6))
      told.push(...(await answers(memory, thread, "Hello.", [adding(thing)])));
    expect(told.slice(0, 4).every((answer) => answer.startsWith("Remembered"))).toBe(true);
    for (const answer of told.slice(4))
      expect(answer).toMatch(/^Refused: .+ 4 memories .+24 hours.+tomorrow/);
    now = new Date("2026-03-03T10:00:01Z");
    expect(await answers(memory, thread, "Hello.", [adding("hops")])).toEqual([
      expect.stringMatching(/^Remembered/),
    ]);
  });

  it("One message keeps the steps of three procedures", async () => {
    const model = taskModel({
      procedure_steps: () => ({ structured: { title: "Tea", steps: ["Boil water.", "Pour it."] } }),
    });
    const { memory, thread } = await knowing([], { model });
    const calls = things.map((title) => ({ name: "memory_save_procedure", args: { title } }));
    const { agent } = toolAgent([{ toolCalls: calls }, "ok"] as never, [procedureTool(memory)]);
    const { messages } = await say(withMemory(agent, memory).compile(), "Make tea.", thread);
    const told = messages.filter((message) => ToolMessage.isInstance(message));
    expect(told.filter(({ text }) => text.startsWith("Not kept: One message"))).toHaveLength(5);
    expect(await all(memory, thread)).toHaveLength(3);
  });
});

describe("the limits of a message within subagents", () => {
  /** A tool that hands its task to an agent which adds two things at once. */
  function grower(memory: Memory, name: string, grown: readonly string[], middleware: boolean) {
    const model = new ScriptedChatModel({
      replies: (_, at) =>
        at % 2 === 0 ? { toolCalls: grown.map((thing) => manages(adding(thing))) } : "Done.",
    });
    const subagent = createAgent({
      model,
      tools: [memoryManageTool(memory)],
      middleware: middleware ? [memoryMiddleware(memory)] : [],
    });
    const give = async ({ task }: { task: string }) =>
      (
        await (subagent as unknown as AnyGraph).invoke({ messages: [new HumanMessage(task)] }, {})
      ).messages.at(-1)?.text ?? "";
    return tool(give, { name, description: name, schema: z.object({ task: z.string() }) });
  }

  it.each([
    ["with memory", true],
    ["without memory", false],
  ])("Agents in tools of an agent %s share what its message may add", async (_, hasMemory) => {
    const { memory, thread } = await knowing([]);
    const give = (name: string) => ({ name, args: { task: "Add what grows." } });
    const own = [manages(adding("hops")), manages(adding("dill"))];
    const model = new ScriptedChatModel({
      replies: [
        { toolCalls: [...(hasMemory ? own : []), give("one"), give("two")] },
        { toolCalls: [give("three")] },
        "Done.",
      ],
    });
    const agent = createAgent({
      model,
      tools: [
        memoryManageTool(memory),
        grower(memory, "one", things.slice(0, 2), hasMemory),
        grower(memory, "two", things.slice(2, 4), hasMemory),
        grower(memory, "three", things.slice(4, 6), hasMemory),
      ],
      middleware: hasMemory ? [memoryMiddleware(memory)] : [],
    });
    await say(agent, "Nice day.", thread);
    expect(await all(memory, thread)).toHaveLength(3);
  });

  it("The supervisor's subagents share what the user's message may add", async () => {
    const { memory, thread } = await knowing([]);
    const give = (name: string) => ({ name, args: { task: "Add what grows." } });
    const model = new ScriptedChatModel({
      replies: [
        { toolCalls: [manages(adding("hops")), give("executor")] },
        { toolCalls: [give("executor"), give("planner")] },
        "Done.",
      ],
    });
    const worker = (from: number) => ({
      tools: [memoryManageTool(memory)],
      model: new ScriptedChatModel({
        replies: (_, at) =>
          at % 2 === 0
            ? {
                toolCalls: things.slice(from, from + 2 + at).map((thing) => manages(adding(thing))),
              }
            : "Done.",
      }),
    });
    const supervisor = await createMemorySupervisor({
      model,
      memory,
      tools: [memoryManageTool(memory)],
      planner: worker(0),
      executor: worker(2),
    });
    await say(supervisor.compile(), "Nice day.", thread);
    expect(await all(memory, thread)).toHaveLength(3);
  });
});
