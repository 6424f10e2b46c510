import { describe, expect, it } from "vitest";
import type { Memory } from "../../../src/memory.js";
import { brokenInvariants } from "../../support/broken-invariants.js";
import { candidate, facts, taskModel } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";
import { type Address, newAddress, say, textsOf } from "../../support/thread-facts.js";

const db = useTestDatabase();
const coffee = "The user drinks no coffee.";
const runs = "The user runs each morning.";
const careful = "The user is careful with health.";
const active = "The user likes to be outside.";

/**
 * A memory that learns what is said word for word, has two insights, and removes `coffee` when it
 * is asked to.
 */
function understanding(): Memory {
  const model = taskModel({
    fact_extraction: (prompt) => {
      const [, said = ""] = /<message number="1"[^>]*>([^<]*)</.exec(prompt) ?? [];
      if (said.startsWith("The user")) return facts(candidate(said, said));
      const number = Number(
        new RegExp(`<memory number="(\\d+)"[^>]*>${coffee}`).exec(prompt)?.[1] ?? 0,
      );
      const forget = number > 0 ? [{ memory: number, message: 1, quote: said }] : [];
      return { structured: { reasoning: "", facts: [], forget } } as never;
    },
    user_insights: (prompt) => {
      const numberOf = (text: string) =>
        Number(new RegExp(`number="(\\d+)"[^>]*>${text}`).exec(prompt)?.[1]);
      const insights = [
        { summary: careful, evidence: [numberOf(coffee), numberOf(runs)] },
        { summary: active, evidence: [numberOf(runs)] },
      ];
      return { structured: { insights } };
    },
  });
  return db.memory({ model, config: { memories: { extract: true }, insights: { enabled: true } } });
}
async function understood(memory: Memory): Promise<{ first: Address; second: Address }> {
  const first = newAddress();
  const second = { ...first, threadId: `${first.threadId} again` };
  await say(memory, first, coffee);
  await say(memory, second, runs);
  expect(await memory.upkeep()).toBe(1);
  expect(await insightsOf(memory, first)).toEqual([active, careful]);
  return { first, second };
}

const insightsOf = async (memory: Memory, thread: Address): Promise<string[]> =>
  (await textsOf(memory, thread, "insight")).toSorted().toReversed();

async function idOf(memory: Memory, { scope }: Address, text: string): Promise<string> {
  const found = await memory.memories.list({ scope, states: ["active", "soft_deleted"] });
  return found.find((each) => each.text === text)?.id ?? "";
}

describe("an insight", () => {
  it.each<[string, (memory: Memory, thread: Address) => Promise<unknown>]>([
    [
      "somebody removes",
      async (memory, thread) =>
        memory.memories.remove({ ...thread, id: await idOf(memory, thread, coffee) }),
    ],
    [
      "the user asks to forget",
      (memory, thread) => say(memory, thread, "Please forget that I drink no coffee."),
    ],
  ])("An insight is hidden with its evidence, which %s", async (_, remove) => {
    const memory = understanding();
    const { first } = await understood(memory);
    const before = await memory.changes.list({ scope: first.scope, since: 0 });
    await remove(memory, first);

    expect(await insightsOf(memory, first)).toEqual([active]);
    const id = await idOf(memory, first, careful);
    const [last] = await memory.memories.history({ ...first, id });
    expect(last).toMatchObject({
      event: "DELETE",
      old: { text: careful, state: "active" },
      new: { state: "soft_deleted", restedOn: await idOf(memory, first, coffee) },
    });
    const { changes } = await memory.changes.list({ scope: first.scope, since: before.revision });
    expect(changes.filter(({ memoryId }) => memoryId === id)).toMatchObject([
      { event: "soft_deleted" },
    ]);
    expect(await brokenInvariants(db)).toEqual([]);
    await memory.memories.restore({ ...first, id });
    expect(await insightsOf(memory, first)).toEqual([active, careful]);
  });

  it("An insight is hidden when its evidence was merged into a removed memory", async () => {
    const memory = understanding();
    const { first } = await understood(memory);
    // A statement with a key takes over the same text without one.
    const [other] = await memory.memories.add({
      ...first,
      memories: { text: coffee, key: "drink" },
    });
    await memory.memories.remove({ ...first, id: other?.id ?? "" });
    expect(await insightsOf(memory, first)).toEqual([active]);
  });

  it("An insight stays when it is pinned, and when its evidence changes", async () => {
    const memory = understanding();
    const { first } = await understood(memory);
    await memory.memories.update({
      ...first,
      id: await idOf(memory, first, careful),
      pinned: true,
    });
    await memory.memories.update({
      ...first,
      id: await idOf(memory, first, runs),
      text: "The user ran.",
    });
    await memory.memories.remove({ ...first, id: await idOf(memory, first, coffee) });
    expect(await insightsOf(memory, first)).toEqual([active, careful]);
  });

  it("An insight is removed with a conversation's memories, and stays if they stay", async () => {
    const memory = understanding();
    const { first, second } = await understood(memory);
    await memory.threads.delete(first);
    expect(await insightsOf(memory, first)).toEqual([active, careful]);
    const removing = { ...second, memories: "remove" } as const;
    const counted = await memory.threads.delete({ ...removing, dryRun: true });
    expect((await memory.threads.delete(removing)).total).toBe(counted.total);
    expect(await insightsOf(memory, first)).toEqual([]);
    expect(await memory.memories.list({ scope: first.scope })).toMatchObject([{ text: coffee }]);
    expect(await brokenInvariants(db)).toEqual([]);
  });
});
