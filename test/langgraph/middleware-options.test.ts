import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { type BaseStore, InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, type ToolRuntime, toolRetryMiddleware } from "langchain";
import { expect, it, vi } from "vitest";
import { z } from "zod";
import { memoryMiddleware } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useChildScripts } from "../support/child-scripts.js";
import { useDataDirectories } from "../support/data-directories.js";
import { recordingLogger } from "../support/recording-logger.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const database = useTestDatabase();
const start = useChildScripts();
const dataDirectory = useDataDirectories();
let users = 0;

function newRun() {
  const userId = `user ${users++}`;
  return { userId, thread: { configurable: { thread_id: `thread of ${userId}` } } };
}

const said = (text: string) => ({ messages: [new HumanMessage(text)] });

/** Calls `name` with `args` first, then answers. */
function calling(name: string, args: Record<string, unknown>) {
  return new ScriptedChatModel({ replies: [{ toolCalls: [{ name, args }] }, "Done."] });
}

it("An agent's context may name the user, and a wrong key or type in it does not compile", async () => {
  const memory = database.memory();
  const { userId, thread } = newRun();
  await memory.memories.add({
    scope: { userId },
    memories: { text: "Ana has a cat called Zerberus." },
  });
  const model = new ScriptedChatModel({ replies: () => "Zerberus." });
  const agent = createAgent({ model, tools: [], middleware: [memoryMiddleware(memory)] });
  await agent.invoke(said("What is my cat called?"), { ...thread, context: { userId } });
  expect(JSON.stringify(model.calls[0]!.messages)).toContain("Zerberus");

  await expect(
    agent.invoke(said("Hello"), { ...thread, context: { userID: userId } }),
  ).rejects.toThrow(/whose memory/);
  // @ts-expect-error: a number.
  await expect(agent.invoke(said("Hello"), { ...thread, context: { userId: 7 } })).rejects.toThrow(
    /userId/,
  );
});

it("An agent's own context goes beside memory's", async () => {
  const memory = database.memory();
  const { userId, thread } = newRun();
  const contextSchema = z.object({ office: z.string() });
  const model = new ScriptedChatModel({ replies: () => "Hello!" });
  const agent = createAgent({
    model,
    tools: [],
    contextSchema,
    middleware: [memoryMiddleware(memory)],
  });
  await agent.invoke(said("Hello"), { ...thread, context: { userId, office: "Porto" } });
  expect(await memory.threads.list({ scope: { userId } })).toHaveLength(1);
});

it("The tools that memoryMiddleware brings are offered to the model and answer it", async () => {
  const memory = database.memory();
  const { userId, thread } = newRun();
  await memory.memories.add({
    scope: { userId },
    memories: { text: "Ana has a cat called Zerberus." },
  });
  const model = calling("memory_query", { query: "cat" });
  const middleware = memoryMiddleware(memory, {
    tools: ["query", "transcript", "manage", "query"],
  });
  expect(middleware.tools.map(({ name }) => name)).toEqual([
    "memory_query",
    "transcript_search",
    "memory_manage",
  ]);
  const agent = createAgent({ model, tools: [], middleware: [middleware] });
  const { messages } = await agent.invoke(said("Cat?"), { ...thread, context: { userId } });
  expect(messages.find((message) => message.getType() === "tool")!.text).toContain("Zerberus");
  expect(() => memoryMiddleware(memory, { tools: ["search"] as never })).toThrow(/tools/);
  expect(() => memoryMiddleware(memory, { tools: true as never })).toThrow(
    /must be a list of these: "query", /,
  );
});

