import { describe, expect, it } from "vitest";
import { memoryPreface } from "../../src/conversation/recalled-mark.js";
import type { MemoryDraft } from "../../src/index.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestConfig, TestOptions } from "../support/test-memory.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();
const presets = ["ledger", "every-round"] as const;

/** A conversation of an app; `say` gives the whole prompt of a turn as one text. */
async function conversation(config: TestConfig, options: TestOptions = {}) {
  const memory = db.memory({ ...options, config });
  await memory.setup();
  const { scope: user, threadId } = newAddress();
  const scope = { ...user, appId: `app of ${threadId}` };
  const say = async (query: string) => {
    const { messages, shown } = await memory.promptFor({ scope, threadId, query });
    await memory.remember({
      ...{ scope, threadId, shown },
      messages: [
        { role: "user", content: query },
        { role: "assistant", content: "Fine." },
      ],
    });
    const prompt = messages.map(({ role, content }) => `${role}: ${content}`).join("\n");
    expect(timesIn(prompt, memoryPreface)).toBe(
      /^user: (<memory>|\[Previous)/m.test(prompt) ? 1 : 0,
    );
    return prompt;
  };
  const add = async (draft: MemoryDraft) => {
    const [written] = await memory.memories.add(draft, { scope });
    return written?.id ?? "";
  };
  return { memory, scope, threadId, say, add };
}

const constraint = (text: string): MemoryDraft => ({
  text,
  category: "constraints",
  importance: 5,
});
const timesIn = (prompt: string, words: string) => prompt.split(words).length - 1;

describe.each(presets)("What is always shown (%s)", (preset) => {
  it("Is shown from the turn after it became known, and once a prompt", async () => {
    const { memory, say, add, scope } = await conversation({ preset });
    await say("Hello there.");
    const avoided = ["shrimp", "peanuts", "celery", "mustard", "lupin"];
    for (const each of avoided) await add(constraint(`The user is allergic to ${each}.`));
    await add({ text: "The user wants answers in French.", category: "instructions" });
    await add({ text: "The user keeps bees.", category: "knowledge", pinned: true });
    const { userId: _, ...app } = scope;
    await memory.memories.add(
      { kind: "note", text: "Guests like tables outside." },
      { scope: app },
    );
    const expected = [...avoided.map((each) => `allergic to ${each}`), "in French", "keeps bees"];
    for (const question of ["Nice weather.", "What shall I cook?", "And for dessert?"]) {
      const prompt = await say(question);
      for (const words of [...expected, "tables outside"]) expect(timesIn(prompt, words)).toBe(1);
    }
  });

  it("Is not shown after it was removed, if a change alone had named it", async () => {
    const { memory, say, add, scope } = await conversation({ preset });
    await say("Hello there.");
    const id = await add({ text: "The user owns a kayak.", category: "knowledge" });
    expect(await say("Nice weather.")).toContain("+created: [Knowledge] The user owns a kayak.");
    await memory.memories.remove(id, { scope });
    const told = await say("What now?");
    expect(told).toContain("⌛soft_deleted: [Knowledge] (no longer kept)");
    expect(told).not.toContain("kayak");
    await memory.memories.restore(id, { scope });
    expect(await say("And now?")).toContain("↺restored: [Knowledge] The user owns a kayak.");
  });

  it("Is told with what it replaces, and never as created where it replaces", async () => {
    const { say, add } = await conversation({ preset });
    const works = (value: string) =>
      add({ category: "profile", key: "job", value, text: `The user works as a ${value}.` });
    await works("nurse");
    await say("Hello there.");
    await works("vet");
    const told = await say("Nice weather.");
    expect(told).toMatch(
      /Memory updates since rev 1:\n- ↑updated: \[Profile\] The user works as a vet\./,
    );
    expect(told.includes("(instead of: nurse)")).toBe(preset === "ledger");
    await works("baker");
    const again = await say("What now?");
    expect(again).toMatch(
      /Memory updates since rev 2:\n- ↑updated: \[Profile\] The user works as a baker\./,
    );
    expect(again).not.toMatch(/\+created: .*works/);
  });
});

describe("A ledger", () => {
  it("Keeps what each turn was told in front of its message: prompts only grow", async () => {
    const { say, add } = await conversation({ preset: "ledger" });
    await add({
      category: "profile",
      key: "tea",
      value: "green",
      text: "The user drinks green tea.",
    });
    let before = await say("Hello there.");
    for (const [turn, place] of ["Oslo", "Rome", "Lima", "Bonn"].entries()) {
      await add({ text: `The user visited ${place}.`, category: "knowledge" });
      if (turn === 2) await add(constraint("The user eats no figs."));
      const prompt = await say(`Tell me about matter ${turn}.`);
      expect(prompt.startsWith(before)).toBe(true);
      before = prompt;
    }
    expect(before.match(/since rev \d/g)).toEqual([1, 2, 3, 5].map((rev) => `since rev ${rev}`));
  });

  it("Is folded where something more important than what it shows has no room", async () => {
    const { say, add } = await conversation({ preset: "ledger", retrieval: { budgetTokens: 300 } });
    const pet = (name: string) =>
      add({ text: `The user must not feed the dog called ${name}.`, category: "constraints" });
    for (let number = 0; number < 20; number++) await pet(`Rex${number}`);
    expect(await say("Hello there.")).toMatch(/And \d+ more memories are not shown/);
    await add({ ...constraint("The user is allergic to shrimp."), pinned: true });
    for (const each of ["wasps", "bees", "nuts"])
      await add(constraint(`The user is allergic to ${each}, and carries a pen.`));
    for (const question of ["Nice weather.", "What shall I cook?"]) {
      const prompt = await say(question);
      for (const each of ["shrimp", "wasps", "bees", "nuts"]) expect(prompt).toContain(each);
    }
  });

  it("Names the day again only when it has changed", async () => {
    let now = new Date("2030-01-02T23:30:00Z");
    const memory = db.memory({ config: { preset: "ledger" }, clock: () => now });
    await memory.setup();
    const { scope, threadId } = newAddress();
    const say = async (query: string) => {
      const timeZone = "Europe/Lisbon";
      const { messages, shown } = await memory.promptFor({ scope, threadId, query, timeZone });
      await memory.remember({
        scope,
        threadId,
        messages: [{ role: "user", content: query }],
        shown,
      });
      return messages.map(({ content }) => content).join("\n");
    };
    const add = (text: string) => memory.memories.add({ text, category: "knowledge" }, { scope });
    const days = (prompt: string) => prompt.match(/Today is .*/g);
    await add("The user has a boat.");
    expect(days(await say("Hello!"))).toEqual(["Today is Wednesday, 2 January 2030."]);
    await add("The user has a car.");
    expect(days(await say("Well?"))).toHaveLength(1);
    now = new Date("2030-01-03T00:30:00Z");
    await add("The user has a kite.");
    const both = ["Today is Wednesday, 2 January 2030.", "Today is Thursday, 3 January 2030."];
    expect(days(await say("And?"))).toEqual(both);
    expect(days(await say("So?"))).toEqual(both);
    now = new Date("2030-01-04T00:30:00Z");
    const third = await say("Nothing else is new.");
    expect(days(third)).toEqual([...both, "Today is Friday, 4 January 2030."]);
    expect(days(await say("And?"))).toHaveLength(3);
    const others = { scope: { userId: `${threadId} other` }, threadId: `${threadId} other` };
    expect((await memory.promptFor({ ...others, query: "Hello!" })).text).toBeNull();
  });
});

const unusableModel = () =>
  taskModel({ fact_extraction: () => new Error("The provider is down.") });

describe("What the user said in another conversation", () => {
  const said = "I am allergic to mustard. Which sauce may I eat?";

  it.each<[string, object]>([
    ["was just said", {}],
    ["is due", { now: 120_000 }],
    ["failed once", { attempts: 1 }],
  ])("Stands in a first prompt until extraction has read it, if that %s", async (_, more) => {
    const { now = 0, attempts = 0 } = more as { now?: number; attempts?: number };
    let ms = Date.now();
    const memory = db.memory({
      config: { preset: "ledger", memories: { extract: true } },
      model: unusableModel(),
      clock: () => new Date(ms),
      jobs: "background",
    });
    await memory.setup();
    const { scope, threadId } = newAddress();
    const messages = [said, "Where do I live?", "¿Dónde está? 元気ですか？"].map((content) => ({
      role: "user",
      content,
    }));
    await memory.remember({ scope, threadId, messages });
    if (attempts > 0) await memory.upkeep({ kinds: ["facts"] });
    await memory.idle();
    ms += now;
    const { text } = await memory.promptFor({ scope, threadId: `${threadId} 2`, query: "Hello." });
    expect(text).toContain(`## Said by the User in Another Conversation\n- ${said}`);
    expect(text).not.toMatch(/Where do I live|Dónde/);
  });

  it.each(presets)(
    "Stands once in each prompt until then, also where it begins anew (%s)",
    async (preset) => {
      const { memory, scope, say, add } = await conversation(
        { preset, memories: { extract: true } },
        { model: unusableModel(), jobs: "background" },
      );
      const elsewhere = { scope, threadId: `${scope.appId} elsewhere` };
      await memory.remember({ ...elsewhere, messages: [{ role: "user", content: said }] });
      const id = await add(constraint("The user is allergic to celery."));
      expect(timesIn(await say("Hello."), said)).toBe(1);
      expect(timesIn(await say("Nice weather."), said)).toBe(1);
      await memory.memories.remove(id, { scope });
      const anew = await say("And now?");
      expect(anew).not.toContain("celery");
      expect(timesIn(anew, said)).toBe(1);
    },
  );
});
