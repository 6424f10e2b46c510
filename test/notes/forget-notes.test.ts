import { describe, expect, it } from "vitest";
import { createGate } from "../../src/testing/index.js";
import { findEverywhere } from "../support/find-everywhere.js";
import { runLifecycle } from "../support/run-lifecycle.js";
import { useTestDatabase } from "../support/test-database.js";
import { addNotes } from "./note-facts.js";
import {
  appOf,
  decided,
  newTalk,
  noted,
  noteModel,
  notesOf,
  openTalk,
  say,
  talkAndEnd,
} from "./note-model.js";

const db = useTestDatabase();

/** Notes that quote what the user said. */
const quoting = (replies: Parameters<typeof noteModel>[0] = {}) =>
  noteModel({
    app_note: (prompt) => noted(`The user likes ${/likes (\w+)/.exec(prompt)?.[1]}.`),
    ...replies,
  });

describe("forgetting a user", () => {
  it("Forgetting a user deletes the app notes of their conversations and keeps those of others", async () => {
    const { memory, talk: ana } = openTalk(db, { model: quoting() });
    const bo = newTalk(ana.scope.appId);
    await talkAndEnd(memory, ana, "Ana likes quinces.");
    await talkAndEnd(memory, bo, "Bo likes pears.");
    const { revision } = await memory.changes.list({ scope: appOf(ana), since: 0 });
    const scope = { userId: ana.scope.userId };
    const preview = await memory.forget({ scope, dryRun: true });
    expect(preview.removed).toMatchObject({ memory: 1, note_source: 1 });
    const { removed, complete, total } = await memory.forget({ scope });
    expect([removed, complete, total]).toEqual([preview.removed, true, preview.total]);
    expect(await notesOf(memory, ana)).toEqual(["The user likes pears."]);
    expect(await findEverywhere(db, "quinces")).toEqual({});
    const { changes } = await memory.changes.list({ scope: appOf(ana), since: revision });
    expect(changes.map(({ event, line }) => `${event} ${line}`)).toEqual([
      "deleted [App notes] (no longer kept)",
    ]);
  });

  it("Forgetting a user deletes a note merged from theirs and its words in the audit trail", async () => {
    const model = quoting({
      note_compaction: () =>
        decided({
          action: "edit",
          target: 2,
          with: 1,
          text: "Users like pears and quinces.",
          reason: "Both are about quinces and pears.",
        }),
    });
    const { memory, talk: ana } = openTalk(db, { model, config: { notes: { limit: 2 } } });
    const bo = newTalk(ana.scope.appId);
    await talkAndEnd(memory, ana, "Ana likes quinces.");
    await talkAndEnd(memory, bo, "Bo likes pears.");
    await talkAndEnd(memory, newTalk(ana.scope.appId), "Cy likes plums.");
    expect(await notesOf(memory, ana)).toEqual([
      "Users like pears and quinces.",
      "The user likes plums.",
    ]);
    expect(await memory.forget({ scope: { userId: ana.scope.userId } })).toMatchObject({
      complete: true,
    });
    expect(await notesOf(memory, ana)).toEqual(["The user likes plums."]);
    expect(await findEverywhere(db, "quinces")).toEqual({});
  });

  it("Forgetting a user deletes the words of a purged note and of reasons that quote it", async () => {
    const model = quoting({
      note_compaction: (_, call) =>
        decided({ target: 1, reason: call === 0 ? "Less than pears." : "Not quinces." }),
    });
    const { memory, talk: ana } = openTalk(db, { model, config: { notes: { limit: 1 } } });
    await talkAndEnd(memory, ana, "Ana likes quinces.");
    for (const fruit of ["pears", "plums"]) {
      await talkAndEnd(memory, newTalk(ana.scope.appId), `They like nothing, one likes ${fruit}.`);
    }
    await db.pool.query(
      `update "${db.schema}".memory set purge_at = now() where state = 'soft_deleted'`,
    );
    await runLifecycle(memory);
    expect(await memory.forget({ scope: ana.scope })).toMatchObject({ complete: true });
    expect(await findEverywhere(db, "quinces")).toEqual({});
    expect(await notesOf(memory, ana)).toEqual(["The user likes plums."]);
  });

  it("Forgetting a user leaves no note of a conversation that is being noted", async () => {
    const gate = createGate();
    const model = noteModel({
      app_note: async () => {
        await gate.wait();
        return noted("The user likes medlars.");
      },
    });
    const { memory, talk: ana } = openTalk(db, { model, jobs: "background" });
    await talkAndEnd(memory, ana, "Ana likes medlars.");
    await expect.poll(() => gate.waiting).toBe(1);
    expect(await memory.forget({ scope: ana.scope })).toMatchObject({ complete: true });
    gate.open();
    await memory.idle();
    expect(await findEverywhere(db, "medlars")).toEqual({});
  });
});

it('Deleting a thread keeps its note, or deletes it with memories: "remove"', async () => {
  const memory = db.memory({ model: quoting() });
  const [kept, gone] = [newTalk(), newTalk()];
  for (const talk of [kept, gone]) await talkAndEnd(memory, talk, "Ana likes pears.");
  await memory.threads.delete(kept);
  const preview = await memory.threads.delete({ ...gone, memories: "remove", dryRun: true });
  const { removed } = await memory.threads.delete({ ...gone, memories: "remove" });
  expect(removed).toEqual(preview.removed);
  expect([await notesOf(memory, kept), await notesOf(memory, gone)]).toEqual([
    ["The user likes pears."],
    [],
  ]);
});

describe("a note", () => {
  it("A note does not reveal whose conversation it came from", async () => {
    const { memory, talk: ana } = openTalk(db, { model: quoting() });
    await talkAndEnd(memory, ana, "Ana likes pears.");
    const bo = { userId: "bo", appId: ana.scope.appId };
    const seen = JSON.stringify(await memory.memories.list({ scope: bo, kinds: ["note"] }));
    expect(seen).toContain("pears");
    expect(seen).not.toContain(ana.threadId);
    expect(seen).not.toContain(ana.scope.userId);
  });

  it("A note of an app's own conversation has its source, and is forgotten with the app", async () => {
    const {
      memory,
      talk: { scope, threadId },
    } = openTalk(db, { model: quoting() });
    const talk = { scope: { appId: scope.appId } as typeof scope, threadId };
    await say(memory, talk, "The team likes sloes.");
    await memory.threads.end(talk);
    const [note] = await memory.memories.list({ scope: talk.scope, kinds: ["note"] });
    expect(note?.source).toEqual({ threadId, seqs: [0, 1] });
    await addNotes(memory, appOf(talk), ["The team likes rye."]);
    const preview = await memory.forget({ scope: talk.scope, dryRun: true });
    expect((await memory.forget({ scope: talk.scope })).removed).toEqual(preview.removed);
    expect(await findEverywhere(db, "sloes")).toEqual({});
  });
});
