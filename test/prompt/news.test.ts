import { describe, expect, it } from "vitest";
import { type Memory, shownBy } from "../../src/index.js";
import { deltaHeader } from "../../src/memories/audit/memory-change.js";
import { consolidateNow } from "../support/consolidate-now.js";
import { judgingModel } from "../support/pair-judge.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

/** A thread that has seen all changes; `turn` gives the changes that its next turn is shown. */
async function upToDate(memory: Memory) {
  await memory.setup();
  const thread = newAddress();
  const turn = async () => {
    const recalled = await memory.recall(thread);
    const messages = [{ role: "user", content: "Good morning." }];
    await memory.remember({ ...thread, messages, shown: shownBy(recalled) });
    const header = deltaHeader(recalled.changes);
    return header === null
      ? null
      : header.split("\n").map((line) => line.replace(/ since rev \d+/, ""));
  };
  await turn();
  const add = async (text: string, more = {}) => {
    const [written] = await memory.memories.add({
      ...thread,
      memories: { text, category: "knowledge", ...more },
    });
    return written?.id ?? "";
  };
  return { thread, turn, add, scope: thread.scope };
}

describe("the changes shown to a turn", () => {
  it("A turn is shown the current text of a memory, and no text in between", async () => {
    const memory = db.memory();
    const { turn, add, scope } = await upToDate(memory);
    const id = await add("The flight leaves from gate 13.", { importance: 5 });
    const created = "- +created: [Knowledge] The flight leaves from gate 13. (imp=5)";
    expect(await turn()).toEqual(["Memory updates:", created]);
    for (const gate of [14, 15, 16])
      await memory.memories.update({ scope, id, text: `The flight leaves from gate ${gate}.` });
    await memory.memories.update({ scope, id, text: "The flight was cancelled.", importance: 3 });
    await add("The tax return is due on Friday.", { importance: 2 });
    expect(await turn()).toEqual([
      "Memory updates:",
      "- ↑updated: [Knowledge] The flight was cancelled.",
      "- +created: [Knowledge] The tax return is due on Friday. (imp=2)",
    ]);
    expect(await turn()).toBeNull();
  });

  it("A thread is not told of its own episodes, whose words it has", async () => {
    const memory = db.memory();
    const { thread, turn, add, scope } = await upToDate(memory);
    const other = newAddress();
    await memory.remember({ ...other, scope, messages: [{ role: "user", content: "I row." }] });
    for (const [text, { threadId }] of [
      ["The user wished a good morning.", thread],
      ["The user rowed.", other],
    ] as const)
      await add(text, { kind: "episode", source: { threadId, seqs: [0] } });
    expect(await turn()).toEqual([
      "Memory updates:",
      "- +created: [Knowledge] The user rowed. (imp=3)",
    ]);
  });

  it("A turn is shown the current text of a memory that was mentioned again", async () => {
    const memory = db.memory();
    const { turn, add, scope } = await upToDate(memory);
    const id = await add("The boat is blue.");
    await memory.memories.update({ scope, id, text: "The boat is red." });
    await add("The boat is red.");
    expect(await turn()).toEqual([
      "Memory updates:",
      "- +created: [Knowledge] The boat is red. (imp=3)",
    ]);
  });

  it("A changed memory counts once, and as created if the thread never saw it", async () => {
    const memory = db.memory();
    const { turn, add, scope } = await upToDate(memory);
    const { revision: since } = await memory.changes.list({ scope, since: 0 });
    for (const boat of ["Wind", "Wave", "Foam", "Tide"]) {
      const id = await add(`The boat is called ${boat}.`, { importance: 4.4 });
      await memory.memories.update({ scope, id, text: `The old boat is called ${boat}.` });
      await memory.memories.remove({ scope, id });
      await memory.memories.restore({ scope, id });
    }
    const created = (boat: string) =>
      `- +created: [Knowledge] The old boat is called ${boat}. (imp=4)`;
    expect(await turn()).toEqual([
      "Memory updates (4 changes):",
      ...["Tide", "Foam", "Wave"].map(created),
    ]);
    const events = (await memory.changes.list({ scope, since })).changes.map(({ event }) => event);
    expect(events.slice(0, 4)).toEqual(["created", "updated", "soft_deleted", "restored"]);
    expect(events).toHaveLength(16);
    expect(await turn()).toBeNull();
  });

  it("A turn is shown that a known memory was removed or restored", async () => {
    const memory = db.memory();
    const { turn, add, scope } = await upToDate(memory);
    const [kept, gone] = [await add("The boat is blue."), await add("The shed is green.")];
    await turn();
    await memory.memories.remove({ scope, id: await add("The car is slow.") });
    expect(await turn()).toBeNull();
    await memory.memories.remove({ scope, id: kept });
    await memory.memories.restore({ scope, id: kept });
    await memory.memories.remove({ scope, id: gone });
    expect((await turn())?.slice(1)).toEqual([
      "- ⌛soft_deleted: [Knowledge] (no longer kept)",
      "- ↺restored: [Knowledge] The boat is blue.",
    ]);
  });

  it("A turn is shown once that a memory is gone: not when it is purged, and again after it was back", async () => {
    let now = new Date("2026-03-02T09:00:00Z");
    const memory = db.memory({ clock: () => now });
    const { turn, add, scope } = await upToDate(memory);
    const [boat, shed] = [await add("The boat is blue."), await add("The shed is green.")];
    await turn();
    const gone = "- ⌛soft_deleted: [Knowledge] (no longer kept)";
    for (const id of [boat, shed]) await memory.memories.remove({ scope, id });
    expect(await turn()).toEqual(["Memory updates:", gone, gone]);
    await memory.memories.restore({ scope, id: shed });
    await turn();
    await memory.memories.remove({ scope, id: shed });
    expect(await turn()).toEqual(["Memory updates:", gone]);
    now = new Date("2026-04-20T09:00:00Z");
    await memory.upkeep({ kinds: ["lifecycle"] });
    const hidden = await memory.memories.list({ scope, states: ["soft_deleted"] });
    expect([hidden, await turn()]).toEqual([[], null]);
  });

  it("A turn is shown a forgotten memory without its text, where it was shown or learned", async () => {
    const memory = db.memory();
    const { thread, turn, add, scope } = await upToDate(memory);
    const other = { scope, threadId: `${thread.threadId} of another` };
    const otherTurn = async () => {
      const recalled = await memory.recall(other);
      await memory.remember({ ...other, messages: [{ role: "user", content: "Hi." }] });
      return deltaHeader(recalled.changes);
    };
    await otherTurn();
    const ids = [
      await add("The boat is blue."),
      await add("The shed is green.", {
        source: { threadId: other.threadId, seqs: [0], quote: "Hi." },
      }),
    ];
    await turn();
    for (const id of ids) await memory.memories.remove({ scope, id });
    const gone = "- ⌛soft_deleted: [Knowledge] (no longer kept)";
    expect(await turn()).toEqual(["Memory updates:", gone, gone]);
    expect(await otherTurn()).toBe(`Memory updates since rev 0:\n${gone}`);
  });

  it("An agent is not shown a new memory that was moved to a category outside its allowlist", async () => {
    const memory = db.memory({ config: { allowlists: { planner: ["tasks", "constraints"] } } });
    const { thread, add, scope } = await upToDate(memory);
    const id = await add("The user sees a doctor on Friday.", { category: "tasks" });
    await add("The tax return is due on Friday.", { category: "tasks" });
    await memory.memories.update({ scope, id, category: "profile" });
    const { changes } = await memory.recall({ ...thread, agent: "planner" });
    expect(deltaHeader(changes)?.split("\n").slice(1)).toEqual([
      "- +created: [Tasks] The tax return is due on Friday. (imp=3)",
    ]);
    expect(changes.count).toBe(1);
  });

  it("An agent is not shown what a judge closed in words that were moved outside its allowlist", async () => {
    const memory = db.memory({
      model: judgingModel(() => "contradicts"),
      config: { allowlists: { planner: ["tasks", "constraints"] } },
    });
    const { thread, turn, add, scope } = await upToDate(memory);
    await add("The user sees a doctor every Friday in Porto.", { category: "tasks" });
    const left = await add("Every Friday in Porto the user sees doctors.", { category: "tasks" });
    await turn();
    await consolidateNow(memory, { scope });
    const changesOf = async () =>
      (await memory.recall({ ...thread, agent: "planner" })).changes.count;
    expect(await changesOf()).toBe(1);
    await memory.memories.update({ scope, id: left, category: "profile" });
    expect(await changesOf()).toBe(0);
  });

  it("A turn is shown what a judge closed, even if the remaining memory is old", async () => {
    const memory = db.memory({ model: judgingModel(() => "contradicts") });
    const { turn, add, scope } = await upToDate(memory);
    const earlier = "The user enjoys hiking in the Alps every summer.";
    const later = "Every summer the user enjoys hikes across the Alps.";
    await add(earlier, { category: "preferences" });
    await add(later, { category: "preferences" });
    await turn();
    const { pairs } = await consolidateNow(memory, { scope });
    expect(pairs).toMatchObject([{ action: "close" }]);
    expect((await turn())?.slice(1)).toEqual([`- ↑updated: [Preferences] ${later}`]);
  });
});
