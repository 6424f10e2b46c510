import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { emptyCheckpoint } from "@langchain/langgraph-checkpoint";
import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { deltaChannelHistoryTests, specTest } from "@langchain/langgraph-checkpoint-validation";
import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();

const graphOn = (checkpointer: ReturnType<ReturnType<typeof db.memory>["checkpointer"]>) =>
  new StateGraph(MessagesAnnotation)
    .addNode("answer", () => ({ messages: [new AIMessage("noted")] }))
    .addEdge(START, "answer")
    .compile({ checkpointer });

describe("memory.checkpointer()", () => {
  it("The checkpointer reports database errors as MemoryError, like every other call", async () => {
    const saver = db.memory().checkpointer();
    const configurable = { thread_id: "reports", user_id: "ana" };
    await graphOn(saver).invoke({ messages: [new HumanMessage("hi")] }, { configurable });
    const wrong = { configurable: { ...configurable, checkpoint_id: "\u0000" } };
    const listed = async () => {
      for await (const _ of saver.list(wrong));
    };
    const written = () => saver.putWrites(wrong, [["messages", 1]], "task");
    for (const call of [() => saver.getTuple(wrong), listed, written])
      await expect(call()).rejects.toThrow(
        expect.objectContaining({ name: "MemoryError", code: "DATABASE_ERROR" }),
      );
  });

  it("Metadata with characters that PostgreSQL cannot hold is stored without them", async () => {
    const saver = db.memory().checkpointer();
    const configurable = { thread_id: "odd", user_id: "ana", checkpoint_ns: "" };
    const odd = "a\u0000\ud800b \\u0000 \u{1F375}";
    const step = { source: "loop" as const, step: 1, parents: {} };
    const metadata = { ...step, [odd]: [odd] };
    await saver.put({ configurable }, emptyCheckpoint(), metadata, {});
    const kept = "a\uFFFDb \\u0000 \u{1F375}";
    const tuple = await saver.getTuple({ configurable });
    expect(tuple?.metadata).toMatchObject({ [kept]: [kept] });
  });

  it("A checkpointer without tables names the schema that was never set up", async () => {
    const invoking = graphOn(db.memory({ schema: "never set up" }).checkpointer()).invoke(
      { messages: [new HumanMessage("hi")] },
      { configurable: { thread_id: "t" } },
    );
    await expect(invoking).rejects.toThrow(/never set up/);
  });
});

/** LangGraph's own suites, each part of them on empty tables. */
const initializer = {
  checkpointerName: "memory.checkpointer()",
  async createCheckpointer(): Promise<PostgresSaver> {
    return db.memory().checkpointer();
  },
  async destroyCheckpointer(): Promise<void> {
    for (const table of ["checkpoints", "checkpoint_blobs", "checkpoint_writes"])
      await db.pool.query(`delete from "${db.schema}".${table}`);
  },
};

specTest(initializer);
deltaChannelHistoryTests(initializer);
