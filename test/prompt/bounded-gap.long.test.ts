import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { beforeAll, describe, expect, it } from "vitest";
import { modelView } from "../../src/index.js";
import { agentWithMemory, historyOf, lines, saidIn, say } from "../langgraph/conversation.js";
import { planNodes, rowsOf } from "../support/query-plan.js";
import { round } from "../support/spoken.js";
import { useTestDatabase } from "../support/test-database.js";
import { watchedPool } from "../support/watched-pool.js";

const db = useTestDatabase();
const scope = { userId: "ana" };
const rounds = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => round(`${from + index}`)).flat();
const bounded = (context: object) => db.memory({ config: { context } });
const idsOf = (messages: readonly BaseMessage[]) => messages.map(({ id }) => id);

describe("a long thread without a summary", () => {
  it("A long thread without a summary shows the newest turns, and the number of omitted messages", async () => {
    const memory = bounded({ maxGapMessages: 13 });
    const thread = { scope, threadId: "newest" };
    await memory.record({ ...thread, messages: rounds(1, 1_000) });
    const recalled = await memory.recall({ ...thread, query: "and now?" });
    expect(idsOf(recalled.gap)).toEqual(idsOf(rounds(995, 1_000)));
    expect(recalled.omitted).toEqual({ messages: 1_988, endMessageId: "994-a" });
    expect([recalled.lastSeq, recalled.lastMessageId]).toEqual([1_999, "1000-a"]);
    for (const injectAs of ["message", "system", "text"] as const) {
      const view = modelView([new HumanMessage("and now?")], recalled, injectAs);
      expect(lines(view).join("\n")).toContain("[1,988 earlier messages are not shown: ");
      expect(saidIn(view)).toHaveLength(13);
    }
  });

  it("The gap of a thread is limited in tokens as well as in messages", async () => {
    const memory = db.memory({
      config: { context: { maxGapTokens: 1_000 }, summaries: { afterTokens: 500 } },
    });
    const thread = { scope, threadId: "words" };
    const long = rounds(1, 10).map((message) =>
      Object.assign(message, { content: "x".repeat(1_000) }),
    );
    await memory.record({ ...thread, messages: long });
    expect(idsOf((await memory.recall(thread)).gap)).toEqual(["9-q", "9-a", "10-q", "10-a"]);
    await memory.record({
      ...thread,
      messages: [new HumanMessage({ id: "longer", content: "y".repeat(100_000) })],
    });
    expect(idsOf((await memory.recall(thread)).gap)).toEqual(["longer"]);
  });

  it("A turn that alone is too long shows its question, and no result without its call", async () => {
    const memory = bounded({ maxGapMessages: 12 });
    const thread = { scope, threadId: "long round" };
    const steps = Array.from({ length: 50 }, (_, n) => [
      new AIMessage({
        id: `c${n}`,
        content: "",
        tool_calls: [{ type: "tool_call", name: "look", args: {}, id: `${n}` }],
      }),
      new ToolMessage({ id: `r${n}`, tool_call_id: `${n}`, content: `seen ${n}` }),
    ]).flat();
    const said = [
      ...rounds(1, 3),
      new HumanMessage({ id: "q", content: "look everywhere" }),
      ...steps,
      new AIMessage({ id: "a", content: "done" }),
    ];
    await memory.record({ ...thread, messages: said });
    const recalled = await memory.recall(thread);
    expect(idsOf(recalled.gap)).toEqual(["q", ...idsOf(steps.slice(-10)), "a"]);
    expect(recalled.omitted).toEqual({ messages: 6 + 90, endMessageId: "r44" });
    // A graph's state that holds all of it is shown in the same way.
    const current = new HumanMessage({ id: "now", content: "and now?" });
    const view = modelView([new SystemMessage("Be kind."), ...said, current], recalled);
    expect(idsOf(saidIn(view))).toEqual(["q", ...idsOf(steps.slice(-10)), "a", "now"]);
  });

  it("The gap of a thread has at least as many messages as a summary waits for", async () => {
    const memory = db.memory({
      config: { context: { maxGapMessages: 4 }, summaries: { everyMessages: 20 } },
    });
    const thread = { scope, threadId: "awaited" };
    await memory.record({ ...thread, messages: rounds(1, 25) });
    expect((await memory.recall(thread)).gap).toHaveLength(40);
  });
});

