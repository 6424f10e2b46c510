import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { OfflineChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { openThread, say, textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const turns = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => new HumanMessage(`Turn ${from + index}.`));

it.each([
  ["extraction", "facts", "load ask check save"],
  ["compression", "episodes", "load ask check save"],
  ["note", "notes", "load ask check save compaction"],
  ["compaction", "compaction", "load ask check save"],
] as const)("The %s graph shows its steps and keeps no checkpoints", async (name, kind, steps) => {
  const graph = db.memory().graphs()[name];
  const { nodes } = await graph.getGraphAsync();
  expect(Object.keys(nodes)).toEqual(["__start__", ...steps.split(" "), "__end__"]);
  expect([graph.name, graph.checkpointer]).toEqual([kind, false]);
});

describe.each(["extraction", "compression", "note"] as const)("the %s graph", (name) => {
  it("A background graph refuses another scope's thread, skips an unknown one and needs a model", async () => {
    const { memory, thread } = openThread(db, { model: new OfflineChatModel() });
    await say(memory, thread, "My name is Ana.");
    const graph = memory.graphs()[name];
    await expect(graph.invoke({ ...thread, scope: { userId: "bo" } })).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
    expect(await graph.invoke({ ...thread, threadId: "none" })).toMatchObject({
      status: "skipped",
      reason: "not_found",
    });
    await expect(db.memory().graphs()[name].invoke(thread)).rejects.toMatchObject({
      code: "MODEL_REQUIRED",
    });
  });
});

it("The extraction graph extracts the facts of a thread once when it is invoked by hand, for one worker, without waiting for more", async () => {
  const config = { memories: { extractAfterMessages: 4 } };
  const { memory, thread } = openThread(db, { model: new OfflineChatModel(), config });
  await memory.record({
    ...thread,
    messages: [new HumanMessage("My name is Ana."), new AIMessage("Hi.")],
  });
  const graph = memory.graphs().extraction;
  let second: unknown;
  for await (const update of await graph.stream(thread, { streamMode: "updates" }))
    if ("load" in update) second = await graph.invoke(thread);
  expect(second).toMatchObject({ status: "skipped", reason: "not_due" });
  expect(await textsOf(memory, thread)).toEqual(["The user's name is Ana."]);
  const nothing = { status: "skipped", reason: "nothing_new", candidates: [] };
  expect(await graph.invoke(thread)).toMatchObject(nothing);

  await memory.record({ ...thread, messages: [new HumanMessage("I work for Mota.")] });
  const { status, chosen, outcomes } = await graph.invoke(thread);
  expect([status, chosen.length, outcomes[0]?.outcome]).toEqual(["completed", 1, "created"]);
});

it("The compression graph makes one episode of due turns for each run by hand", async () => {
  const { memory, thread } = openThread(db, { model: new OfflineChatModel() });
  const graph = memory.graphs().compression;
  await memory.record({ ...thread, messages: turns(1, 19) });
  const tooEarly = { status: "skipped", reason: "too_early", episode: null };
  expect(await graph.invoke(thread)).toMatchObject(tooEarly);
  await memory.record({ ...thread, messages: turns(20, 40) });
  for (const range of [
    { start: 1, end: 10 },
    { start: 11, end: 30 },
  ]) {
    const { status, work, memoryId } = await graph.invoke(thread);
    expect([status, work?.turns]).toEqual(["completed", range]);
    expect((await memory.memories.get({ ...thread, id: memoryId! }))?.turns).toEqual(range);
  }
  expect(await graph.invoke(thread)).toMatchObject(tooEarly);
});