it("With `store: true` tools get a store of the run's user, and an agent's own store stays", async () => {
  const memory = database.memory();
  const write = tool(
    async ({ note }, runtime: ToolRuntime) => {
      const store = runtime.store as BaseStore | null;
      await store!.put(["diary"], "today", { note });
      return (await store!.get(["diary"], "today"))!.value.note as string;
    },
    { name: "write", description: "Writes.", schema: z.object({ note: z.string() }) },
  );
  const agentOf = (note: string, options: object = {}) =>
    createAgent({
      model: calling("write", { note }),
      tools: [write],
      middleware: [memoryMiddleware(memory, { store: true })],
      ...options,
    });
  const [ana, rui] = [newRun(), newRun()];
  for (const [run, note] of [
    [ana, "boat"],
    [rui, "train"],
  ] as const) {
    const { messages } = await agentOf(note).invoke(said("Note it"), {
      ...run.thread,
      context: { userId: run.userId },
    });
    expect(messages.find((message) => message.getType() === "tool")!.text).toBe(note);
  }
  const diary = (userId: string) => memory.store({ scope: { userId } }).get(["diary"], "today");
  expect((await diary(ana.userId))?.value).toEqual({ note: "boat" });
  await memory.forget({ scope: { userId: ana.userId } });
  expect([await diary(ana.userId), (await diary(rui.userId))?.value]).toEqual([
    null,
    { note: "train" },
  ]);

  const own = memory.store({ scope: { userId: "own" } });
  await agentOf("own", { store: own }).invoke(said("Note it"), {
    ...ana.thread,
    context: { userId: ana.userId },
  });
  expect([(await own.get(["diary"], "today"))?.value, await diary(ana.userId)]).toEqual([
    { note: "own" },
    null,
  ]);
});

it.each([
  ["alone", 1],
  ["behind toolRetryMiddleware", 3],
] as const)(
  "With `store: true` a tool that fails %s is answered as without it",
  async (place, tries) => {
    const memory = database.memory();
    const outcomes = [];
    for (const [store, own] of [[false], [true], [true, new InMemoryStore()]] as const) {
      const print = vi.fn(() => Promise.reject(new Error("out of paper")));
      const retry = toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 1 });
      const mine = memoryMiddleware(memory, { store });
      const middleware = place === "alone" ? [mine] : [retry, mine];
      const tools = [tool(print, { name: "print", description: "Prints.", schema: z.object({}) })];
      const options = { model: calling("print", {}), tools, ...(own && { store: own }) };
      const agent = createAgent({ ...options, middleware } as never);
      const { userId, thread } = newRun();
      const run = agent.invoke(said("Print"), { ...thread, context: { userId } } as never);
      // LangChain wraps an error that has passed a middleware.
      const textOf = ({ text }: BaseMessage) => text.replace("MiddlewareError", "Error");
      const told = await run.then(({ messages }) => messages.map(textOf), String);
      outcomes.push([print.mock.calls.length, told]);
    }
    expect(outcomes[0]![0]).toBe(tries);
    expect(outcomes.slice(1)).toEqual([outcomes[0], outcomes[0]]);
  },
);

it.each([
  ["after", 1],
  ["before", 0],
] as const)(
  "memoryMiddleware listed %s a middleware that changes answers logs %i warnings",
  async (place, warnings) => {
    const logger = recordingLogger();
    const memory = database.memory({ logger });
    const { userId, thread } = newRun();
    const signed = createMiddleware({
      name: "signed",
      afterAgent: ({ messages }) => {
        const answer = messages.at(-1)!;
        return {
          messages: [
            Object.assign(Object.create(Object.getPrototypeOf(answer)), answer, {
              content: "Signed.",
            }),
          ],
        };
      },
    });
    const own = memoryMiddleware(memory);
    const middleware = place === "after" ? [signed, own] : [own, signed];
    const model = new ScriptedChatModel({ replies: () => "Hello!" });
    const agent = createAgent({ model, tools: [], middleware, checkpointer: new MemorySaver() });
    for (const text of ["Hello", "Again", "Once more"])
      await agent.invoke(said(text), { ...thread, context: { userId } });
    const warned = logger.lines.filter((line) => line.includes("put memoryMiddleware first"));
    expect(warned).toHaveLength(warnings);
  },
);

it.skipIf(onServer())(
  "Memory also works where LangGraph keeps no config, as in builds for browsers (embedded only)",
  async () => {
    const script = start("without-context-store", [dataDirectory("browser")], {
      env: { NODE_OPTIONS: "--conditions=browser" },
    });
    expect(JSON.parse(await script.line(/shown/))).toEqual({
      shown: true,
      said: ["What is my cat called?", "Zerberus."],
      memories: ["Ana has a cat called Zerberus."],
    });
  },
);
