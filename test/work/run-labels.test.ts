import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { memoryQueryTool, withMemory } from "../../src/index.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const config = {
  memories: { extract: true, episodes: true, episodeEveryTurns: 2, episodeKeepShare: 0 },
};

/** A chat with memory. */
function chat(agent?: string) {
  const memory = db.memory({ model: new OfflineChatModel(), config });
  const inner = new StateGraph(MessagesAnnotation)
    .addNode("model", async () => ({ messages: [{ role: "assistant", content: "I see." }] }))
    .addEdge(START, "model")
    .compile();
  const graph = withMemory(inner, memory, { agent }).compile({
    checkpointer: memory.checkpointer(),
  });
  const [userId, threadId] = [randomUUID(), randomUUID()];
  const say = (text: string, run: object) => {
    const configurable = { thread_id: threadId, user_id: userId, ...run };
    return graph.invoke({ messages: [new HumanMessage(text)] }, { configurable });
  };
  return { memory, say, scope: { userId }, threadId };
}

describe("a memory learned in a run", () => {
  it("A memory carries the agent and the run that it was learned in, and is found by them", async () => {
    const { memory, say, scope, threadId } = chat("travel");
    await say("I love sailing boats.", { run_id: "run-1" });
    await say("I love mountain huts.", { run_id: "run-2" });
    const facts = await memory.memories.list({ scope, kinds: ["fact"] });
    const labels = facts.map(({ agentId, runId, source }) => [agentId, runId, source?.threadId]);
    expect(labels).toEqual([
      ["travel", "run-2", threadId],
      ["travel", "run-1", threadId],
    ]);
    const query = "sailing boats and mountain huts";
    const found = async (filters: object) =>
      (await memory.query({ scope, query, filters })).map(({ memory: hit }) => hit.runId);
    expect(await found({ run_id: "run-1" })).toEqual(["run-1"]);
    expect((await found({ agent_id: "travel", category: "interests" })).length).toBeLessThanOrEqual(
      2,
    );
    expect(await found({ agent_id: "stylist" })).toEqual([]);
    // An episode of several runs has no run, but an agent.
    const [episode] = await memory.memories.list({ scope, kinds: ["episode"] });
    expect(episode).toMatchObject({ agentId: "travel", runId: null });
  });

  it("A memory takes its labels from the run where the program names no agent, and none from elsewhere", async () => {
    const { memory, say, scope } = chat();
    await say("I love sailing boats.", { agent_id: "guide", runId: "r1" });
    await say("I love mountain huts.", { agent_id: 7, run_id: " " });
    const facts = await memory.memories.list({ scope, kinds: ["fact"] });
    expect(facts.map(({ agentId, runId }) => [agentId, runId])).toEqual([
      [null, null],
      ["guide", "r1"],
    ]);
  });

  it("Events are found by the thread, agent and run of what they report", async () => {
    const { memory, say, scope, threadId } = chat("travel");
    await say("I love sailing boats.", { run_id: "run-1" });
    await say("I love sailing boats.", { run_id: "run-2" });
    const run = { configurable: { thread_id: threadId, run_id: "run-3" } };
    await memoryQueryTool(memory, { agent: "travel", scope }).invoke({ query: "boats" }, run);
    const ops = async (selection: object) =>
      new Set(
        (await memory.events.list({ scope, ...selection, limit: 1_000 })).map(
          ({ step, op }) => `${step} ${op}`,
        ),
      );
    const first = await ops({ threadId, runId: "run-1" });
    for (const each of ["recall search", "facts search", "facts create", "facts classify"])
      expect(first).toContain(each);
    expect(await ops({ threadId, runId: "run-2" })).toContain("facts merge");
    expect(await ops({ threadId, runId: "run-3", agentId: "travel" })).toEqual(
      new Set(["tool search"]),
    );
    expect(await ops({ threadId: "another" })).toEqual(new Set());
    const counts = await memory.events.count({ scope, threadId, agentId: "travel", by: "op" });
    expect(counts.map(({ op }) => op)).toEqual(
      expect.arrayContaining(["create", "search", "merge"]),
    );
  });

  it("An event belongs to the conversation that the program names for its change", async () => {
    const memory = db.memory();
    const access = { scope: { userId: randomUUID() }, threadId: "talk" };
    const [{ id } = { id: null }] = await memory.memories.add({
      ...access,
      memories: { text: "The user climbs." },
    });
    await memory.memories.update({ ...access, id: id ?? "", pinned: true });
    await memory.memories.remove({ scope: access.scope, id: id ?? "" });
    const events = await memory.events.list(access);
    expect(events.map(({ op }) => op).sort()).toEqual(["create", "search", "update"]);
  });
});
