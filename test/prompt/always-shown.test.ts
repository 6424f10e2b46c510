import { describe, expect, it } from "vitest";
import type { MemoryDraft } from "../../src/index.js";
import { memoryPreface } from "../../src/messages/recalled-mark.js";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestConfig, TestOptions } from "../support/test-memory.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

/** A conversation of an app; `say` gives the whole prompt of a turn as one text. */
async function conversation(config: TestConfig, options: TestOptions = {}) {
  const memory = db.memory({ ...options, config });
  await memory.setup();
  const { scope: user, threadId } = newAddress();
  const scope = { ...user, appId: `app of ${threadId}` };
  const say = async (query: string) => {
    const { messages, shown } = await memory.promptFor({ scope, threadId, query });
    await memory.remember({
      scope,
      threadId,
      shown,
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
    const [written] = await memory.memories.add({ scope, memories: draft });
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

describe("A ledger", () => {
  it("Says once how many memories have no room, and again where one more has none", async () => {
    const { say, add } = await conversation({ preset: "ledger", retrieval: { budgetTokens: 300 } });
    const notice = /\((?:And|More than) \d+ more memor/g;
    const diet = (importance: number) => (each: string) =>
      add({ ...constraint(`The user eats no ${each}, and has a card that says so.`), importance });
    for (let number = 0; number < 20; number++) await diet(4)(`dish number ${number}`);
    for (const question of ["Hello there.", "Nice weather.", "Good night."])
      expect((await say(question)).match(notice), question).toHaveLength(1);
    for (const each of ["snails", "frogs", "eels", "squid", "clams"]) await diet(1)(each);
    for (const question of ["Good morning.", "What is new?"])
      expect((await say(question)).match(notice), question).toHaveLength(2);
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

  it("Begins with what changed, where nothing was known when the conversation began", async () => {
    const { say, add } = await conversation({ preset: "ledger" });
    await say("Hello there.");
    await add(constraint("The user is allergic to shrimp."));
    const lines = (await say("What shall I cook?")).split("\n");
    const added = lines.slice(lines.indexOf("user: <memory>") + 1);
    expect(added[0]).toMatch(/^Memory updates since rev \d+:$/);
    expect(added[1]).toContain("allergic to shrimp");
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
    const add = (text: string) =>
      memory.memories.add({ scope, memories: { text, category: "knowledge" } });
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

  it("Stands in a first prompt until extraction has read it, without what was only asked", async () => {
    const memory = db.memory({
      config: { preset: "ledger", memories: { extract: true } },
      model: unusableModel(),
      jobs: "background",
    });
    await memory.setup();
    const { scope, threadId } = newAddress();
    const messages = [said, "Where do I live?", "¿Dónde está? 元気ですか？"].map((content) => ({
      role: "user",
      content,
    }));
    await memory.remember({ scope, threadId, messages });
    await memory.upkeep({ kinds: ["facts"] });
    await memory.idle();
    const { text } = await memory.promptFor({ scope, threadId: `${threadId} 2`, query: "Hello." });
    expect(text).toContain(`## Said by the User in Another Conversation\n- ${said} (said on `);
    expect(text).not.toMatch(/Where do I live|Dónde/);
  });

  it("Is nothing that others said to the app, in the first prompt of a user who has nothing yet", async () => {
    const memory = db.memory({
      config: { preset: "ledger", memories: { extract: true } },
      model: unusableModel(),
      jobs: "background",
    });
    const app = { appId: newAddress().threadId };
    await memory.remember({
      scope: app,
      threadId: `${app.appId} visitor`,
      messages: [{ role: "user", content: said }],
    });
    await memory.memories.add({ scope: app, memories: { text: "The kiosk is open on Sundays." } });
    const first = { scope: { ...newAddress().scope, ...app }, threadId: `${app.appId} first` };
    const { text } = await memory.promptFor({ ...first, query: "Hello." });
    expect(text).toContain("The kiosk is open on Sundays.");
    expect(text).not.toContain("mustard");
    expect((await memory.recall({ ...first, query: "Hello." })).changes.revision).toBe(0);
  });

  it("Names the user's day on which it was said, in each prompt of the epoch", async () => {
    let now = new Date("2026-03-02T23:30:00Z");
    const options = { model: unusableModel(), jobs: "background", clock: () => now } as const;
    const config = { preset: "ledger", memories: { extract: true } } as const;
    const { memory, scope, threadId } = await conversation(config, options);
    const turn = { scope, threadId, timeZone: "Asia/Tokyo" };
    const words = "My flight to Oslo is tomorrow at seven.";
    const messages = [{ role: "user", content: words }];
    await memory.remember({ ...turn, threadId: `${threadId} elsewhere`, messages });
    now = new Date("2026-03-05T10:00:00Z");
    const line = `- ${words} (said on Tuesday, 3 March 2026)\n`;
    for (const query of ["When is my flight?", "Which day is that?"]) {
      const { messages: prompt, shown } = await memory.promptFor({ ...turn, query });
      expect(timesIn(prompt.map(({ content }) => content).join("\n"), line)).toBe(1);
      await memory.remember({ ...turn, shown, messages: [{ role: "user", content: query }] });
    }
  });

  it.each(["ledger", "every-round"] as const)(
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
      await memory.memories.remove({ scope, id });
      const anew = await say("And now?");
      expect(anew).not.toContain("celery");
      expect(timesIn(anew, said)).toBe(1);
    },
  );
});
