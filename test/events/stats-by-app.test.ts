import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type Memory, shownBy } from "../../src/index.js";
import type { AppScope } from "../../src/scope/scope.js";
import { addNotes } from "../notes/note-facts.js";
import { appOf, newTalk, noteModel, say, talkAndEnd } from "../notes/note-model.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const dayMs = 86_400_000;

/** A conversation of a user with an app, which is shown what is recalled. */
async function talk(memory: Memory, scope: AppScope) {
  const thread = { scope: { ...scope, userId: randomUUID() }, threadId: randomUUID() };
  const shown = shownBy(await memory.recall({ ...thread, query: "Hello" }));
  await memory.remember({ ...thread, messages: [{ role: "user", content: "Hello" }], shown });
  return thread;
}

describe("the statistics of apps", () => {
  it("tell of each app and of all of a tenant: notes, their rate, and who was shown them", async () => {
    let now = new Date("2030-01-01T00:00:00Z");
    const memory = db.memory({ clock: () => now });
    const tenantId = randomUUID();
    const [shop, desk, idle] = ["shop", "desk", "idle"].map((appId): AppScope => ({ tenantId, appId }));
    await addNotes(memory, shop!, ["Long ago a lesson was learned."]);
    now = new Date(now.getTime() + 60 * dayMs);
    await talk(memory, desk!);
    await talk(memory, shop!);
    await talk(memory, { ...shop!, tenantId: `other than ${tenantId}` });
    await addNotes(memory, shop!, ["Lesson two is about tea.", "Lesson three is about milk."]);
    // A user's scope gives its app the note.
    const ana = { ...desk!, userId: "ana" };
    await memory.memories.add({ kind: "note", text: "Lesson four is about ink." }, { scope: ana });
    await memory.memories.add({ text: "Opens at nine." }, { scope: idle! });
    await talk(memory, desk!);

    const stats = await memory.stats({ by: "app", tenantId, days: 2 });
    expect(stats.apps).toEqual([
      {
        ...{ scope: shop, notes: 3, notesCreated: 2, notesCreatedPerHour: 2 / 48 },
        ...{ compactions: 0, compactionsPerDay: 0 },
        ...{ conversations: 1, conversationsWithNotes: 1, conversationsWithNotesShare: 1 },
        ...{ notesEnergyUnits: 0, energyUnits: 0 },
      },
      expect.objectContaining({
        ...{ scope: desk, notes: 1, notesCreated: 1 },
        ...{ conversations: 2, conversationsWithNotes: 1, conversationsWithNotesShare: 1 / 2 },
      }),
      expect.objectContaining({ scope: idle, notes: 0, conversations: 0, conversationsWithNotesShare: null }),
    ]);
    const { apps: _, ...together } = stats;
    expect(together).toMatchObject({
      ...{ appCount: 3, appsWithNotes: 2, appsWithNotesShare: 2 / 3, notes: 4, notesCreated: 3 },
      ...{ notesCreatedPerHour: 3 / 48, conversations: 3, conversationsWithNotesShare: 2 / 3 },
    });

    const [alone] = (await memory.stats({ by: "app", scope: shop! })).apps;
    expect(alone).toMatchObject({ scope: shop, notesCreated: 2, notesCreatedPerHour: 2 / (30 * 24) });
    const all = await memory.stats({ by: "app" });
    expect(all.appCount).toBe(4);
    // What was purged was written all the same.
    await memory.notes.purge({ scope: shop! });
    const [purged] = (await memory.stats({ by: "app", scope: shop! })).apps;
    expect(purged).toMatchObject({ notes: 0, notesCreated: 2 });
  });

  it("count a compaction once, whatever it changed, an app and day", async () => {
    const memory = db.memory();
    const tenantId = randomUUID();
    const scopes = ["a", "b"].map((appId): AppScope => ({ tenantId, appId }));
    for (const scope of scopes) await addNotes(memory, scope, ["A lesson."]);
    const { wayIn } = await import("../../src/way-in.js");
    const [scope] = scopes;
    const event = { scope: scope!, step: "compact", status: "ok" } as const;
    for (const op of ["classify", "merge", "merge", "classify", "delete"] as const) {
      await wayIn(memory).emit({ ...event, op });
    }
    await wayIn(memory).emit({ ...event, op: "classify", status: "error" });
    const stats = await memory.stats({ by: "app", tenantId, days: 4 });
    expect(stats.apps.map(({ compactions }) => compactions)).toEqual([2, 0]);
    expect(stats.apps[0]?.compactionsPerDay).toBeCloseTo(2 / 4);
    expect(stats.compactionsPerDay).toBeCloseTo(2 / 4 / 2);
  });

  it("tell what notes took of an app's energy", async () => {
    const memory = db.memory({ model: noteModel(), config: { notes: { limit: 1 } } });
    const [talk, other] = [newTalk(), newTalk()];
    await talkAndEnd(memory, talk);
    await talkAndEnd(memory, newTalk(talk.scope.appId), "Another thing.");
    await say(memory, other, "Meetings after 2 pm, please.");
    const { apps, notesEnergyUnits } = await memory.stats({ by: "app", scope: appOf(talk) });
    expect(apps).toMatchObject([{ notes: 1, notesCreated: 2, compactions: 1 }]);
    const taken = (await memory.stats({ scope: appOf(talk) })).energy.kinds;
    expect(taken.map(({ kind }) => kind).toSorted()).toEqual(["compaction", "note"]);
    expect(notesEnergyUnits).toBeCloseTo(taken.reduce((sum, { units }) => sum + units, 0));
    expect(apps[0]?.energyUnits).toBe(notesEnergyUnits);
    expect(notesEnergyUnits).toBeGreaterThan(0);
    expect(await memory.stats({ by: "app", scope: appOf(other) })).toMatchObject({ energyUnits: 0 });
  });

  it("are empty where there is nothing, and refuse what they cannot mean", async () => {
    const memory = db.memory();
    expect(await memory.stats({ by: "app", tenantId: randomUUID() })).toMatchObject({
      ...{ appCount: 0, appsWithNotesShare: null, notes: 0, conversationsWithNotesShare: null, apps: [] },
    });
    const refused = [
      { by: "user" },
      { by: "app", mispelt: 1 },
      { by: "app", days: 0 },
      { by: "app", since: new Date() },
      { by: "app", scope: { userId: "ana", appId: "shop" } },
      { by: "app", scope: { appId: "shop" }, tenantId: "acme" },
    ];
    for (const of of refused) {
      await expect(memory.stats(of as never)).rejects.toMatchObject({ code: "INVALID_INPUT" });
    }
    const users = memory.stats({ by: "app", scope: { userId: "ana" } } as never);
    await expect(users).rejects.toMatchObject({ code: "SCOPE_REQUIRED" });
    const valueless = memory.stats({ by: "app", scope: undefined } as never);
    await expect(valueless).rejects.toMatchObject({ code: "SCOPE_REQUIRED" });
  });
});
