import { randomUUID } from "node:crypto";
import { getStore } from "@langchain/langgraph";
import { CompositeBackend, createDeepAgent, StateBackend, StoreBackend } from "deepagents";
import { describe, expect, it } from "vitest";
import { fromRun, type Memory, memoryMiddleware } from "../../src/index.js";
import {
  OfflineChatModel,
  ScriptedChatModel,
  type ScriptedReplyFunction,
} from "../../src/testing/index.js";
import type { ScriptedReply } from "../../src/testing/scripted-reply.js";
import { code } from "../support/rejection.js";
import { useTestDatabase } from "../support/test-database.js";
import { type AnyGraph, newThread, oneNode, say } from "./conversation.js";

const db = useTestDatabase();
const call = (name: string, args: Record<string, unknown>): ScriptedReply => ({
  toolCalls: [{ name, args }],
});
const file_path = "/memories/style.md";
const writeFile = (content: string) => call("write_file", { file_path, content });
const readFile = call("read_file", { file_path });
/** The answer repeats what the last tool said. */
const repeat: ScriptedReplyFunction = (messages) => `said: ${messages.at(-1)?.text}`;
const task = call("task", { description: "Read it.", subagent_type: "reader" });

function deepAgent(
  memory: Memory,
  replies: readonly (ScriptedReply | ScriptedReplyFunction)[],
  options: object = {},
) {
  const store = memory.store({ scope: fromRun });
  return createDeepAgent({
    model: new ScriptedChatModel({ replies }),
    middleware: [memoryMiddleware(memory, { agent: "main" })],
    checkpointer: memory.checkpointer(),
    backend: new CompositeBackend(new StateBackend(), {
      "/memories/": new StoreBackend({ store, namespace: ["files"] }),
    }),
    ...options,
  }) as unknown as AnyGraph;
}

async function answerOf(agent: AnyGraph, config: object) {
  const { messages } = await say(agent, "Go on.", config);
  return messages.at(-1)?.text;
}

describe("a deep agent with a store of the run's user", () => {
  it("A store of the run's user never mixes up users whose runs go on at once", async () => {
    const memory = db.memory();
    const users = Array.from({ length: 10 }, () => newThread());
    const own = (thread: (typeof users)[number]) => `of ${thread.configurable.user_id}`;
    // One model and one agent for all: it looks at its prompt to see how far it is.
    const model = new ScriptedChatModel({
      replies: (messages) => {
        const done = messages.filter((message) => message.getType() === "tool").length;
        const said = messages.find((message) => message.getType() === "human")?.text ?? "";
        if (done === 0) return writeFile(said);
        return done === 1 ? readFile : `said: ${messages.at(-1)?.text}`;
      },
    });
    const agent = deepAgent(memory, [], { model });
    for (let round = 0; round < 2; round++) {
      const threads = users.map(({ configurable }) => ({
        configurable: { ...configurable, thread_id: randomUUID() },
      }));
      const answers = await Promise.all(threads.map((thread) => say(agent, own(thread), thread)));
      for (const [index, { messages }] of answers.entries()) {
        expect(messages.at(-1)?.text).toContain(own(threads[index]!));
        expect(messages.at(-1)?.text.match(/of [0-9a-f]{8}-/g)).toHaveLength(1);
      }
    }
  });

  it("A subagent gets the run's user's files, the memories of its allowlist and its own thread", async () => {
    const config = { allowlists: { main: ["profile", "preferences"], reader: ["preferences"] } };
    const memory = db.memory({ config, model: new OfflineChatModel() });
    const thread = newThread();
    const scope = { userId: thread.configurable.user_id };
    await memory.memories.add({
      scope,
      consent: "given",
      memories: [
        { category: "profile", text: "The user's name is Zenobia.", origin: "user" },
        { category: "preferences", text: "The user likes quince.", origin: "user" },
      ],
    });
    await answerOf(deepAgent(memory, [writeFile("short"), "ok"]), thread);
    const reader = new ScriptedChatModel({ replies: [readFile, repeat] });
    const subagents = [
      {
        name: "reader",
        description: "Reads.",
        systemPrompt: "Read.",
        model: reader,
        middleware: [memoryMiddleware(memory, { agent: "reader" })],
      },
    ];
    expect(await answerOf(deepAgent(memory, [task, repeat], { subagents }), thread)).toContain(
      "short",
    );
    const prompt = reader.calls[0]!.messages.map(({ text }) => text).join("\n");
    expect(prompt).toContain("quince");
    expect(prompt).not.toContain("Zenobia");
    const { rows } = await db.pool.query(
      `select thread_id from "${db.schema}".thread where user_id = $1 order by 1`,
      [scope.userId],
    );
    const threadId = thread.configurable.thread_id;
    expect(rows.map(({ thread_id }) => thread_id)).toEqual([
      threadId,
      `${threadId}/mnemograph:delegated/reader`,
    ]);
  });
});

