import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { createGate, ScriptedChatModel } from "../../src/testing/index.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { userId: "ana" };

describe("recall", () => {
  it("has the raw messages before the first summary, in order and as messages", async () => {
    const memory = db.memory();
    const thread = { scope, threadId: "raw" };
    await memory.record({ ...thread, messages: [...round("1"), ...round("2")] });
    const { gap, lastSeq, lastMessageId } = await memory.recall(thread);
    expect(gap).toEqual([...round("1"), ...round("2")]);
    expect(gap[0]).toBeInstanceOf(HumanMessage);
    expect([lastSeq, lastMessageId]).toEqual([3, "2-a"]);
  });

  it("has the latest completed summary, what came after it, and what is being made", async () => {
    const gate = createGate({ open: true });
    const model = new ScriptedChatModel({
      gate,
      replies: (_, index) => ({ structured: { reasoning: "…", summary: `summary ${index + 1}` } }),
    });
    const memory = summaryMemory(db, { model, jobs: "background" });
    const thread = { scope, threadId: "in the making" };
    await memory.remember({ ...thread, messages: ["1", "2", "3"].flatMap(round) });
    await memory.idle();
    gate.close();
    await memory.remember({ ...thread, messages: round("4") });
    await memory.remember({ ...thread, messages: round("5") });

    const during = await memory.recall(thread);
    expect(during.summary).toMatchObject({ text: "summary 1", startSeq: 0, endSeq: 5, endMessageId: "3-a" });
    expect(during.processing).toMatchObject({ startSeq: 0, endSeq: 7 });
    expect(during.gap).toEqual([...round("4"), ...round("5")]);

    gate.open();
    await memory.idle();
    const after = await memory.recall(thread);
    expect(after.summary).toMatchObject({ text: "summary 2", endSeq: 7, endMessageId: "4-a" });
    expect(after.processing).toBeNull();
    expect(after.gap).toEqual(round("5"));
  });
});
