import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createMemorySupervisor, type Memory } from "../../src/index.js";
import { OfflineChatModel, ScriptedChatModel } from "../../src/testing/index.js";
import { delegate, shown, silentModel } from "../support/supervisor-fixture.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const say = (text: string) => ({ messages: [new HumanMessage(text)] });
const query = (args: Record<string, unknown>) => ({ toolCalls: [{ name: "memory_query", args }] });

// The supervisor's without preferences.
const allowlists = { supervisor: ["profile", "goals", "tasks"], planner: ["goals", "tasks", "projects"] };

/** Another person each time, about whom three things are known. */
async function known(memory: Memory) {
  const userId = `ana-${randomUUID()}`;
  await memory.memories.add(
    [
      { category: "tasks", text: "The release of Phoenix is due on Friday." },
      { category: "preferences", text: "The user prefers releases without a party." },
      { category: "knowledge", text: "The release of Phoenix is built with Bazel." },
    ],
    { scope: { userId } },
  );
  return userId;
}

describe("memory of a supervisor", () => {
  test.each(["configurable", "context"])(
    "each asks in its own name, about the user that the run's %s names",
    async (where) => {
      const memory = db.memory({ config: { allowlists } });
      const userId = await known(memory);
      await known(memory);
      const model = new ScriptedChatModel({
        replies: [
          query({ query: "release" }),
          { toolCalls: [delegate("planner", "Plan the release.")] },
          "Ok.",
        ],
      });
      const planner = new ScriptedChatModel({
        replies: [
          query({ query: "release", categories: ["preferences"] }),
          query({ query: "release", user_id: "ben" }),
          query({ query: "release" }),
          "the plan",
        ],
      });
      const supervisor = await createMemorySupervisor({
        ...{ memory, model },
        planner: { model: planner },
        executor: { model: silentModel() },
      });
      const graph = supervisor.compile({ checkpointer: new MemorySaver() });
      const identity = where === "context" ? { context: { userId } } : {};
      const configurable = { thread_id: randomUUID(), ...(where === "configurable" && { user_id: userId }) };

      await graph.invoke(say("Release it."), { ...identity, configurable } as never);

      const asked = shown(planner.calls[3]);
      expect(asked[2]).toBe(
        'tool: Refused: Agent "planner" may not read preferences. It may read: goals, tasks, projects, ' +
          "instructions, app_notes, procedural, relationship_dynamic.",
      );
      const hits = (text: string | undefined) =>
        (JSON.parse(text?.replace(/^tool: /, "") ?? "") as { text: string }[]).map((hit) => hit.text);
      expect(asked[4]).toMatch(/^tool: Refused: .*user_id/);
      expect(hits(asked[6])).toEqual(["[tasks] The release of Phoenix is due on Friday."]);
      const supervisorAsked = shown(model.calls[1]).filter((line) => line.startsWith("tool:"));
      expect(hits(supervisorAsked[0])).toEqual(["[tasks] The release of Phoenix is due on Friday."]);
    },
  );

  test("the supervisor is shown the categories of its allowlist, all when there are none", async () => {
    const blockOf = async (memory: Memory) => {
      const userId = await known(memory);
      const model = new ScriptedChatModel({ replies: ["Ok."] });
      const supervisor = await createMemorySupervisor({ memory, model, planner: {}, executor: {} });
      const configurable = { thread_id: randomUUID(), user_id: userId };
      await supervisor.compile().invoke(say("What about the release of Phoenix?"), { configurable });
      return shown(model.calls[0]).join("\n");
    };

    const restricted = await blockOf(db.memory({ config: { allowlists } }));
    expect(restricted).toContain("due on Friday");
    expect(restricted).not.toMatch(/party|Bazel/);
    const free = await blockOf(db.memory());
    expect(free).toMatch(/due on Friday/);
    expect(free).toMatch(/party/);
    expect(free).toMatch(/Bazel/);
  });

  test("an agent without an allowlist reads nothing, once there are any", async () => {
    const memory = db.memory({ config: { allowlists } });
    const userId = await known(memory);
    const executor = new ScriptedChatModel({ replies: [query({ query: "release" }), "Done."] });
    const supervisor = await createMemorySupervisor({
      ...{ memory, planner: {} },
      model: new ScriptedChatModel({ replies: [{ toolCalls: [delegate("executor", "Do.")] }, "Ok."] }),
      executor: { model: executor },
    });
    const configurable = { thread_id: randomUUID(), user_id: userId };

    await supervisor.compile().invoke(say("Release it."), { configurable });

    expect(shown(executor.calls[1]).at(-1)).toMatch(/^tool: No memory fits/);
  });

  test("an agent gets the tool unless it is a graph or has a tool of that name", async () => {
    const own = tool(() => "mine", { name: "memory_query", description: "Mine.", schema: z.object({}) });
    const planner = new ScriptedChatModel({ replies: ["the plan"] });
    const executor = new ScriptedChatModel({ replies: ["done"] });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("mute", () => ({ messages: [{ role: "ai", content: "read" }] }))
      .addEdge(START, "mute")
      .compile();
    const lead = new ScriptedChatModel({
      replies: [
        {
          toolCalls: ["planner", "executor", "reader"].map((name) => delegate(name, "Go.")),
        },
        "Ok.",
      ],
    });
    const supervisor = await createMemorySupervisor({
      ...{ memory: db.memory(), model: lead },
      planner: { model: planner },
      executor: { model: executor, tools: [own] },
      agents: [{ name: "reader", description: "Reads.", agent: graph }],
    });
    const configurable = { thread_id: randomUUID(), user_id: "ana" };
    const { messages } = await supervisor.compile().invoke(say("Go."), { configurable });
    expect(messages.at(-1)?.text).toBe("Ok.");
    const [leads, plans, executes] = [lead, planner, executor].map(({ calls }) =>
      (calls[0]?.tools as { name: string }[] | undefined)?.filter(({ name }) => name === own.name),
    );
    expect([leads, plans, executes].map((tools) => tools?.length)).toEqual([1, 1, 1]);
    expect(plans?.[0]).toMatchObject({ description: expect.stringContaining("long-term memory") });
    expect(executes?.[0]).toMatchObject({ description: "Mine." });
  });

  test("a stand-in that follows rules is not confused by the tool", async () => {
    const supervisor = await createMemorySupervisor({
      ...{ memory: db.memory(), model: new OfflineChatModel(), planner: {}, executor: {} },
    });
    const configurable = { thread_id: randomUUID(), user_id: `ana-${randomUUID()}` };
    const graph = supervisor.compile({ checkpointer: new MemorySaver() });
    const answerTo = async (text: string) =>
      (await graph.invoke(say(text), { configurable })).messages.at(-1)?.text;

    expect(await answerTo("Plan a walk.")).toBe("[offline stand-in] Noted: Plan a walk.");
    expect(await answerTo("My dog is Rex.")).toBe("[offline stand-in] Noted: My dog is Rex.");
    expect(await answerTo("What is my dog?")).toBe("[offline stand-in] You said: My dog is Rex.");
  });
});
