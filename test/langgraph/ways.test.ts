import { tool } from "@langchain/core/tools";
import { Command, interrupt } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { TurnOptions } from "../../src/langgraph/run/node-options.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { answering, lines, newThread, say, summarizing, transcript } from "./conversation.js";
import { agentIn, shownIn, ways } from "./ways.js";

const database = useTestDatabase();
const looks = (...places: string[]) => ({
  toolCalls: places.map((at) => ({ name: "look", args: { at } })),
});

const sessions: Record<string, TurnOptions & { checkpointer?: null }> = {
  full: {},
  bounded: { session: "bounded" },
  stateless: { checkpointer: null },
};

describe.each(ways)("an agent that has memory by %s", (way) => {
  it.each(Object.keys(sessions))(
    "An agent is shown the summary and later messages (%s), and the transcript keeps all",
    async (session) => {
      const config = { summaries: { keepRecentMessages: 0 } };
      const memory = database.memory({ model: summarizing(), config });
      const model = answering();
      const graph = await agentIn(way, {
        memory,
        model,
        injectAs: "system",
        ...sessions[session],
      });
      const thread = newThread();
      for (const round of [1, 2, 3]) await say(graph, `question ${round}`, thread);
      const { messages, ...others } = await say(graph, "question 4", thread);
      const earlier = [1, 2].flatMap((round) => [
        `human: question ${round}`,
        `ai: answer ${round}`,
      ]);
      expect(shownIn(model.calls[2])).toEqual([...earlier, "human: question 3"]);
      const summary = expect.stringContaining("summary 1");
      expect(shownIn(model.calls[3])).toEqual([summary, "human: question 4"]);
      expect(lines(messages.slice(-2))).toEqual(["human: question 4", "ai: answer 4"]);
      expect(messages).toHaveLength(session === "full" ? 8 : 2);
      expect(JSON.stringify(others)).toBe("{}");
      expect(await transcript(database, thread)).toHaveLength(8);
      if (session === "stateless") return;
      const { values } = await graph.getState(thread);
      expect(Object.keys(values)).toEqual(["messages"]);
    },
  );

  it('An agent with durability "exit" leaves one checkpoint a turn, and resumes after an interrupt', async () => {
    const thread = { ...newThread(), durability: "exit" };
    const checkpoints = async (): Promise<number> => {
      const query = `select count(*)::int from "${database.schema}".checkpoints where thread_id = $1`;
      return (await database.pool.query(query, [thread.configurable.thread_id])).rows[0].count;
    };
    const found: number[] = [];
    const replies = async (_: unknown, call: number) => {
      found.push(await checkpoints());
      return call === 1 ? looks("sea") : `answer ${call}`;
    };
    const asking = tool(() => interrupt("sure?"), {
      name: "look",
      schema: z.object({ at: z.string() }),
    });
    const model = new ScriptedChatModel({ replies });
    // As in another process for each turn.
    const graph = () => agentIn(way, { memory: database.memory(), model, tools: [asking] });
    await say(await graph(), "question 1", thread);
    const asked = await say(await graph(), "question 2", thread);
    expect(asked).toMatchObject({ __interrupt__: [{ value: "sure?" }] });
    await (await graph()).invoke(new Command({ resume: "yes" }), thread);
    await say(await graph(), "question 3", thread);
    // A pause within the agent's own graph leaves one there.
    const inner = way === "withMemory" || way === "supervisor" ? 1 : 0;
    expect([...found, await checkpoints()]).toEqual([0, 1, 2 + inner, 3 + inner, 4 + inner]);
    const answered = ["question 2", expect.any(String), "yes", "answer 2"];
    const all = ["question 1", "answer 0", ...answered, "question 3", "answer 3"];
    expect(await transcript(database, thread)).toEqual(all);
  });
});
