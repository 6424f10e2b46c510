import { randomUUID } from "node:crypto";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { describe, expect, it } from "vitest";
import { type Memory, withMemory } from "../../../src/index.js";
import type { TurnOptions } from "../../../src/langgraph/run/node-options.js";
import { ScriptedChatModel } from "../../../src/testing/index.js";
import { useTestDatabase } from "../../support/test-database.js";
import { answering, chatAgent, historyOf, lines, oneNode, say } from "../conversation.js";
import { agentIn, type Way, ways } from "../ways.js";

const database = useTestDatabase();

const checkpointers: Record<string, (memory: Memory) => BaseCheckpointSaver> = {
  "memory's own": (memory) => memory.checkpointer(),
  "another, as in Studio": () => new MemorySaver(),
};

const cases: [Way, TurnOptions][] = [
  ...ways.map((way): [Way, TurnOptions] => [way, {}]),
  ["withMemory", { session: "bounded" }],
];

async function start(way: Way, options: TurnOptions = {}) {
  const memory = database.memory();
  const model = answering();
  return { memory, model, graph: await agentIn(way, { memory, model, ...options }) };
}

const ids = (user_id: string, thread_id: string, more = {}) => ({
  configurable: { thread_id, user_id, ...more },
});
const evil = "I work for Evil Corp.";
const shownTo = (model: ScriptedChatModel) =>
  model.calls.map(({ messages }) => lines(messages as BaseMessage[]).join("\n")).join("\n\n");
const everything = async () => {
  const { rows } = await database.pool.query(`select content from "${database.schema}".message`);
  return rows.map(({ content }: { content: string }) => content).join("\n");
};

describe.each(cases)("%s %j on memory's checkpointer", (way, options) => {
  it("A refused run leaves nothing that the owner's next turn reads", async () => {
    const { model, graph, memory } = await start(way, options);
    const thread = randomUUID();
    await say(graph, "hello", ids("ana", thread));
    for (const stranger of [ids("eve", thread), ids("ana", thread, { app_id: "other" })])
      await expect(say(graph, evil, stranger)).rejects.toMatchObject({ code: "THREAD_FORBIDDEN" });
    const message = (id: string, content: string) => ({
      messages: [new HumanMessage({ id, content })],
    });
    // One of them with the id of the owner's next message.
    for (const id of ["a\u0000", `${thread}-2`])
      await expect(graph.invoke(message(id, evil), ids("eve", thread))).rejects.toMatchObject({
        code: "THREAD_FORBIDDEN",
      });
    await expect(say(graph, evil, { configurable: { thread_id: thread } })).rejects.toThrow();
    const { messages } = await graph.invoke(message(`${thread}-2`, "and now?"), ids("ana", thread));
    expect(lines(messages)).not.toContain(`human: ${evil}`);
    expect(lines(messages).filter((line) => line.startsWith("human"))).toContain("human: and now?");
    expect(shownTo(model)).not.toContain(evil);
    expect(await everything()).not.toContain(evil);
    const { gap } = await memory.recall({ scope: { userId: "ana" }, threadId: thread });
    expect(lines(gap)).toEqual(["human: hello", "ai: answer 1", "human: and now?", "ai: answer 2"]);
  });

  it.each(Object.keys(checkpointers))(
    "A thread has its owner before its first model call, and nobody takes it over meanwhile (%s)",
    async (checkpointer) => {
      const memory = database.memory();
      const thread = randomUUID();
      let during: Promise<unknown> | undefined;
      const model = new ScriptedChatModel({
        replies: async () => {
          during ??= say(graph, evil, ids("eve", thread)).then(
            () => "let in",
            (error: { code?: string }) => error.code,
          );
          expect(await during).toBe("THREAD_FORBIDDEN");
          return "answer";
        },
      });
      const graph = await agentIn(way, {
        memory,
        model,
        checkpointer: checkpointers[checkpointer]!(memory),
        ...options,
      });
      await say(graph, "hello", ids("ana", thread));
      expect(model.calls).toHaveLength(1);
      expect(await everything()).not.toContain(evil);
    },
  );
});

