import { randomUUID } from "node:crypto";
import { Command, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { consentNode, type Memory, type MemoryDraft, withMemory } from "../../src/index.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  addressOf,
  agentWithMemory,
  answering,
  chatAgent,
  lines,
  newThread,
  say,
  streamed,
  transcript,
  userOf,
  valuesOf,
} from "./conversation.js";

const database = useTestDatabase();
const config = { consent: { ask: "interrupt" as const } };

const slot = (key: string, value: string): MemoryDraft => ({
  category: "profile",
  key,
  value,
  importance: 4,
  text: `The user's ${key} is ${value}.`,
});
async function propose(
  memory: Memory,
  thread: ReturnType<typeof newThread>,
  ...drafts: MemoryDraft[]
) {
  const outcomes = await memory.memories.add({
    ...addressOf(thread),
    actor: "agent",
    memories: drafts,
  });
  return outcomes.map(({ consentId }) => consentId!);
}

interface Question {
  readonly proposals: { id: string; proposal: string; current: string | null }[];
  readonly problem?: string;
  readonly answer: { properties: object };
}
const questionOf = (stopped: Record<string, unknown>) =>
  (stopped.__interrupt__ as { value: Question; response_schema: object }[])[0]!;
function asking() {
  const { memory, model, graph, thread } = agentWithMemory(database.memory({ config }));
  const resume = (answer: unknown) => graph.invoke(new Command({ resume: answer }), thread);
  return { memory, model, graph, thread, resume };
}