describe.each(["full", "bounded"] as const)("a long %s session without a model", (session) => {
  it("A long session has a prompt of constant length, and a bounded state drops omitted messages", async () => {
    const { model, graph, thread } = agentWithMemory(bounded({ maxGapMessages: 12 }), { session });
    for (let number = 1; number <= 12; number++) await say(graph, `question ${number}`, thread);
    const last = lines(model.calls[11]!.messages);
    expect(last[0]).toContain("[10 earlier messages are not shown: ");
    expect(last.slice(1)).toEqual([
      ...[6, 7, 8, 9, 10, 11].flatMap((n) => [`human: question ${n}`, `ai: answer ${n}`]),
      "human: question 12",
    ]);
    const { messages } = (await graph.getState(thread)).values as { messages: BaseMessage[] };
    expect(messages).toHaveLength(session === "full" ? 24 : 8);
  });

  it("A prompt shows the branch after time travel to omitted messages", async () => {
    const checkpointer = new MemorySaver();
    const { model, graph, thread } = agentWithMemory(bounded({ maxGapMessages: 12 }), {
      session,
      checkpointer,
    });
    for (let number = 1; number <= 12; number++) await say(graph, `question ${number}`, thread);
    const ended = (await historyOf(graph, thread))
      .toReversed()
      .filter(({ next }) => next.length === 0);
    await say(graph, "another way", {
      configurable: { ...thread.configurable, ...ended[1]!.config.configurable },
    });
    expect(lines(model.calls[12]!.messages)).toEqual([
      ...[1, 2].flatMap((n) => [`human: question ${n}`, `ai: answer ${n}`]),
      "human: another way",
    ]);
  });
});

describe("a thread of 10,000 messages", () => {
  const thread = { scope, threadId: "10,000" };
  const many = 10_000;

  beforeAll(async () => {
    await db.memory().record({ ...thread, messages: rounds(1, 2) });
    await db.pool.query(
      `insert into "${db.schema}".message (thread_ref, seq, message_id, role, content, serialised)
       select t.id, n, 'many-' || n, case when n % 2 = 0 then 'user' else 'assistant' end, repeat('word ', 40), '{}'
       from "${db.schema}".thread t, generate_series(4, ${many - 1}) n where t.thread_id = '10,000'`,
    );
    await db.pool.query("analyze");
  });

  it.each([null, 1_000, many - 3])(
    "A recall reads little more of 10,000 messages than it shows, with a summary up to %s",
    async (endSeq) => {
      await db.pool.query(`delete from "${db.schema}".summary`);
      if (endSeq !== null)
        await db.pool.query(
          `insert into "${db.schema}".summary (thread_ref, start_seq, end_seq, status, content, start_turn, end_turn)
         select id, 0, $1, 'completed', 'They talked.', 1, 500 from "${db.schema}".thread where thread_id = '10,000'`,
          [endSeq],
        );
      const { pool, inTransactions } = watchedPool(db.pool);
      const memory = db.memory({ database: pool, config: { context: { maxGapMessages: 100 } } });
      const { gap, recent } = await memory.recall(thread);
      expect(gap.length).toBeLessThanOrEqual(100);
      expect(recent.length).toBeLessThanOrEqual(8);
      const { text, values } = inTransactions.at(-1)!;
      const { rows } = await db.pool.query(`explain (analyze, format json) ${text}`, values);
      const read = planNodes(rows)
        .filter((node) => node["Relation Name"] === "message")
        .map(rowsOf);
      expect(read).not.toHaveLength(0);
      expect(read.reduce((sum, rows) => sum + rows, 0)).toBeLessThan(600);
    },
  );
});
