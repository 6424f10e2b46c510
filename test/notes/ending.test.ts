import { describe, expect, it } from "vitest";
import { useTestDatabase } from "../support/test-database.js";
import { taskOf } from "../support/thread-facts.js";
import { newTalk, noteModel, notesOf, openTalk, say, silence, talkAndEnd } from "./note-model.js";

const db = useTestDatabase();
const hour = 3_600_000;

async function listed(memory: ReturnType<typeof db.memory>, talk: ReturnType<typeof newTalk>) {
  const [thread] = await memory.threads.list({ scope: talk.scope });
  return thread;
}

describe("a conversation", () => {
  it("A conversation ends once, with the first reason", async () => {
    const { memory, talk } = openTalk(db, { model: noteModel() });
    await say(memory, talk, "Book a table.");
    expect(await listed(memory, talk)).toMatchObject({ endedAt: null, endedReason: null });
    const first = await memory.threads.end({ ...talk, reason: " resolved\n by the  user " });
    expect(first).toEqual({
      threadId: talk.threadId,
      endedAt: expect.any(Date),
      endedReason: "resolved by the user",
    });
    expect(await memory.threads.end({ ...talk, reason: "again" })).toEqual(first);
    const { endedAt, endedReason } = first;
    expect(await listed(memory, talk)).toMatchObject({ endedAt, endedReason });
    expect(await notesOf(memory, talk)).toHaveLength(1);
  });

  it("A new message reopens an ended conversation, and a recorded one does not", async () => {
    const model = noteModel();
    const { memory, talk } = openTalk(db, { model });
    const messages = [{ id: "1", role: "user", content: "Book a table at Nobu." }];
    await memory.remember({ ...talk, messages });
    await memory.threads.end({ ...talk, reason: "done" });
    await memory.remember({ ...talk, messages });
    expect(await listed(memory, talk)).toMatchObject({ endedReason: "done" });
    await memory.remember({
      ...talk,
      messages: [...messages, { id: "2", role: "user", content: "For four people." }],
    });
    expect(await listed(memory, talk)).toMatchObject({ endedAt: null, endedReason: null });

    await memory.threads.end({ ...talk, reason: "done now" });
    expect(await listed(memory, talk)).toMatchObject({ endedReason: "done now" });
    const [first = "", second = ""] = model.prompts("app_note");
    expect(first).toContain("Nobu");
    expect(second).toContain("For four people.");
    expect(second).not.toContain("Nobu");
    expect(await notesOf(memory, talk)).toHaveLength(2);
  });

  it("A conversation without an app ends without a note", async () => {
    const model = noteModel();
    const memory = db.memory({ model });
    const thread = { scope: { userId: newTalk().scope.userId }, threadId: newTalk().threadId };
    await memory.remember({
      ...thread,
      messages: [{ role: "user", content: "Hi, I live in Oslo." }],
    });
    expect(await memory.threads.end(thread)).toMatchObject({ endedReason: null });
    const [ended] = await memory.threads.list({ scope: thread.scope });
    expect(ended?.endedAt).toBeInstanceOf(Date);
    expect(model.prompts("app_note")).toEqual([]);
    expect(await taskOf(db, thread, "notes")).toBeUndefined();
  });

  it("A conversation is ended by its owner only", async () => {
    const { memory, talk } = openTalk(db, { model: noteModel() });
    await say(memory, talk, "Book a table.");
    for (const scope of [{ userId: talk.scope.userId }, { ...talk.scope, userId: "bo" }]) {
      const refused = memory.threads.end({ scope, threadId: talk.threadId });
      await expect(refused).rejects.toMatchObject({ code: "THREAD_FORBIDDEN" });
    }
    expect(await listed(memory, talk)).toMatchObject({ endedAt: null });
    await expect(memory.threads.end(newTalk())).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  it("Maintenance of any process ends a conversation that is idle for notes.idleMs", async () => {
    const first = db.memory({ model: noteModel(), config: { notes: { idleMs: hour } } });
    const talk = newTalk();
    await say(first, talk, "Meetings after 2 pm, please.");
    const second = db.memory({ model: noteModel(), config: { notes: { idleMs: hour } } });
    await silence(db, talk, hour - 60_000);
    await second.upkeep();
    expect(await listed(second, talk)).toMatchObject({ endedAt: null });
    await silence(db, talk, 61_000);
    await second.upkeep();
    expect(await listed(second, talk)).toMatchObject({
      endedAt: expect.any(Date),
      endedReason: "idle",
    });
    expect(await notesOf(second, talk)).toHaveLength(1);
    await second.upkeep();
    expect(await notesOf(second, talk)).toHaveLength(1);
  });

  it("A conversation that continues is not ended for its earlier silence", async () => {
    const { memory, talk } = openTalk(db, {
      model: noteModel(),
      config: { notes: { idleMs: hour } },
    });
    await say(memory, talk, "Meetings after 2 pm, please.");
    await silence(db, talk, hour + 1);
    await say(memory, talk, "And none on Fridays.");
    await memory.upkeep();
    expect(await listed(memory, talk)).toMatchObject({ endedAt: null });
    expect(await memory.graphs().note.invoke(talk)).toMatchObject({ status: "deferred" });
  });

  it("An ended conversation leaves no note without a model or with a limit of 0", async () => {
    const model = noteModel();
    for (const memory of [db.memory({ model, config: { notes: { limit: 0 } } }), db.memory()]) {
      const talk = newTalk();
      await talkAndEnd(memory, talk);
      await memory.upkeep();
      expect(await listed(memory, talk)).toMatchObject({ endedAt: expect.any(Date) });
      expect(await notesOf(memory, talk)).toEqual([]);
    }
    expect(model.prompts("app_note")).toEqual([]);
  });
});
