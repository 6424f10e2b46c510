import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { summaryPrompt } from "../support/summary-prompt.js";
import { summaryTable } from "../support/summary-table.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type Address,
  eventsOf,
  newAddress,
  openThread,
  say,
  taskOf,
  textsOf,
} from "../support/thread-facts.js";

const db = useTestDatabase();
const bounds = { inputBudgetTokens: 1_000, maxPieces: 3 };

/** A megabyte of numbered words. */
const long = (name: string) =>
  Array.from({ length: 90_000 }, (_, index) => `${name}${index}`).join(" ");
const omitted = /\[… [\d,]+ characters left out …\]/;
const shortened = "create skipped middle_omitted";

const summarizing = () =>
  new ScriptedChatModel({
    replies: (_, index) => ({ structured: { reasoning: "…", summary: `summary ${index + 1}` } }),
  });

const gapOf = async (memory: Memory, thread: Address): Promise<(string | undefined)[]> =>
  (await memory.recall(thread)).gap.map(({ id }) => id);

describe("a message of a megabyte", () => {
  it("A message of a megabyte is summarised in the allowed calls, head and tail kept, with an event", async () => {
    const model = summarizing();
    const memory = summaryMemory(db, { model, config: { upkeep: bounds } });
    const thread = newAddress();
    const paste = new HumanMessage({ id: "paste", content: long("w") });
    await memory.remember({
      ...thread,
      messages: [...round("1"), paste, ...round("2").slice(1), ...round("3")],
    });
    expect(model.calls.length).toBeLessThanOrEqual(3);
    const seen = model.calls.map((call) => summaryPrompt(call).text).join("\n");
    for (const part of [/>w0 w1 w2 /, / w89998 w89999</, omitted]) expect(seen).toMatch(part);
    expect(new Set(model.calls.flatMap((call) => summaryPrompt(call).added))).toEqual(
      new Set([0, 1, 2, 3, 4, 5]),
    );
    expect(await summaryTable(memory, thread)).toEqual([
      [expect.any(Number), 0, 5, null, "completed"],
    ]);
    expect(await eventsOf(db, thread, "summaries")).toContain(shortened);
  });

  it("The facts of a message of a megabyte are extracted in the allowed calls, from head and tail", async () => {
    const model = taskModel({
      fact_extraction: (prompt) =>
        facts(
          ...["I live in Porto", "I am a baker"]
            .filter((words) => prompt.includes(words))
            .map((words) => candidate(`The user said: ${words}.`, words)),
        ),
    });
    const { memory, thread } = openThread(db, {
      model,
      config: { memories: { extract: true }, upkeep: bounds },
    });
    await say(memory, thread, `I live in Porto. ${long("w")} I am a baker.`);
    expect(model.prompts("fact_extraction").length).toBeLessThanOrEqual(3);
    expect(await textsOf(memory, thread)).toEqual([
      "The user said: I live in Porto.",
      "The user said: I am a baker.",
    ]);
    expect(await eventsOf(db, thread, "facts")).toContain(shortened);
  });

  it("A procedure and an episode are shown a megabyte's head and tail, within the allowed calls", async () => {
    const model = taskModel({
      procedure_steps: () => ({
        structured: { reasoning: "", title: "Paste", steps: ["Paste it."] },
      }),
    });
    const config = {
      memories: { episodes: true, episodeEveryTurns: 4, episodeKeepShare: 0.25 },
      upkeep: bounds,
    };
    const { memory, thread } = openThread(db, { model, config });
    for (const name of ["a", "b", "c", "d"])
      await say(memory, thread, `first-${name} ${long(name)} last-${name}`);
    await memory.procedures.write(thread);
    for (const [task, names] of [
      ["episode_summary", ["a", "b", "c"]],
      ["procedure_steps", ["a", "b", "c", "d"]],
    ] as const) {
      const prompts = model.prompts(task);
      expect(prompts.length).toBeLessThanOrEqual(3);
      for (const name of names) expect(prompts.join()).toContain(`first-${name} ${name}0`);
      for (const name of names) expect(prompts.join()).toContain(`last-${name}`);
    }
    for (const step of ["episodes", "procedure"])
      expect(await eventsOf(db, thread, step)).toContain(shortened);
  });
});