describe("memory.checkpointer()", () => {
  const pausing = (memory: Memory, checkpointer: BaseCheckpointSaver = memory.checkpointer()) =>
    withMemory(
      oneNode("ask", () => ({ messages: [new AIMessage(`you said ${interrupt("what?")}`)] })),
      memory,
    ).compile({ checkpointer });

  it("Only a thread's owner may read its state and history, update it, travel in time or resume it", async () => {
    const memory = database.memory();
    const graph = pausing(memory);
    const thread = randomUUID();
    const ana = ids("ana", thread);
    await say(graph, "hello", ana);
    const past = (await historyOf(graph, ana)).at(-1)!.config.configurable;
    const strangers = [
      ids("eve", thread),
      ids("ana", thread, { app_id: "other" }),
      { configurable: { thread_id: thread } },
      { configurable: { thread_id: thread, checkpoint_ns: "" } },
    ];
    for (const config of strangers) {
      const refused = { code: "THREAD_FORBIDDEN" };
      await expect(graph.getState(config)).rejects.toMatchObject(refused);
      await expect(graph.getState(config, { subgraphs: true })).rejects.toMatchObject(refused);
      await expect(graph.getStateHistory(config).next()).rejects.toMatchObject(refused);
      await expect(
        graph.updateState(config, { messages: [new HumanMessage(evil)] }),
      ).rejects.toMatchObject(refused);
      await expect(graph.invoke(new Command({ resume: evil }), config)).rejects.toMatchObject(
        refused,
      );
      await expect(say(graph, evil, config)).rejects.toThrow();
      const travel = { configurable: { ...past, user_id: "eve", ...config.configurable } };
      if (config !== strangers[3]) await expect(graph.invoke(null, travel)).rejects.toThrow();
    }
    await expect(memory.checkpointer().deleteThread(thread)).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
      message: expect.stringContaining("deleteThread(threadId, { userId"),
    });
    expect((await graph.getState(ana, { subgraphs: true })).tasks).toHaveLength(1);
    const { messages } = await graph.invoke(new Command({ resume: "yes" }), ana);
    expect(lines(messages)).toEqual(["human: hello", "ai: you said yes"]);
    expect(await everything()).not.toContain(evil);
  });

  it("The configs that the checkpointer returns can be run unchanged", async () => {
    const graph = pausing(database.memory());
    const ana = ids("ana", randomUUID(), { tenant_id: "acme" });
    await say(graph, "hello", ana);
    const { config } = await graph.getState(ana);
    expect(config.configurable).toMatchObject(ana.configurable);
    const { messages } = await graph.invoke(new Command({ resume: "yes" }), config);
    expect(lines(messages)).toEqual(["human: hello", "ai: you said yes"]);
  });

  it("A thread that many users claim at once goes to one of them", async () => {
    const memory = database.memory();
    const thread = randomUUID();
    const graph = withMemory(chatAgent(answering()), memory).compile({
      checkpointer: memory.checkpointer(),
    });
    const users = Array.from({ length: 20 }, (_, index) =>
      ids(`user ${index} of ${thread}`, thread),
    );
    const runs = users.map((config) => say(graph, `from ${config.configurable.user_id}`, config));
    const ended = await Promise.allSettled(runs);
    const winners = users.filter((_, index) => ended[index]?.status === "fulfilled");
    expect(winners).toHaveLength(1);
    const reasons = ended.flatMap((end) => (end.status === "rejected" ? [end.reason.code] : []));
    expect(new Set(reasons)).toEqual(new Set(["THREAD_FORBIDDEN"]));
    const { values } = await graph.getState(winners[0]!);
    expect(lines(values.messages)[0]).toBe(`human: from ${winners[0]!.configurable.user_id}`);
    expect(values.messages).toHaveLength(2);
  });

  it("A thread id that an anonymous run has used starts a new thread for a user", async () => {
    const memory = database.memory();
    const thread = randomUUID();
    const plain = chatAgent(answering());
    plain.checkpointer = memory.checkpointer();
    const anonymous = { configurable: { thread_id: thread } };
    await say(plain, evil, anonymous);
    const model = answering();
    const graph = withMemory(chatAgent(model), memory).compile({
      checkpointer: memory.checkpointer(),
    });
    await say(graph, "hello", ids("ana", thread));
    expect(shownTo(model)).not.toContain(evil);
    expect(lines((await plain.getState(anonymous)).values.messages)[0]).toBe(`human: ${evil}`);
  });

  it.each([
    ["without", {}],
    ["with", { tenant_id: "acme" }],
  ])(
    "The checkpointer reads what PostgresSaver has written before, %s a tenant",
    async (_, tenant) => {
      const memory = database.memory();
      const before = new PostgresSaver(database.pool, undefined, { schema: database.schema });
      const agent = chatAgent(answering());
      const thread = randomUUID();
      agent.checkpointer = before;
      await say(agent, "long ago", { configurable: { thread_id: thread } });
      const model = answering();
      const graph = withMemory(chatAgent(model), memory).compile({
        checkpointer: memory.checkpointer(),
      });
      const ana = ids("ana", thread, tenant);
      expect(lines((await graph.getState(ana)).values.messages)[0]).toBe("human: long ago");
      await say(graph, "now", ana);
      expect(lines(model.calls[0]!.messages as BaseMessage[])).toEqual([
        "human: long ago",
        "ai: answer 1",
        "human: now",
      ]);
    },
  );
});
