import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import type { StateSchema } from "@langchain/langgraph";
import { createAgent, createMiddleware } from "langchain";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type MemoryMiddlewareOptions, memoryMiddleware } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  addressOf,
  answering,
  converse,
  lines,
  newThread,
  oneNode,
  say,
  summarizing,
} from "./conversation.js";

const database = useTestDatabase();

function agentWith(
  options: Partial<Parameters<typeof createAgent>[0]> = {},
  turn: MemoryMiddlewareOptions = {},
) {
  const config = { summaries: { afterSeq: 1, keepRecentMessages: 0 } };
  const memory = database.memory({ model: summarizing(), config });
  const model = answering();
  const agent = createAgent({
    model,
    tools: [],
    middleware: [memoryMiddleware(memory, turn)],
    ...options,
  } as never);
  return { memory, model, agent };
}

describe("memoryMiddleware", () => {
  it("A block that is injected as system ends the system message, whose parts memoryMiddleware keeps", async () => {
    const block = expect.stringContaining("# Recent Conversation");
    const cached = {
      type: "text" as const,
      text: "Be kind.",
      cache_control: { type: "ephemeral" },
    };
    for (const [systemPrompt, shown] of [
      [undefined, block],
      [new SystemMessage({ content: [cached] }), [cached, { type: "text", text: block }]],
    ] as const) {
      const { agent, model } = agentWith(systemPrompt && { systemPrompt }, { injectAs: "system" });
      const thread = newThread();
      await converse(agent, thread, 1, 2);
      expect(model.calls[1]!.messages[0]!.content).toEqual(shown);
    }
  });

  it("Other middleware sees the agent's own messages beside memoryMiddleware", async () => {
    const seen: string[][] = [];
    const watcher = createMiddleware({
      name: "watcher",
      stateSchema: z.object({ rounds: z.number().default(0) }),
      beforeModel: (state) => {
        seen.push(lines(state.messages));
        return { rounds: state.rounds + 1 };
      },
    });
    const memory = database.memory();
    const agent = createAgent({
      model: answering(),
      tools: [],
      middleware: [memoryMiddleware(memory), watcher],
      checkpointer: memory.checkpointer(),
    });
    const thread = newThread();
    await say(agent, "question 1", thread);
    const result = await agent.invoke({ messages: [new HumanMessage("question 2")] }, thread);
    expectTypeOf(result.rounds).toBeNumber();
    expectTypeOf(result).not.toHaveProperty("mnemograph");
    expect([result.rounds, seen[1]]).toEqual([
      2,
      ["human: question 1", "ai: answer 1", "human: question 2"],
    ]);
  });

  it("memoryMiddleware is drawn as two nodes of the agent", async () =>
    expect(Object.keys((await agentWith().agent.graph.getGraphAsync()).nodes)).toEqual(
      expect.arrayContaining(["memory.before_agent", "model_request", "memory.after_agent"]),
    ));

  it("memoryMiddleware keeps the JSON schema of the agent's messages", () => {
    const descriptions = [agentWith(), agentWith({ middleware: [] })].map(({ agent }) => {
      const { _inputRuntimeDefinition, _outputRuntimeDefinition } = (
        agent.graph as never as { builder: Record<string, unknown> }
      ).builder;
      const [input, output] = [
        _inputRuntimeDefinition,
        _outputRuntimeDefinition,
      ] as StateSchema<never>[];
      return [input!.getInputJsonSchema(), output!.getJsonSchema()];
    });
    expect(descriptions[0]).toMatchObject(descriptions[1]!);
  });

  it.each(["in many runs", "within one run"])(
    "memoryMiddleware keeps concurrent threads apart %s",
    async (how) => {
      const model = new ScriptedChatModel({
        replies: (messages) => `you said ${messages.at(-1)!.text}`,
      });
      const { agent, memory } = agentWith({ model });
      const threads = Array.from({ length: 6 }, (_, index) => ({
        name: `name-${index}`,
        thread: newThread(),
      }));
      await Promise.all(threads.map(({ name, thread }) => say(agent, name, thread)));
      const before = await Promise.all(
        threads.map(({ thread }) => memory.recall(addressOf(thread))),
      );
      const again = () =>
        Promise.all(threads.map(({ name, thread }) => say(agent, `again ${name}`, thread)));
      if (how === "in many runs") await again();
      else {
        const talking = async () => {
          await again();
          return {};
        };
        const all = oneNode("all", talking);
        await all.invoke({ messages: [] });
      }
      for (const [index, { name }] of threads.entries())
        expect(
          lines(
            model.calls.find(({ messages }) => messages.at(-1)!.text === `again ${name}`)!.messages,
          ),
        ).toEqual([expect.stringContaining(before[index]!.summary!.text), `human: again ${name}`]);
    },
  );
});
