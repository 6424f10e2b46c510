import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { createAgent, createMiddleware, summarizationMiddleware } from "langchain";
import { describe, expect, it } from "vitest";
import { memoryMiddleware, withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { eventsOf } from "../support/thread-facts.js";
import {
  type AnyGraph,
  addressOf,
  answering,
  converse,
  lines,
  newThread,
  saidIn,
  say,
  userOf,
} from "./conversation.js";

const db = useTestDatabase();
const vegan = candidate("The user is vegan.", "The user is vegan.");
const fromSummary = "human: Here is a summary of the conversation to date:\n\nThe user is vegan.";

function learning() {
  const model = taskModel({
    fact_extraction: (prompt) => facts(...(prompt.includes("The user is vegan.") ? [vegan] : [])),
  });
  const config = { memories: { extract: true }, summaries: { afterSeq: 1, everyMessages: 2 } };
  return { memory: db.memory({ model, config }), model };
}

const summarization = () =>
  summarizationMiddleware({
    model: new ScriptedChatModel({ replies: () => "The user is vegan." }),
    trigger: { messages: 5 },
    keep: { messages: 2 },
  } as never);

const startsWithAnswer = ({ messages }: { messages: BaseMessage[] }) =>
  messages.find((message) => message.getType() !== "system")?.getType() === "ai";

describe("LangChain's summarizationMiddleware", () => {
  it.each([
    ["before memory", "middleware"],
    ["after memory", "middleware"],
    ["inside withMemory", "withMemory"],
  ])(
    "The summary of summarizationMiddleware %s is shown unchanged, and memory makes no more",
    async (place, way) => {
      const { memory, model: worker } = learning();
      const model = answering();
      const own = way === "middleware" ? [memoryMiddleware(memory)] : [];
      const middleware = place.startsWith("after")
        ? [...own, summarization()]
        : [summarization(), ...own];
      const checkpointer = memory.checkpointer();
      const created = createAgent({ model, tools: [], middleware, checkpointer } as never);
      const agent =
        way === "middleware"
          ? created
          : withMemory(created, memory, { injectAs: "system" }).compile({ checkpointer });
      const thread = newThread();
      await converse(agent, thread, 1, 2, 3, 4, 5, 6);

      const prompts = model.calls.map(({ messages }) => lines(saidIn(messages)));
      expect(prompts[2]).toEqual([fromSummary, "ai: answer 2", "human: question 3"]);
      expect(prompts[5]).toContain(fromSummary);
      expect(prompts[5]!.at(-1)).toBe("human: question 6");
      expect(model.calls.filter(startsWithAnswer)).toEqual([]);
      const { scope, threadId } = addressOf(thread);
      const messages = await memory.threads.messages({ scope, threadId });
      expect(messages.filter(({ role }) => role === "user").map(({ text }) => text)).toEqual(
        [1, 2, 3, 4, 5, 6].map((round) => `question ${round}`),
      );
      expect(
        messages.filter(({ role }) => role === "other").map(({ text }) => `human: ${text}`),
      ).toEqual([fromSummary]);
      expect(await memory.memories.list({ scope, kinds: ["fact"] })).toEqual([]);
      // Of the two turns before LangChain's summary.
      expect(worker.prompts("conversation_summary")).toHaveLength(2);
      const events = (await eventsOf(db, { scope, threadId }, "summaries")).filter((event) =>
        event.includes("others"),
      );
      expect(events).toEqual(["create skipped others_summary"]);
    },
  );
});

describe("messages of other middleware", () => {
  const reminder = "<system-reminder>\nThe user is vegan.\n</system-reminder>";
  const inserted = { additional_kwargs: { lc_source: "planner" } };
  it.each([
    ["any lc_source", new HumanMessage({ content: "The user is vegan.", ...inserted }), "other", 0],
    [
      "an answer with lc_source",
      new AIMessage({ content: "The user is vegan.", ...inserted }),
      "other",
      0,
    ],
    ["a reminder", new HumanMessage(reminder), "other", 0],
    ["two reminders", new HumanMessage(`${reminder}\n${reminder}`), "other", 0],
    [
      "a reminder in another",
      new HumanMessage(`<system-reminder>A ${reminder} B</system-reminder>`),
      "other",
      0,
    ],
    [
      "a reminder in parts",
      new HumanMessage({ content: [{ type: "text", text: reminder }] }),
      "other",
      0,
    ],
    [
      "the user's words beside a reminder",
      new HumanMessage(`${reminder}\nI like tea a lot.`),
      "user",
      0,
    ],
    [
      "a reminder that does not end",
      new HumanMessage("<system-reminder>\nThe user is vegan."),
      "user",
      1,
    ],
    [
      "a user's words about one",
      new HumanMessage("The user is vegan. </system-reminder>"),
      "user",
      1,
    ],
  ])(
    "Only the user's own words are recorded as the user's: %s",
    async (_, message, role, learned) => {
      const { memory } = learning();
      const { scope, threadId } = addressOf(newThread());
      const messages = [message, new HumanMessage("I do not know."), new AIMessage("Ok.")];
      await memory.remember({ scope, threadId, messages });
      const [recorded] = await memory.threads.messages({ scope, threadId });
      expect(recorded!.role).toBe(role);
      expect(await memory.memories.list({ scope, kinds: ["fact"] })).toHaveLength(learned);
    },
  );

  it("Recall queries with the user's message, not another middleware's, and memory is put before it", async () => {
    const memory = db.memory();
    const model = answering();
    const adds = createMiddleware({
      name: "adds",
      beforeAgent: () => ({
        messages: [new HumanMessage("<system-reminder>Be brief.</system-reminder>")],
      }),
    });
    const middleware = [adds, memoryMiddleware(memory, { injectAs: "text" })] as const;
    const agent = createAgent({ model, tools: [], middleware }) as unknown as AnyGraph;
    const thread = newThread();
    await memory.memories.add({
      ...userOf(thread),
      memories: { category: "knowledge", text: "The user plays the cello.", origin: "user" },
    });
    await say(agent, "Which instrument? Cello?", thread);
    expect(lines(model.calls[0]!.messages)).toEqual([
      expect.stringMatching(
        /^human: <memory>[\s\S]*cello\.\n\nToday is .*\n<\/memory>\n\nWhich instrument\? Cello\?$/,
      ),
      "human: <system-reminder>Be brief.</system-reminder>",
    ]);
  });
});
