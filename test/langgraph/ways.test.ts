import { randomUUID } from "node:crypto";
import { tool } from "@langchain/core/tools";
import { Command, interrupt } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryQueryTool, transcriptSearchTool, withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type AnyGraph,
  addressOf,
  agentWithMemory,
  answering,
  converse,
  knownThread,
  lines,
  newThread,
  rounds,
  saidIn,
  say,
  summarizing,
  toolAgent,
  transcript,
  userOf,
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
      await converse(asked, thread, 1, 2, 3);
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

describe.each(ways)("passive memory by %s", (way) => {
  const start = async () => {
    const [memory, model] = [database.memory(), answering()];
    const thread = await knownThread(memory);
    const graph = await agentIn(way, { memory, model, memoryMode: "passive" });
    await say(graph, "What do I like?", thread);
    return { memory, thread, graph, model };
  };

  it("A passive turn records without recall, and the first turn that a run makes active reports the changes", async () => {
    const { memory, thread, graph, model } = await start();
    await memory.memories.add({
      ...userOf(thread),
      memories: { text: "The user sold a viola.", importance: 3 },
    });
    await say(graph, "What did I sell?", thread);
    for (const { messages } of model.calls)
      expect(lines(messages).join()).not.toMatch(/zanzibar|viola|<memory>/);
    expect((await memory.recall(addressOf(thread))).lastSeq).toBe(3);

    await say(graph, "And now?", {
      configurable: { ...thread.configurable, memoryMode: "active" },
    });
    const shown = lines(model.calls[2]!.messages).join();
    expect(shown).toContain("- dish: zanzibar");
    expect(shown).toMatch(
      /Memory updates since rev \d+:\n- \+created: \[Knowledge\] The user sold a viola/,
    );
  });

  it("A run with an unknown memory mode or time zone is refused, and changes nothing", async () => {
    const { memory, thread, graph } = await start();
    for (const wrong of [{ memory_mode: "asleep" }, { time_zone: "Asia/Atlantis" }]) {
      const run = say(graph, "Hm?", { configurable: { ...thread.configurable, ...wrong } });
      await expect(run).rejects.toMatchObject({ code: "INVALID_INPUT" });
    }
    expect((await memory.recall(addressOf(thread))).lastSeq).toBe(1);
  });
});

describe("a passive turn", () => {
  it("A passive turn is shown its conversation and records no search", async () => {
    const config = { summaries: { afterSeq: 1 } };
    const options = { memoryMode: "passive", session: "bounded" } as const;
    const { memory, model, graph } = agentWithMemory(
      database.memory({ model: summarizing(), config }),
      options,
    );
    const thread = await knownThread(memory);
    await converse(graph, thread, 1, 2, 3);
    const shown = lines(model.calls[2]!.messages);
    expect(shown[0]).toMatch(/summary \d/);
    expect(shown.at(-1)).toBe("human: question 3");
    const { scope } = addressOf(thread);
    expect((await memory.events.list({ scope })).filter(({ step }) => step === "recall")).toEqual(
      [],
    );
  });

  it("A passive turn stays passive when its run goes on from an interrupt", async () => {
    const memory = database.memory();
    const thread = await knownThread(memory);
    const asks = tool(() => interrupt<string, string>("Which?"), {
      name: "ask",
      schema: z.object({}),
    });
    const { agent, model } = toolAgent(
      [{ toolCalls: [{ name: "ask", args: {} }] }, "Thanks."],
      [asks],
    );
    const graph = withMemory(agent, memory, { memoryMode: "passive" }).compile({
      checkpointer: memory.checkpointer(),
    });
    await say(graph, "What do I like?", thread);
    const resumed = await graph.invoke(new Command({ resume: "this one" }), thread);
    expect([lines(resumed.messages).at(-1), model.calls.length]).toEqual(["ai: Thanks.", 2]);
    for (const { messages } of model.calls)
      expect(lines(messages).join()).not.toContain("zanzibar");
  });
});

