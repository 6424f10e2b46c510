import { AIMessage, type BaseMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";
import {
  addressOf,
  agentWithMemory,
  answering,
  lines,
  newThread,
  rounds,
  saidIn,
  say,
  summarizing,
} from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const database = useTestDatabase();

const brought: Record<string, BaseMessage[]> = {
  nothing: [],
  "a system reminder": [new SystemMessage("Remind them.")],
  "an assistant's message": [new AIMessage("By the way …")],
};

const cases = ways.flatMap((way) =>
  (["full", "bounded", "stateless"] as const).flatMap((session) =>
    (["message", "system", "text"] as const).map((injectAs) => [way, session, injectAs] as const),
  ),
);

describe("a run without a user message", () => {
  it.each(cases)(
    "Memory by %s in a %s session as %s shows the last turn to a run without a user message",
    async (way, session, injectAs) => {
      const memory = database.memory({
        model: summarizing(),
        config: { summaries: { afterSeq: 1, keepRecentMessages: 0 } },
      });
      const model = answering();
      const kept = session === "stateless" ? { checkpointer: null } : { session };
      const graph = await agentIn(way, { memory, model, injectAs, ...kept });
      for (const messages of Object.values(brought)) {
        const thread = newThread();
        for (const text of ["question 1", "question 2"]) await say(graph, text, thread);
        expect((await memory.recall(addressOf(thread))).summary).toMatchObject({
          endSeq: 3,
          startTurn: 1,
          endTurn: 2,
        });

        // An agent of `createAgent` that is to answer an answer is done.
        await graph.invoke({ messages }, thread);
        const last = model.calls.at(-1)!.messages;
        const shown = lines(saidIn(last));
        expect(shown.filter((line) => line.startsWith("human")).join()).toMatch(/question 2$/);
        expect(shown[1]).toMatch(/^ai: answer/);
        expect(lines(last).join()).toMatch(/summary \d/);
        expect(lines(last).join()).not.toContain("question 1");
        expect(shown).toHaveLength(
          2 + messages.filter((message) => message.getType() === "ai").length,
        );
      }
    },
  );

  it("A run without a user message is shown the turn of the tool result that it brings", async () => {
    const { model, graph, thread } = agentWithMemory(
      database.memory({
        model: summarizing(),
        config: { summaries: { afterSeq: 1, keepRecentMessages: 0 } },
      }),
      { session: "bounded" },
    );
    await say(graph, "question 1", thread);
    const call = new AIMessage({ content: "", tool_calls: [{ id: "c1", name: "look", args: {} }] });
    await graph.invoke(
      { messages: [call, new ToolMessage({ content: "seen", tool_call_id: "c1" })] },
      thread,
    );
    expect(lines(model.calls[1]!.messages).slice(1)).toEqual([
      ...rounds(1),
      "ai: (look)",
      "tool: seen",
    ]);
  });
});
