import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import type { Memory, MemoryDraft } from "../../src/index.js";
import {
  consentNode,
  consentTool,
  memoryMiddleware,
  modelView,
  withMemory,
} from "../../src/index.js";
import { OfflineChatModel, ScriptedChatModel } from "../../src/testing/index.js";
import {
  addressOf,
  agentWithMemory,
  newThread,
  say,
  toolAgent,
  userOf,
  valuesOf,
} from "../langgraph/conversation.js";
import { recordingLogger } from "../support/recording-logger.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { openThread } from "../support/thread-facts.js";

const db = useTestDatabase();
const extract = { memories: { extract: true } };
type Thread = ReturnType<typeof newThread>;

const known = async (memory: Memory, thread: Thread) => (await valuesOf(memory, thread)).toSorted();
const waiting = async (memory: Memory, thread: Thread) =>
  (await memory.consents.list(userOf(thread))).map(({ value }) => value).toSorted();
const remembering = (config = {}) =>
  db.memory({ model: new OfflineChatModel(), config: { ...extract, ...config } });
/** All that a model was given last. */
const promptOf = ({ calls }: ScriptedChatModel) =>
  (calls.at(-1)?.messages ?? []).map(({ text }) => text).join("\n");
const city = { category: "profile", key: "city", value: "Porto", text: "The user lives in Porto." };
const goal = { category: "goals", text: "The user wants to run a marathon." };
/** As a program brings what it heard the user say of themselves. */
const stated = (draft: MemoryDraft, quote: string) => ({
  ...draft,
  origin: "user" as const,
  source: { threadId: "t", seqs: [0], quote },
});
const porto = "I live in Porto.";
const introduction = "My name is Cleo. I live in Porto.";

describe("consent where nobody can ask the user", () => {
  it("The user's own statement is stored with its quote as consent", async () => {
    const { memory, model, graph, thread } = agentWithMemory(remembering());
    await say(graph, introduction, thread);
    expect(await known(memory, thread)).toEqual(["Cleo", "Porto"]);
    expect(await waiting(memory, thread)).toEqual([]);
    const { scope, threadId } = addressOf(thread);
    const [city] = (await memory.memories.list({ scope })).filter(({ key }) => key === "city");
    const trail = await memory.memories.history({ scope, id: city!.id });
    expect(trail.find(({ event }) => event === "CONSENT")?.new).toMatchObject({
      decision: "approve",
      via: "said",
      key: "city",
      value: "Porto",
      evidence: { quote: "I live in Porto", threadId },
    });
    expect(city).toMatchObject({ origin: "user", source: { quote: "I live in Porto" } });
    await say(graph, "I just moved to Lisbon.", thread);
    expect(await known(memory, thread)).toEqual(["Cleo", "Lisbon"]);
    await say(graph, "And now?", thread);
    expect(promptOf(model)).toContain("↑updated: [Profile] The user lives in Lisbon.");
    expect(promptOf(model)).not.toContain("Consent");
  });

  it("An inferred sensitive field waits for an operator and is in no prompt", async () => {
    // A quote is read with the sentence that it stands in.
    const said = [
      ["Cleo texted me about the weather in Porto.", "Porto"],
      ["If I live in Porto, do I pay less?", "Porto"],
      ["Pretend that I live in Porto.", "I live in Porto"],
    ] as const;
    for (const [message, quote] of said) {
      const city = candidate("The user lives in Porto.", quote, {
        category: "profile",
        key: "city",
        value: "Porto",
        stated_by_user: false,
      });
      const model = taskModel({ fact_extraction: () => facts(city) });
      const {
        memory,
        model: agent,
        graph,
        thread,
      } = agentWithMemory(db.memory({ model, config: extract }));
      await say(graph, message, thread);
      expect([await known(memory, thread), await waiting(memory, thread)]).toEqual([[], ["Porto"]]);
      await say(graph, "Hello?", thread);
      expect(promptOf(agent)).not.toMatch(/Consent|city: Porto/);
    }
  });

  it("A later statement of a refused value is not stored", async () => {
    const { memory, scope } = openThread(db);
    for (const draft of [city, goal]) {
      const [request] = await memory.memories.add({ scope, memories: draft });
      await memory.consents.decide({
        scope,
        id: request!.consentId!,
        decision: "refuse",
        actor: "user",
      });
      const [later] = await memory.memories.add({ scope, memories: stated(draft, porto) });
      expect(later?.outcome).toBe("refused");
    }
    expect(await memory.memories.list({ scope })).toEqual([]);
    const lisbon = { ...city, value: "Lisbon", text: "The user lives in Lisbon." };
    const [later] = await memory.memories.add({
      scope,
      memories: stated(lisbon, "I live in Lisbon."),
    });
    expect(later?.outcome).toBe("created");
  });
});

