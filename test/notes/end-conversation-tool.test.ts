import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import { endConversationTool, memoryMiddleware, withMemory } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { taskOf } from "../support/thread-facts.js";
import { noteModel, notesOf, openTalk, silence } from "./note-model.js";

const db = useTestDatabase();

/** An agent that ends the conversation when the user says goodbye. */
const chat = () =>
  new ScriptedChatModel({
    replies: (messages) => {
      const last = messages.at(-1);
      if (last?.getType() === "tool") return "Goodbye, and enjoy the concert!";
      if (!/bye/i.test(last?.text ?? "")) return "Two tickets are booked.";
      return {
        toolCalls: [{ name: "end_conversation", args: { reason: "The user said goodbye." } }],
      };
    },
  });

const agent = (memory: Memory) =>
  createAgent({ model: chat(), tools: [endConversationTool(memory)] }) as never;

const ways: readonly [string, (memory: Memory) => unknown][] = [
  [
    "withMemory",
    (memory) => withMemory(agent(memory), memory).compile({ checkpointer: memory.checkpointer() }),
  ],
  ["withMemory, without a checkpointer", (memory) => withMemory(agent(memory), memory).compile()],
  [
    "the middleware, with a saver of its own",
    (memory) =>
      createAgent({
        model: chat(),
        tools: [endConversationTool(memory)],
        middleware: [memoryMiddleware(memory)],
        checkpointer: new MemorySaver(),
      }),
  ],
];

describe.each(ways)("end_conversation in %s", (_, make) => {
  it("The end_conversation tool makes one note of the whole conversation and ends it", async () => {
    const model = noteModel();
    const {
      memory,
      talk: { scope, threadId },
    } = openTalk(db, { model });
    const graph = make(memory) as {
      invoke(input: object, config: object): Promise<{ messages: AIMessage[] }>;
    };
    const run = {
      configurable: { thread_id: threadId, user_id: scope.userId, app_id: scope.appId },
    };
    await graph.invoke({ messages: [new HumanMessage("Two tickets for Friday, please.")] }, run);
    const { messages } = await graph.invoke({ messages: [new HumanMessage("Thanks, bye!")] }, run);
    expect(messages.at(-1)?.text).toBe("Goodbye, and enjoy the concert!");

    const [thread] = await memory.threads.list({ scope });
    expect(thread).toMatchObject({
      endedReason: "The user said goodbye.",
      endedAt: expect.any(Date),
    });
    const prompts = model.prompts("app_note");
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toContain("enjoy the concert");
    expect(await notesOf(memory, { scope, threadId })).toHaveLength(1);
    expect(await taskOf(db, { scope, threadId }, "notes")).toMatchObject({
      retry_at: null,
      attempts: 0,
    });

    await graph.invoke({ messages: [new HumanMessage("One more thing: seats in front.")] }, run);
    expect((await memory.threads.list({ scope }))[0]).toMatchObject({
      endedAt: null,
      endedReason: null,
    });
    expect(model.prompts("app_note")).toHaveLength(1);
  });
});

describe("end_conversation", () => {
  it("The end_conversation tool ends a conversation in its first turn too", async () => {
    const {
      memory,
      talk: { scope, threadId },
    } = openTalk(db, { model: noteModel() });
    const graph = withMemory(agent(memory), memory).compile() as never as {
      invoke(input: object, config: object): Promise<unknown>;
    };
    const run = {
      configurable: { thread_id: threadId, user_id: scope.userId, app_id: scope.appId },
    };
    await graph.invoke({ messages: [new HumanMessage("Wrong number, bye!")] }, run);
    const [thread] = await memory.threads.list({ scope });
    expect(thread).toMatchObject({ messages: 4, endedReason: "The user said goodbye." });
  });

  it("A conversation that the tool ended is noted after a while if its turn is never recorded", async () => {
    const model = noteModel();
    const { memory, talk } = openTalk(db, { model });
    await memory.remember({ ...talk, messages: [new HumanMessage("Two tickets for Friday.")] });
    await memory.threads.end({ ...talk, afterTurn: true });
    await memory.upkeep();
    expect(model.prompts("app_note")).toEqual([]);
    const { schema, pool } = db;
    await pool.query(`update "${schema}".thread set closing_until = now() where thread_id = $1`, [
      talk.threadId,
    ]);
    await silence(db, talk, 86_400_000);
    await memory.upkeep();
    expect(await notesOf(memory, talk)).toHaveLength(1);
    await memory.remember({ ...talk, messages: [new AIMessage("And seats in front.")] });
    const [thread] = await memory.threads.list({ scope: talk.scope });
    expect(thread?.endedAt).toBeNull();
  });
});
