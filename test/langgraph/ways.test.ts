import { tool } from "@langchain/core/tools";
import { Command, interrupt } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  answering,
  lines,
  newThread,
  rounds,
  saidIn,
  say,
  summarizing,
  transcript,
} from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const database = useTestDatabase();
const looks = (...places: string[]) => ({
  toolCalls: places.map((at) => ({ name: "look", args: { at } })),
});

const sessions = {
  full: {},
  bounded: { session: "bounded" },
  stateless: { checkpointer: null },
} as const;
type Session = keyof typeof sessions;

describe.each(ways)("an agent that has memory by %s", (way) => {
  it.each(Object.keys(sessions) as Session[])(
    "A summarised conversation shows its last turn to a request about it, and to a run without a message (%s session)",
    async (session) => {
      const [model, thread] = [answering(), newThread()];
      /** As in another process, in which at least so many summarised messages are shown. */
      const graph = (keepRecentMessages: number) => {
        const config = { summaries: { afterSeq: 1, keepRecentMessages } };
        const memory = database.memory({ model: summarizing(), config });
        return agentIn(way, { memory, model, ...sessions[session] });
      };
      const asked = await graph(1);
      for (const text of ["question 1", "question 2", "question 3"]) await say(asked, text, thread);
      await (await graph(0)).invoke({ messages: [] }, thread);
      const [, , request, nothing] = model.calls.map(({ messages }) => lines(saidIn(messages)));
      expect(request).toEqual([...rounds(2), "human: question 3"]);
      expect(nothing).toEqual(rounds(3));
    },
  );

  it('An agent with durability "exit" leaves one checkpoint a turn, with messages alone, and resumes after an interrupt', async () => {
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
    const { messages: _, ...others } = await say(await graph(), "question 3", thread);
    expect(others).toEqual({});
    // A pause within the agent's own graph leaves one there.
    const inner = way === "withMemory" || way === "supervisor" ? 1 : 0;
    expect([...found, await checkpoints()]).toEqual([0, 1, 2 + inner, 3 + inner, 4 + inner]);
    const answered = ["question 2", expect.any(String), "yes", "answer 2"];
    const all = ["question 1", "answer 0", ...answered, "question 3", "answer 3"];
    expect(await transcript(database, thread)).toEqual(all);
  });
});
