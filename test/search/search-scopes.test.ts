import { HumanMessage } from "@langchain/core/messages";
import { beforeAll, describe, expect, it } from "vitest";
import type { Memory, Scope } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const config = { categories: { custom: [{ name: "local", level: "app" as const }] } };
/** Finds all that is stored now, and needs no word of it. */
const today = `What about ${new Date().toISOString().slice(0, 10)}?`;
let memory: Memory;

beforeAll(() => {
  memory = db.memory({ config });
});

const texts = async (scope: Scope, query = "marmot") => {
  return (await memory.query({ scope, query, topK: 200, threshold: 0 }))
    .map((hit) => hit.memory.text)
    .toSorted();
};
const said = async (scope: Scope, query = "marmot") => {
  return (await memory.transcript.search({ scope, query, topK: 200, threshold: 0 }))
    .map((hit) => hit.text)
    .toSorted();
};

describe("a search", () => {
  it("A search sees exactly one user, tenant and app for ids of any characters", async () => {
    const scopes: Scope[] = [
      ...["a", "ab", "A", "a%", "a_", "a\\", "a:b", "ä"].map((userId) => ({ userId })),
      { tenantId: "a", userId: "a" },
      { tenantId: "a:a", userId: "b" },
      { tenantId: "a", userId: "a:b" },
      { tenantId: "%", userId: "a" },
      { appId: "a" },
      { tenantId: "a", appId: "a" },
    ];
    for (const [index, scope] of scopes.entries()) {
      await memory.memories.add({
        scope,
        memories: { text: `The marmot of number ${index} whistles.` },
      });
      const messages = [new HumanMessage(`I saw marmot ${index}.`)];
      await memory.record({ scope, threadId: `thread ${index}`, messages });
    }
    for (const [index, scope] of scopes.entries()) {
      for (const query of ["marmot", today]) {
        expect(await texts(scope, query)).toEqual([`The marmot of number ${index} whistles.`]);
        expect(await said(scope, query)).toEqual([`I saw marmot ${index}.`]);
      }
    }
    expect(await texts({ userId: "unheard of" })).toEqual([]);
    expect(await said({ tenantId: "a", userId: "unheard of" })).toEqual([]);
  });

  it("What was said to an app without a user is in no user's search, also before the user has anything", async () => {
    const app = { appId: "kiosk" };
    const messages = [new HumanMessage("The marmot's PIN is four two four two.")];
    await memory.record({ scope: app, threadId: "kiosk thread", messages });
    const user = { userId: "new at the kiosk", ...app };
    for (const query of ["marmot", today]) expect(await said(user, query)).toEqual([]);
    await memory.record({
      scope: user,
      threadId: "own",
      messages: [new HumanMessage("My marmot.")],
    });
    for (const query of ["marmot", today]) expect(await said(user, query)).toEqual(["My marmot."]);
    expect(await said(app)).toEqual(["The marmot's PIN is four two four two."]);
  });

  it("A search in an app sees the user's memories, the user's in this app and the app's own", async () => {
    const user = { userId: "ben" };
    const inNotes = { ...user, appId: "notes" };
    await memory.memories.add({ scope: user, memories: { text: "Ben likes the marmot." } });
    await memory.memories.add({
      scope: inNotes,
      memories: { text: "Ben told the notes app of a marmot." },
    });
    await memory.memories.add({
      scope: inNotes,
      memories: { text: "The marmot picture is stored here.", category: "local" },
    });
    await memory.memories.add({
      scope: { appId: "notes" },
      memories: { text: "Users ask for marmot emojis.", kind: "note" },
    });
    const scope = { ...user, appId: "mail" };
    await memory.memories.add({
      scope,
      memories: { text: "The marmot recipe is stored here.", category: "local" },
    });
    await memory.memories.add({
      scope: { appId: "mail" },
      memories: { text: "Users mail marmot jokes.", kind: "note" },
    });
    await memory.memories.add({
      scope: { userId: "chloe", appId: "notes" },
      memories: { text: "Chloe fears the marmot." },
    });

    const own = ["Ben likes the marmot.", "Ben told the notes app of a marmot."];
    for (const query of ["marmot", today]) {
      expect(await texts(user, query)).toEqual(own);
      const expected = [
        ...own,
        "The marmot picture is stored here.",
        "Users ask for marmot emojis.",
      ];
      expect(await texts(inNotes, query)).toEqual(expected);
      expect(await texts({ ...user, appId: "mail" }, query)).toEqual([
        ...own,
        "The marmot recipe is stored here.",
        "Users mail marmot jokes.",
      ]);
      expect(await texts({ appId: "notes" }, query)).toEqual(["Users ask for marmot emojis."]);
      expect(await texts({ ...user, appId: "unheard of" }, query)).toEqual(own);
      expect(await texts({ ...inNotes, tenantId: "other" }, query)).toEqual([]);
    }
  });

  it("A search in an app sees that app's messages only; without one, all of the user's", async () => {
    const user = { userId: "dora" };
    for (const [index, scope] of [
      user,
      { ...user, appId: "notes" },
      { ...user, appId: "mail" },
    ].entries()) {
      const messages = [new HumanMessage(`A badger, number ${index}.`)];
      await memory.record({ scope, threadId: `badger ${index}`, messages });
    }
    for (const query of ["badger", today]) {
      expect(await said({ ...user, appId: "notes" }, query)).toEqual(["A badger, number 1."]);
      expect(await said({ ...user, appId: "mail" }, query)).toEqual(["A badger, number 2."]);
      expect(await said(user, query)).toHaveLength(3);
    }
  });
});