describe("the consent node", () => {
  it("The consent node asks before the agent's turn, with a schema, and applies the answer", async () => {
    const { memory, model, graph, thread, resume } = asking();
    await memory.memories.add({
      ...addressOf(thread),
      consent: "given",
      memories: slot("city", "Rome"),
    });
    const [porto, they] = await propose(
      memory,
      thread,
      slot("city", "Porto"),
      slot("pronouns", "they"),
    );
    const stopped = await say(graph, "hello", thread);
    const { value: question, response_schema: schema } = questionOf(stopped);
    expect(question.proposals).toMatchObject([
      { id: they, proposal: "pronouns: they", current: null },
      { id: porto, proposal: "city: Porto (now: Rome)", current: "Rome" },
    ]);
    expect(question.answer.properties).toHaveProperty("decisions");
    expect(schema).toEqual(question.answer);
    expect(model.calls).toEqual([]);
    expect((await graph.getState(thread)).next).toEqual(["memory.consent"]);

    const approved = { id: porto, decision: "approve" };
    const done = await resume({ decisions: [approved, { id: they, decision: "refuse" }] });
    expect(lines(done.messages)).toEqual(["human: hello", "ai: answer 1"]);
    expect(model.calls[0]!.messages[0]!.text).toContain("city is Porto");
    expect(await valuesOf(memory, thread)).toEqual(["Porto"]);
    const decided = await memory.consents.list({
      ...userOf(thread),
      status: ["approved", "refused"],
    });
    expect(
      decided.map(({ id, status, decidedBy, decidedVia }) => [id, status, decidedBy, decidedVia]),
    ).toEqual([
      [they, "refused", thread.configurable.user_id, "interrupt"],
      [porto, "approved", thread.configurable.user_id, "interrupt"],
    ]);
    expect(lines((await say(graph, "again", thread)).messages)).toHaveLength(4);
  });

  it("The consent node asks again, with the problem, until the answer is valid", async () => {
    const { memory, graph, thread, resume } = asking();
    const [id] = await propose(memory, thread, slot("city", "Porto"));
    await say(graph, "hello", thread);
    const other = newThread();
    const [foreign] = await propose(memory, other, slot("city", "Oslo"));
    const unusable: [answer: unknown, problem: string][] = [
      ["Which city?", 'Answer "approve", "refuse" or "later"'],
      [{ decision: "yes" }, 'Answer "approve"'],
      [[{ type: "response", args: "yes please" }], 'Answer "approve"'],
      [{ decisions: [{ type: "approve" }, { type: "reject" }] }, "1 proposals and 2 decisions"],
      [{ decisions: [{ type: "edit" }] }, 'Answer "approve"'],
      [{ decisions: [{ id, decision: "approve", valeu: "Faro" }] }, 'Answer "approve"'],
      [`${"yes ".repeat(250_000)}`, 'Answer "approve"'],
      [{ decisions: [{ id, decision: "maybe" }] }, 'Answer "approve"'],
      [
        {
          decisions: [
            { id, decision: "approve" },
            { id, decision: "refuse" },
          ],
        },
        "decided twice",
      ],
      [{ decisions: [{ id: foreign, decision: "approve" }] }, `no consent request ${foreign}`],
      [{ decisions: [{ id, decision: "approve", text: "…" }] }, "The text has no words"],
    ];
    for (const [answer, problem] of unusable) {
      const { value } = questionOf(await resume(answer));
      expect(value.problem).toContain(problem);
      expect(value.proposals).toMatchObject([{ id }]);
    }
    expect(await valuesOf(memory, thread)).toEqual([]);
    const theirs = await memory.consents.list(userOf(other));
    expect(theirs).toMatchObject([{ id: foreign, status: "pending" }]);
    const done = await resume(
      JSON.stringify({ decisions: [{ id, decision: "approve", value: "Faro" }] }),
    );
    expect(lines(done.messages)).toEqual(["human: hello", "ai: answer 1"]);
    expect(await valuesOf(memory, thread)).toEqual(["Faro"]);
  });

  it.each([
    ["approve", ["Porto", "they"]],
    [true, ["Porto", "they"]],
    [{ type: "accept" }, ["Porto", "they"]],
    [
      [
        { type: "accept", args: null },
        { type: "accept", args: null },
      ],
      ["Porto", "they"],
    ],
    [{ decisions: [{ type: "reject" }, { type: "approve" }] }, ["Porto"]],
    [
      {
        decisions: [
          { type: "edit", editedAction: { name: "remember", args: { value: "she" } } },
          { type: "ignore" },
        ],
      },
      ["she"],
    ],
    [
      [{ type: "edit", args: { action: "remember", args: { value: "she" } } }, { type: "accept" }],
      ["Porto", "she"],
    ],
    ["refuse", []],
    ["later", []],
    [false, []],
    [{ decisions: [{ type: "reject", message: "not now" }, { type: "reject" }] }, []],
    ['{"decisions":[{"type":"approve"},{"type":"approve"}]}', ["Porto", "they"]],
  ] as const)("The consent node takes the answer %j", async (answer, remembered) => {
    const { memory, graph, thread, resume } = asking();
    await propose(memory, thread, slot("city", "Porto"), slot("pronouns", "they"));
    const { value } = questionOf(await say(graph, "hello", thread));
    // As LangChain's human-in-the-loop middleware asks.
    expect(value).toMatchObject({
      actionRequests: [
        {
          name: "remember",
          args: { value: "they" },
          description: expect.stringContaining("pronouns: they"),
        },
        { name: "remember", args: { value: "Porto" } },
      ],
      reviewConfigs: Array(2).fill({
        actionName: "remember",
        allowedDecisions: ["approve", "edit", "reject"],
      }),
    });
    const done = await resume(answer);
    expect(done).not.toHaveProperty("__interrupt__");
    expect((await valuesOf(memory, thread)).toSorted()).toEqual(remembered);
  });

  it("The consent node asks again a day after a proposal was put off or left undecided", async () => {
    let now = new Date();
    const { memory, graph, thread } = agentWithMemory(
      database.memory({ config, clock: () => now }),
    );
    const [porto, they] = await propose(
      memory,
      thread,
      slot("city", "Porto"),
      slot("pronouns", "they"),
    );
    await say(graph, "hello", thread);
    await graph.invoke(
      new Command({ resume: { decisions: [{ id: porto, decision: "later" }] } }),
      thread,
    );
    expect((await say(graph, "again", thread)).__interrupt__).toBeUndefined();
    expect(await memory.consents.list(userOf(thread))).toHaveLength(2);
    now = new Date(now.getTime() + 86_400_001);
    const { value } = questionOf(await say(graph, "and again", thread));
    expect(value.proposals.map(({ id }) => id)).toEqual([they, porto]);
  });

  it("A user who writes on is answered, and asked again a day later in the thread where it arose", async () => {
    let now = new Date();
    const { memory, graph, thread } = agentWithMemory(
      database.memory({ config, clock: () => now }),
    );
    const other = { configurable: { ...thread.configurable, thread_id: randomUUID() } };
    const source = { threadId: thread.configurable.thread_id, seqs: [0] };
    const arose = { ...slot("city", "Porto"), source };
    const [porto] = await propose(memory, thread, arose);
    const asks = async (text: string, where = thread) =>
      (await say(graph, text, where)).__interrupt__;
    expect(await asks("hello", other)).toBeUndefined();
    expect(await asks("hello")).toBeDefined();
    expect(await asks("I keep bees.", other)).toBeUndefined();
    const { messages } = await say(graph, "I am allergic to mustard.", thread);
    expect(lines(messages)).toEqual([
      "human: hello",
      "human: I am allergic to mustard.",
      "ai: answer 3",
    ]);
    expect(await transcript(database, thread)).toEqual([
      "hello",
      "I am allergic to mustard.",
      "answer 3",
    ]);
    expect(await valuesOf(memory, thread)).toEqual([]);
    now = new Date(now.getTime() + 86_400_001);
    expect(await asks("good morning", other)).toBeUndefined();
    const { value } = questionOf(await say(graph, "good morning", thread));
    expect(value.proposals.map(({ id }) => id)).toEqual([porto]);
    await graph.invoke(new Command({ resume: "approve" }), thread);
    expect(await valuesOf(memory, thread)).toEqual(["Porto"]);
  });

  it("An answer decides only what was asked, and the rest where some was decided elsewhere", async () => {
    const { memory, graph, thread, resume } = asking();
    const asked = [slot("city", "Porto"), slot("pronouns", "they")];
    const [porto] = await propose(memory, thread, ...asked);
    await say(graph, "hello", thread);
    const [later] = await propose(memory, thread, slot("language", "Danish"));
    const { scope } = addressOf(thread);
    await memory.consents.decide({ scope, id: porto!, decision: "refuse", actor: "cli" });
    const done = await resume("approve");
    expect(lines(done.messages)).toEqual(["human: hello", "ai: answer 1"]);
    expect(await valuesOf(memory, thread)).toEqual(["they"]);
    expect(await memory.consents.list({ scope })).toMatchObject([{ id: later }]);
  });

  it("Without a checkpointer the consent node asks nobody, logs why and continues the turn", async () => {
    const logger = recordingLogger();
    const memory = database.memory({ config, logger });
    const graph = withMemory(chatAgent(answering()), memory).compile();
    const thread = newThread();
    const [id] = await propose(memory, thread, slot("city", "Porto"));
    expect(lines((await say(graph, "hello", thread)).messages)).toEqual([
      "human: hello",
      "ai: answer 1",
    ]);
    expect(JSON.stringify(logger)).toContain("needs a checkpointer");
    expect(await memory.consents.list(userOf(thread))).toMatchObject([{ id }]);
    const strict = withMemory(chatAgent(answering()), memory, { onError: "throw" }).compile();
    await expect(say(strict, "hello", thread)).rejects.toMatchObject({ code: "CONSENT_REQUIRED" });
  });

  it("A consent node placed by hand asks the user of the run", async () => {
    const memory = database.memory();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("consent", consentNode(memory, { limit: 1 }))
      .addEdge(START, "consent")
      .compile({ checkpointer: memory.checkpointer() });
    const [ana, bob] = [newThread(), newThread()];
    const [id] = await propose(memory, ana, slot("city", "Porto"));
    await propose(memory, ana, slot("pronouns", "they"));
    expect(await graph.invoke({ messages: [] }, bob)).not.toHaveProperty("__interrupt__");
    expect(questionOf(await graph.invoke({ messages: [] }, ana)).value.proposals).toHaveLength(1);
    const chunks = await streamed(graph, new Command({ resume: { decisions: [] } }), {
      ...ana,
      streamMode: ["custom"],
    });
    expect(chunks).toMatchObject([
      ["custom", { type: "memory.consent", status: "ok", outcomes: [{ outcome: "pending" }] }],
    ]);
    expect(questionOf(await graph.invoke({ messages: [] }, ana)).value.proposals).toMatchObject([
      { id },
    ]);
  });
});