describe("a store with `scope: fromRun`", () => {
  it("A store with `scope: fromRun` is refused outside of a run, and in a run that names no user", async () => {
    const store = db.memory().store({ scope: fromRun });
    await expect(store.get(["n"], "k")).rejects.toThrow(
      /SCOPE_REQUIRED|no run does\. Call it in a node or a tool/,
    );
    const graph = oneNode("node", async () => {
      await store.put(["n"], "k", { text: "x" });
      return {};
    });
    await expect(say(graph, "x", {})).rejects.toThrow(code("SCOPE_REQUIRED"));
  });

  it("A store with `scope: fromRun` finds its scope by the rules that nodes have", async () => {
    const store = db.memory({ defaultScope: { userId: "solo" } }).store({ scope: fromRun });
    const seen = async (config: object) => {
      const key = randomUUID();
      const graph = oneNode("node", async () => {
        await store.put(["n"], key, { text: "x" });
        return {};
      });
      await say(graph, "x", config);
      const { rows } = await db.pool.query(
        `select tenant_id, user_id, app_id from "${db.schema}".store_item where key = $1`,
        [key],
      );
      return Object.values(rows[0] as object).join("/");
    };
    expect(await seen({})).toBe("/solo/");
    expect(await seen({ context: { userId: "ana", tenantId: "t", appId: "shop" } })).toBe(
      "t/ana/shop",
    );
  });

  it("A store with `scope: fromRun` belongs to the inner run where one user's run starts another's", async () => {
    const memory = db.memory();
    const store = memory.store({ scope: fromRun });
    const [ana, ben] = [newThread(), newThread()];
    const inner = oneNode("inner", async () => {
      await store.put(["n"], "k", { text: "ben's" });
      return {};
    });
    const outer = oneNode("outer", async () => {
      await say(inner, "x", ben);
      await store.put(["n"], "k", { text: "ana's" });
      return {};
    });
    await say(outer, "x", ana);
    const textOf = async ({ configurable }: typeof ana) =>
      (await memory.store({ scope: { userId: configurable.user_id } }).get(["n"], "k"))?.value;
    expect([await textOf(ana), await textOf(ben)]).toEqual([{ text: "ana's" }, { text: "ben's" }]);
  });

  // LangGraph's queue runs where the graph was started: in a node of another user's run, this would
  // be that user.
  it("A store with `scope: fromRun` is refused as a graph's own store, but accepted as one run's store", async () => {
    const memory = db.memory();
    const scoped = (store: unknown) =>
      deepAgent(memory, [], {
        store,
        model: new ScriptedChatModel({ replies: () => "ok" }),
        middleware: [],
      });
    const inner = scoped(memory.store({ scope: fromRun }));
    await expect(say(inner, "x", newThread())).rejects.toThrow(
      /SCOPE_REQUIRED|cannot be a graph's own `store`/,
    );
    const outer = oneNode("node", async () => {
      await say(inner, "x", newThread());
      return {};
    });
    await expect(say(outer, "x", newThread())).rejects.toThrow(code("SCOPE_REQUIRED"));

    const graph = oneNode("node", async () => {
      await getStore()?.put(["n"], "k", { text: "x" });
      return {};
    });
    const thread = newThread();
    const scope = { userId: thread.configurable.user_id };
    await say(graph, "x", { ...thread, store: memory.store({ scope }) });
    expect(await memory.store({ scope }).get(["n"], "k")).not.toBeNull();
  });
});
