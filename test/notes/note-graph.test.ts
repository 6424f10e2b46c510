import { describe, expect, it } from "vitest";
import { useIsolatedDatabase } from "../support/isolated-database.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { addNotes } from "./note-facts.js";
import { appOf, newTalk, noteModel, notesOf, say, talkAndEnd } from "./note-model.js";

const db = useTestDatabase();

describe("the graphs of notes and compaction", () => {
  it("The graph notes an ended conversation by hand and compacts the notes", async () => {
    const memory = db.memory({ model: noteModel(), config: { notes: { limit: 1 } } });
    // Its end is told by a process without a model.
    const other = db.memory();
    const talk = newTalk();
    await addNotes(memory, appOf(talk), ["The user has a dog."]);
    await say(other, talk, "I have a cat.");
    expect(await memory.graphs().note.invoke(talk)).toMatchObject({ status: "deferred" });
    await other.threads.end(talk);
    const { status, memoryId, content } = await memory.graphs().note.invoke(talk);
    expect([status, content?.text]).toEqual(["completed", "Conversation 0 was about subject 0."]);
    expect((await memory.memories.get({ scope: appOf(talk), id: memoryId ?? "" }))?.kind).toBe(
      "note",
    );
    expect(await notesOf(memory, talk)).toEqual(["Conversation 0 was about subject 0."]);
    expect(await memory.graphs().note.invoke(talk)).toMatchObject({
      status: "skipped",
      reason: "nothing_new",
    });
    expect(await memory.graphs().compaction.invoke({ scope: appOf(talk) })).toMatchObject({
      status: "skipped",
      reason: "within_limit",
    });
  });
});

describe.skipIf(!onServer())("notes under row-level security (server only)", () => {
  const isolated = useIsolatedDatabase(db);
  const config = { memories: { extract: false, episodes: false }, notes: { limit: 2 } };

  it("Isolated tenants' notes are made and compacted in the turn, and by maintenance across tenants", async () => {
    const app = isolated.memory({ model: noteModel(), config });
    const talks = ["one", "two", "three"].map(() => newTalk("shop", "acme"));
    for (const talk of talks) await talkAndEnd(app, talk);
    const elsewhere = newTalk("shop", "umbrella");
    await talkAndEnd(app, elsewhere);
    expect(await notesOf(app, talks[0]!)).toHaveLength(2);
    expect(await notesOf(app, elsewhere)).toHaveLength(1);

    const silent = isolated.memory({
      model: noteModel(),
      config: { ...config, notes: { idleMs: 1 } },
    });
    const idle = newTalk("mail", "acme");
    await say(silent, idle, "I have a cat.");
    const owner = isolated.memory({
      role: "owner",
      model: noteModel(),
      config: { ...config, notes: { idleMs: 1 } },
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await owner.upkeep()).toBeGreaterThan(0);
    expect(await notesOf(owner, idle)).toHaveLength(1);
    expect(
      await owner.forget({ scope: { tenantId: "acme", userId: idle.scope.userId } }),
    ).toMatchObject({
      complete: true,
    });
    expect(await notesOf(owner, idle)).toEqual([]);
  });
});
