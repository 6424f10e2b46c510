import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createGate } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { addNotes, newApp, openApp } from "./note-facts.js";
import { type AppAddress, say as converse, newTalk, noted, noteModel } from "./note-model.js";

const db = useTestDatabase();
const lesson = "The user prefers meetings after 2pm on weekdays.";

describe("memory.apps.uninstall", () => {
  it("Uninstalling an app ends its open conversations, which leave notes", async () => {
    const model = noteModel();
    const memory = db.memory({ model });
    const [open, other, ended] = [newTalk("shop 1"), newTalk("shop 2"), newTalk("shop 1")];
    await converse(memory, open, "Meetings after 2 pm, please.");
    await converse(memory, other, "I like tea.");
    await converse(memory, ended, "I like milk.");
    await memory.threads.end({ ...ended, reason: "done" });
    const old = newTalk("shop 1");
    await db
      .memory()
      .record({ ...old, messages: [{ role: "user", content: "Said before there were notes." }] });
    expect(await memory.apps.uninstall({ scope: { appId: "shop 1" } })).toMatchObject({
      endedThreads: 2,
    });
    const reasons = async ({ scope }: AppAddress) =>
      (await memory.threads.list({ scope }))[0]?.endedReason;
    expect(await reasons(open)).toBe("uninstalled");
    expect(await reasons(ended)).toBe("done");
    expect(await reasons(other)).toBeNull();
    expect(await memory.notes.count({ scope: { appId: "shop 1" } })).toBe(2);
    expect(model.prompts("app_note").join()).toContain("Meetings after 2 pm");
    expect(model.prompts("app_note").join()).not.toContain("Said before");
    expect(await memory.apps.uninstall({ scope: { appId: "shop 1" } })).toMatchObject({
      endedThreads: 0,
    });
  });

  it("Uninstalling with purgeMemories leaves no note, not even one that is being written or is due", async () => {
    const writing = createGate();
    const model = noteModel({
      app_note: async () => {
        await writing.wait();
        return noted("A lesson of the last conversation.");
      },
    });
    const memory = db.memory({ model, jobs: "background" });
    const [open, busy] = [newTalk("desk"), newTalk("desk")];
    await converse(memory, open, "Meetings after 2 pm, please.");
    await converse(memory, busy, "I like tea.");
    await memory.threads.end(busy);
    await expect.poll(() => writing.waiting).toBe(1);
    await addNotes(memory, { appId: "desk" }, [lesson]);
    const purging = memory.apps.uninstall({ scope: { appId: "desk" }, purgeMemories: true });
    expect(await purging).toMatchObject({ endedThreads: 1, deletedCount: 1 });
    writing.open();
    await memory.idle();
    await memory.upkeep();
    await memory.idle();
    expect(await memory.notes.list({ scope: { appId: "desk" } })).toEqual([]);
    // Installed again, it notes what is said from then on.
    await converse(memory, open, "Coffee at 3 pm, please.");
    await memory.threads.end(open);
    await memory.idle();
    expect(await memory.notes.count({ scope: { appId: "desk" } })).toBe(1);
    expect(model.prompts("app_note").at(-1)).not.toContain("Meetings after");
  });

  it("Uninstalling with purgeMemories deletes the app's own memories and nothing of its users", async () => {
    const { memory, scope } = openApp(db);
    const ana = { ...scope, userId: "ana" };
    const threadId = randomUUID();
    await memory.remember({
      scope: ana,
      threadId,
      messages: [{ role: "user", content: "I drink tea." }],
    });
    await memory.memories.add({ scope: ana, memories: { text: "Drinks tea." } });
    await addNotes(memory, scope, [lesson]);
    await memory.memories.add({
      scope,
      memories: { text: "1. Open the calendar.", kind: "procedure" },
    });
    const [hidden] = await memory.memories.add({ scope, memories: { text: "Opens at nine." } });
    await memory.memories.remove({ scope, id: hidden!.id! });
    const gone = await memory.apps.uninstall({
      scope,
      purgeMemories: true,
      actor: "admin",
      reason: "unused",
    });
    expect(gone).toMatchObject({ deletedCount: 2, hiddenCount: 1 });
    expect(await memory.memories.list({ scope, states: ["active", "soft_deleted"] })).toEqual([]);
    expect(await memory.memories.list({ scope: ana })).toMatchObject([{ text: "Drinks tea." }]);
    expect(await memory.threads.list({ scope: ana })).toMatchObject([{ threadId, messages: 1 }]);
    const [last] = await memory.memories.history({ scope, id: hidden!.id! });
    expect(last).toMatchObject({
      actor: "admin",
      old: null,
      new: { state: "purged", reason: "unused" },
    });
  });

  it("memory.apps.uninstall rejects the scope of a user within an app", async () => {
    const { apps } = db.memory();
    const user = { ...newApp(), userId: "ana" };
    await expect(apps.uninstall({ scope: user })).rejects.toMatchObject({ code: "INVALID_INPUT" });
    await expect(apps.uninstall({ scope: "shop" as never })).rejects.toMatchObject({
      code: "SCOPE_REQUIRED",
    });
  });
});