describe.each(ways)("a run by %s", (way) => {
  const start = async (options: { checkpointer?: null } = {}) => {
    const memory = database.memory();
    const model = answering();
    return { memory, model, graph: await agentIn(way, { memory, model, ...options }) };
  };
  const run = (graph: AnyGraph, config: object) => say(graph, "hello", config);

  it.each<[string, Record<string, unknown>, string]>([
    ["without a scope", { thread_id: "t" }, "SCOPE_REQUIRED"],
    ["without a thread", { user_id: "ana" }, "INVALID_INPUT"],
    ["with a blank thread", { thread_id: " ", user_id: "ana" }, "INVALID_INPUT"],
    ["of two users", { thread_id: "t", user_id: "ana", userId: "eve" }, "SCOPE_REQUIRED"],
  ])("A run %s is refused before any model call", async (__, configurable, code) => {
    const { model, graph } = await start("thread_id" in configurable ? {} : { checkpointer: null });
    await expect(run(graph, { configurable })).rejects.toMatchObject({ name: "MemoryError", code });
    expect(model.calls).toHaveLength(0);
  });

  it("A run belongs to the authenticated user, as a LangGraph server names it", async () => {
    const { graph, memory } = await start();
    const [ana, thread] = [randomUUID(), randomUUID()];
    const served = {
      thread_id: thread,
      user_id: ana,
      langgraph_auth_user: { identity: ana, tenant_id: "acme", permissions: [] },
      langgraph_auth_user_id: ana,
    };
    const configurable = { ...served, tenant_id: "other" };
    await expect(run(graph, { configurable })).rejects.toMatchObject({ code: "SCOPE_REQUIRED" });
    await run(graph, { configurable: served });
    expect(await memory.threads.list({ scope: { userId: ana, tenantId: "acme" } })).toMatchObject([
      { threadId: thread },
    ]);
  });
});

it.each([...ways, "retrieval.timeZone" as const])(
  "What a user in Shanghai says of yesterday is stored, found and shown as of that day, by %s",
  async (way) => {
    const background = taskModel({
      fact_extraction(prompt) {
        const [, day = ""] = /date="2026-03-0(\d), Tuesday, 07:30">I/.exec(prompt) ?? [];
        if (day === "") return facts();
        return facts(
          candidate("The user fasts.", "I began", { since: `2026-03-0${+day - 1}, Monday` }),
        );
      },
    });
    const isSetting = way === "retrieval.timeZone";
    const [ofRun, timeZone] = isSetting ? [{}, "Asia/Shanghai"] : [{ time_zone: "Asia/Shanghai" }];
    const memory = database.memory({
      model: background,
      clock: () => new Date("2026-03-02T23:30Z"),
      config: {
        memories: { extract: true },
        insights: { enabled: true },
        retrieval: { timeZone },
      },
    });
    const thread = newThread(ofRun);
    const model = answering();
    const graph = await agentIn(isSetting ? "withMemory" : way, { memory, model });
    await say(graph, "I began yesterday.", thread);
    const [message] = await memory.threads.messages(addressOf(thread));
    expect(message?.timeZone).toBe("Asia/Shanghai");
    await say(graph, "Who fasts?", newThread({ ...ofRun, user_id: thread.configurable.user_id }));
    const shown = lines(model.calls.at(-1)!.messages).join("\n");
    expect(shown).toContain("The user fasts. (since 2 March 2026)");

    const first = async (tool: ReturnType<typeof memoryQueryTool>, input: object) =>
      JSON.parse(await tool.invoke(input, thread))[0];
    const filters = { updated_after: "2026-03-03", updated_before: "2026-03-03T23:59" };
    const { metadata } = await first(memoryQueryTool(memory), {
      query: "fasts",
      return: "full",
      filters,
    });
    expect(metadata.validFrom).toBe("2026-03-02, Monday, 00:00");
    const heard = await first(transcriptSearchTool(memory), { query: "began yesterday" });
    expect(heard.said_at).toBe("2026-03-03, Tuesday, 07:30");
    await memory.upkeep();
    expect(background.prompts("user_insights")[0]).toContain('date="2026-03-02">The user fasts.');
  },
);