describe("consent where somebody asks the user", () => {
  it.each(["interrupt", "tool", "queue"] as const)(
    "With consent.ask %s every sensitive field waits, also one that another process extracts",
    async (ask) => {
      const config = { consent: { ask } };
      const { memory, graph, thread } = agentWithMemory(remembering(config));
      await say(graph, introduction, thread);
      const all = ["Cleo", "Porto"];
      expect([await known(memory, thread), await waiting(memory, thread)]).toEqual([[], all]);
      await db
        .memory({ config })
        .remember({ ...addressOf(thread), messages: [new HumanMessage("I live in Porto.")] });
      const later = remembering(config);
      await later.upkeep();
      await later.idle();
      expect([await known(later, thread), await waiting(later, thread)]).toEqual([[], all]);
    },
  );

  it("Only an agent that can decide consent requests is shown the pending ones", async () => {
    for (const ask of ["said", "interrupt", "tool", "queue"] as const) {
      const memory = db.memory({ config: { consent: { ask } } });
      const thread = newThread();
      const address = addressOf(thread);
      await memory.memories.add({ ...address, memories: city });
      const [block] = modelView([new HumanMessage("Hi")], await memory.recall(address));
      const model = new ScriptedChatModel({ replies: () => "ok" });
      const agent = createAgent({ model, tools: [], middleware: [memoryMiddleware(memory)] });
      await agent.invoke({ messages: [new HumanMessage("Hi")] }, thread);
      for (const text of [block?.text, promptOf(model)]) {
        if (ask === "tool")
          expect(text).toMatch(/Waiting for the User's Consent[\s\S]+: city: Porto/);
        else expect(text).not.toContain("Porto");
      }
    }
  });
});

describe("decisions by field and origin", () => {
  it.each<[ask: "said" | "queue", draft: MemoryDraft, outcomes: string[]]>([
    ["said", stated(city, porto), ["created"]],
    ["said", { ...city, origin: "user" }, ["proposed"]],
    ["said", stated(city, " "), ["proposed"]],
    ["said", { ...city, origin: "worker" }, ["proposed", "proposed"]],
    ["said", { ...stated(city, porto), origin: "tool" }, ["proposed"]],
    ["said", { ...city, origin: "operator" }, ["proposed"]],
    ["queue", stated(city, porto), ["proposed", "proposed"]],
    ["said", stated(goal, "A marathon it is!"), ["created"]],
    ["queue", stated(goal, "A marathon it is!"), ["created"]],
    ["said", { ...goal, origin: "user" }, ["proposed", "created"]],
    ["queue", goal, ["proposed", "created"]],
    ["said", { ...goal, origin: "operator" }, ["created"]],
    ["said", { ...goal, kind: "insight", confidence: 0.79 }, ["proposed", "created"]],
    ["said", { ...goal, kind: "insight", confidence: 0.8 }, ["created"]],
    // Another key, and the same words without one, are no sensitive field.
    ["said", { ...city, key: "home_city" }, ["created"]],
    ["said", { text: city.text }, ["created"]],
    ["said", { ...city, category: "tasks" }, ["created"]],
  ])("With consent.ask %s, adding %j ends as %j", async (ask, draft, outcomes) => {
    const { memory, scope } = openThread(db, { config: { consent: { ask } } });
    for (const outcome of outcomes)
      expect(await memory.memories.add({ scope, memories: draft })).toMatchObject([{ outcome }]);
  });

  it("A user's statement approves an inferred equal value and supersedes a different one", async () => {
    const { memory, scope } = openThread(db);
    await memory.memories.add({
      scope,
      memories: [goal, { ...city, value: "Rome", text: "The user lives in Rome." }],
    });
    await memory.memories.add({
      scope,
      memories: [stated(goal, "I'll run a marathon!"), stated(city, porto)],
    });
    const settled = await memory.consents.list({
      scope,
      status: ["approved", "superseded", "pending"],
    });
    expect(
      settled.map(({ category, status, evidence }) => [category, status, evidence?.quote]),
    ).toEqual([
      ["profile", "superseded", undefined],
      ["goals", "approved", "I'll run a marathon!"],
    ]);
  });
});

describe("the log of waiting changes", () => {
  const tool = (memory: Memory) => consentTool(memory);
  const node = (memory: Memory) => consentNode(memory);
  const wrapped = (memory: Memory) => withMemory(toolAgent([], []).agent, memory);
  it.each<
    [
      ask: "said" | "queue" | "tool" | "interrupt",
      made: ((memory: Memory) => unknown) | null,
      by: string,
    ]
  >([
    ["said", null, "memory.consents.decide"],
    ["queue", null, "memory.consents.decide"],
    ["tool", null, "consentTool(memory)"],
    ["tool", tool, ""],
    ["interrupt", null, "consentNode(memory)"],
    ["interrupt", tool, "withMemory(agent, memory)"],
    ["interrupt", node, ""],
    ["interrupt", wrapped, ""],
    ["said", node, ""],
  ])(
    "A sensitive change that waits is logged once if nothing in the program asks the user (%s, %s)",
    async (ask, made, by) => {
      const logger = recordingLogger();
      const memory = db.memory({ logger, config: { consent: { ask } } });
      made?.(memory);
      const told = (field: string) =>
        logger.lines.filter((line) => line.includes(`of ${field} waits`));
      const users = [randomUUID(), randomUUID()];
      for (const userId of users)
        await memory.memories.add({ scope: { userId }, memories: [city, goal, city] });
      expect(told("profile/city")).toHaveLength(by === "" ? 0 : 1);
      expect(told("profile/city").join()).toContain(by);
      // A benign field waits for a second signal: nobody is asked about it.
      expect(told("goals")).toEqual([
        expect.stringMatching(/^warn: .+ second signal.+ memory\.consents\.decide/),
      ]);
      expect(logger.lines.join()).not.toMatch(/Porto|marathon/);
    },
  );

  it("A change that is approved in the same call, or was stated, is not logged as waiting", async () => {
    const logger = recordingLogger();
    const { memory, scope } = openThread(db, { logger });
    const from = (seq: number) => ({ ...goal, source: { threadId: "t", seqs: [seq] } });
    await memory.memories.add({ scope, memories: [from(0), from(2), stated(city, porto)] });
    expect([logger.lines, (await memory.memories.list({ scope })).length]).toEqual([[], 2]);
  });
});
