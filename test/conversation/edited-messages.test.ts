import { randomUUID } from "node:crypto";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  contextEditingMiddleware,
  createAgent,
  piiMiddleware,
  summarizationMiddleware,
} from "langchain";
import { describe, expect, it } from "vitest";
import { memoryMiddleware } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { type AnyGraph, addressOf, answering, newThread, say } from "../langgraph/conversation.js";
import { agentIn, ways } from "../langgraph/ways.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { type TestDatabase, useTestDatabase } from "../support/test-database.js";
import type { TestConfig } from "../support/test-memory.js";

const db = useTestDatabase();
const human = (id: string, content: string) => new HumanMessage({ id, content });
const cities = ["Lisbon", "Faro", "Evora"];

/** Learns the cities that it reads, and repeats them in summaries and episodes. */
function learning(config: TestConfig = {}) {
  const cityIn = (prompt: string) => cities.filter((city) => prompt.includes(city)).join(" and ");
  const model = taskModel({
    fact_extraction: (prompt) =>
      facts(
        ...cities
          .filter((city) => prompt.includes(`leave from ${city}.`))
          .map((city) => candidate(`The user leaves from ${city}.`, `I leave from ${city}.`)),
      ),
    conversation_summary: (prompt) => ({
      structured: { reasoning: "", summary: `They spoke of ${cityIn(prompt)}.` },
    }),
    episode_summary: (prompt) => ({
      structured: { reasoning: "", summary: `They talked about ${cityIn(prompt)} once.` },
    }),
  });
  const memory = db.memory({ model, config: { memories: { extract: true }, ...config } });
  return { memory, model };
}

const textsOf = (prompt: readonly BaseMessage[] = []) => prompt.map(({ text }) => text).join("\n");
const factsOf = async (memory: Memory, scope: { userId: string }, state?: "soft_deleted") =>
  (await memory.memories.list({ scope, kinds: ["fact"], ...(state && { states: [state] }) })).map(
    ({ text }) => text,
  );
const found = async (memory: Memory, scope: { userId: string }, query: string) =>
  (await memory.transcript.search({ scope, query })).map(({ text }) => text);

async function versionsOf({ pool, schema }: TestDatabase, threadId: string) {
  const { rows } = await pool.query<{ row: string }>(
    `select concat_ws(' ', m.seq, m.message_id, m.version, m.content) as row
     from "${schema}".message m join "${schema}".thread t on t.id = m.thread_ref where t.thread_id = $1 order by m.seq`,
    [threadId],
  );
  return rows.map(({ row }) => row);
}

describe("a message that was edited", () => {
  it.each(ways)("Replaces its words everywhere, in its place: %s", async (way) => {
    const { memory } = learning();
    const model = answering();
    const agent = await agentIn(way, { memory, model });
    const thread = newThread();
    const { scope, threadId } = addressOf(thread);
    await agent.invoke({ messages: [human("h1", "I leave from Lisbon.")] }, thread);
    const [lisbon] = await memory.memories.list({ scope, kinds: ["fact"] });
    await agent.invoke(
      { messages: [human("h1", "I leave from Faro."), human("h2", "When?")] },
      thread,
    );
    expect(textsOf(model.calls.at(-1)?.messages)).not.toContain("Lisbon");
    await say(agent, "Where from?", thread);

    expect(textsOf(model.calls.at(-1)?.messages)).toContain("Faro");
    expect(textsOf(model.calls.at(-1)?.messages)).not.toContain("Lisbon.");
    expect(await found(memory, scope, "Lisbon")).toEqual([]);
    expect(await found(memory, scope, "Faro")).toEqual(["I leave from Faro."]);
    expect((await versionsOf(db, threadId))[0]).toBe("0 h1 2 I leave from Faro.");
    expect(await factsOf(memory, scope)).toEqual(["The user leaves from Faro."]);
    const [closed] = await memory.memories.history(lisbon!.id, { scope });
    expect(closed).toMatchObject({ actor: "edit", new: { state: "soft_deleted" } });
    await memory.memories.restore(lisbon!.id, { scope });
    expect(await factsOf(memory, scope)).toHaveLength(2);
  });
});