describe("many messages", () => {
  it("Facts of many messages are extracted in further pieces of work, and none is omitted", async () => {
    const model = taskModel({});
    const thread = newAddress();
    const texts = Array.from(
      { length: 10 },
      (_, index) => `start${index} ${"word ".repeat(700)}end${index}`,
    );
    const messages = texts.map((text) => new HumanMessage(text));
    const memory = db.memory({ model, config: { memories: { extract: true }, upkeep: bounds } });
    await memory.remember({ ...thread, messages });
    const prompts = model.prompts("fact_extraction").join();
    for (const index of texts.keys()) expect(prompts).toContain(`start${index} word`);
    for (const index of texts.keys()) expect(prompts).toContain(`end${index}`);
    expect(prompts).not.toMatch(omitted);
    expect(await taskOf(db, thread, "facts")).toMatchObject({ done_until: 9, retry_at: null });
    expect(await eventsOf(db, thread, "facts")).not.toContain(shortened);
  });

  /** Turns of some 1,000 tokens each. */
  const longTurn = (name: string): BaseMessage[] => [
    new HumanMessage({ id: `${name}-q`, content: `start-${name} ${"word ".repeat(900)}` }),
    new AIMessage({ id: `${name}-a`, content: `end-${name}` }),
  ];

  it("Many messages wait for the next summaries turn by turn, and are shown to the agent until then", async () => {
    const model = summarizing();
    const memory = summaryMemory(db, {
      model,
      config: { upkeep: bounds, summaries: { windowMessages: 14 } },
    });
    const thread = newAddress();
    const names = ["a", "b", "c", "d", "e", "f"];
    await memory.remember({ ...thread, messages: names.flatMap(longTurn) });
    const [[, start, end, , status] = []] = await summaryTable(memory, thread);
    expect([start, status]).toEqual([0, "completed"]);
    expect(end).toBeLessThan(11);
    // The agent is shown the rest, from the start of a turn.
    const gap = await gapOf(memory, thread);
    expect(gap).toHaveLength(11 - (end ?? 0));
    expect(gap[0]).toMatch(/-q$/);
    for (let more = 0; more < 6; more++)
      await memory.remember({ ...thread, messages: round(`more${more}`) });
    const seen = model.calls.map((call) => summaryPrompt(call).text).join("\n");
    for (const name of names) expect(seen).toContain(`end-${name}`);
    expect(seen).not.toMatch(omitted);
    expect(await gapOf(memory, thread)).toEqual([]);
    // Each summary begins where the one before ended.
    const added = model.calls.map((call) => summaryPrompt(call).added);
    expect([...new Set(added.flat())]).toEqual(Array.from({ length: 24 }, (_, seq) => seq));
  });

  it("Messages of one turn are never split between summaries, however long it is", async () => {
    const model = summarizing();
    const memory = summaryMemory(db, { model, config: { upkeep: bounds } });
    const thread = newAddress();
    const steps = Array.from({ length: 300 }, (_, step): BaseMessage[] => [
      new AIMessage({
        id: `c${step}`,
        content: "",
        tool_calls: [{ id: `t${step}`, name: "look", args: { step } }],
      }),
      new ToolMessage({
        id: `r${step}`,
        tool_call_id: `t${step}`,
        content: `result ${step} `.repeat(20),
      }),
    ]).flat();
    const question = new HumanMessage({ id: "q", content: "Look at all of it." });
    await memory.remember({
      ...thread,
      messages: [question, ...steps, new AIMessage({ id: "a", content: "Done." })],
    });
    expect(model.calls.length).toBeLessThanOrEqual(3);
    expect(await summaryTable(memory, thread)).toEqual([
      [expect.any(Number), 0, 601, null, "completed"],
    ]);
    expect(await eventsOf(db, thread, "summaries")).toContain(shortened);
    const seen = model.calls.map((call) => summaryPrompt(call).text).join("\n");
    for (const part of [
      "Look at all of it.",
      '[calls look {"step":0}]',
      'role="tool">result 0 ',
      "Done.",
      " messages left out …]",
    ])
      expect(seen).toContain(part);
  });
});
