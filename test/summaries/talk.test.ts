import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { round } from "../support/spoken.js";
import { summarisedThread } from "../support/summary-memory.js";
import { summaryPrompt } from "../support/summary-prompt.js";
import { summaryTable } from "../support/summary-table.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const system = (text: string) => new SystemMessage({ id: text.slice(0, 40), content: text });

describe("system messages", () => {
  it("System messages alone make no summary", async () => {
    const { memory, thread } = summarisedThread(db);
    const messages = Array.from({ length: 20 }, (_, index) =>
      system(`rule ${index} ${"x".repeat(9_000)}`),
    );
    const { lastSeq, summary } = await memory.remember({ ...thread, messages });
    expect([lastSeq, summary]).toEqual([19, { started: false, reason: "too_early" }]);
  });

  it("System messages are not summarised, fill neither window nor trigger, and keep their seqs", async () => {
    const { memory, model, thread } = summarisedThread(db);
    const reasons: unknown[] = [];
    for (let index = 1; index <= 10; index++) {
      const messages = [system(`rule of ${index}`), ...round(`${index}`)];
      const { summary } = await memory.remember({ ...thread, messages });
      reasons.push(summary.started ? "started" : summary.reason);
    }
    // As without them: turns of three messages, of which two count.
    expect(reasons).toEqual(["too_early", "too_early", ...Array<string>(8).fill("started")]);
    const rows = (await summaryTable(memory, thread)).map(([, start, end]) => [start, end]);
    const ends = [8, 11, 14, 17, 20, 23, 26, 29];
    expect(rows).toEqual(ends.map((end) => [end < 23 ? 0 : end - 19, end]));
    const prompts = model.calls.map(summaryPrompt);
    expect(prompts.map(({ text }) => text).join("\n")).not.toContain("rule of");
    expect(prompts[0]?.added).toEqual([1, 2, 4, 5, 7, 8]);
    expect(prompts.at(-1)).toMatchObject({ added: [28, 29], dropBefore: 10 });
  });

  it("System messages after the last summary are nothing new", async () => {
    const { memory, thread } = summarisedThread(db);
    await memory.remember({ ...thread, messages: ["1", "2", "3"].flatMap(round) });
    const { summary } = await memory.remember({ ...thread, messages: [system("late rule")] });
    expect(summary).toEqual({ started: false, reason: "nothing_new" });
  });
});

describe("a very long message", () => {
  it("Long messages are counted together, and start a summary from the configured number on", async () => {
    const config = { summaries: { afterTokens: 1_000 } };
    const { memory, thread } = summarisedThread(db, { config });
    const half = (id: string) => [
      new HumanMessage({ id, content: "x".repeat(1_990) }),
      new AIMessage({ id: `${id} a`, content: "ok" }),
    ];
    const first = await memory.remember({ ...thread, messages: half("one") });
    expect(first.summary).toMatchObject({ started: false, reason: "too_early" });
    const second = await memory.remember({ ...thread, messages: [...half("two"), ...round("3")] });
    expect(second.summary).toMatchObject({ started: true });
  });
});

describe("a turn with open tool calls", () => {
  const call = (id: string) => ({ id, name: "look", args: {}, type: "tool_call" as const });
  const result = (id: string) =>
    new ToolMessage({ id: `r${id}`, tool_call_id: id, content: `result ${id}` });
  const asking: BaseMessage[] = [
    new HumanMessage({ id: "q", content: "look" }),
    new AIMessage({ id: "c", content: "", tool_calls: [call("1"), call("2")] }),
  ];

  it("A turn with open tool calls is not summarised while results are recorded one by one", async () => {
    const { memory, thread } = summarisedThread(db, { config: { summaries: { afterSeq: 0 } } });
    const remember = async (...messages: BaseMessage[]) =>
      (await memory.remember({ ...thread, messages })).summary;
    const open = { started: false, reason: "round_open" };
    expect(await remember(...asking)).toEqual(open);
    expect(await remember(result("1"))).toEqual(open);
    expect(await remember(system("a rule between"))).toEqual(open);
    expect(await remember()).toEqual(open);
    expect(await remember(result("2"))).toMatchObject({
      started: true,
      window: { startSeq: 0, endSeq: 4 },
    });
  });

  it("The next human message closes a turn whose tool results never come", async () => {
    const { memory, thread } = summarisedThread(db);
    await memory.record({ ...thread, messages: [...["1", "2", "3"].flatMap(round), ...asking] });
    expect(await memory.graphs().summarization.invoke(thread)).toMatchObject({
      status: "skipped",
      reason: "round_open",
    });
    const { summary } = await memory.remember({ ...thread, messages: round("4") });
    expect(summary).toMatchObject({ started: true });
  });
});
