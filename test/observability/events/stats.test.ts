import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { type Memory, shownBy } from "../../../src/index.js";
import { internalApi } from "../../../src/internal-api.js";
import type { AppScope } from "../../../src/scope/scope.js";
import { addNotes } from "../../notes/note-facts.js";
import { appOf, newTalk, noteModel, say as sayTo, talkAndEnd } from "../../notes/note-model.js";
import { candidate, facts, taskModel } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";
import { newAddress, say } from "../../support/thread-facts.js";

const db = useTestDatabase();
const config = { memories: { extract: true } };
const dayMs = 86_400_000;
const word = () => `day${randomUUID().replaceAll("-", "")}`;
const days = ["2026-11-18", "2026-11-19", "2026-11-20"];

const nothing = {
  memories: {},
  writes: {},
  firstPassRate: null,
  written: 0,
  rejected: 0,
  deadLetters: 0,
  recallToolShare: null,
  recalls: 0,
  recallsWithMemory: 0,
  recallLatencyMs: null,
  conversations: 0,
  conversationsWithNotesShare: null,
  notesCreated: 0,
  notesCreatedPerHour: 0,
  compactions: 0,
  compactionsPerDay: 0,
  energyUnits: 0,
  notesEnergyUnits: 0,
  since: expect.any(Date),
  backlog: 0,
  oldestDueAt: null,
  stuck: 0,
  givenUp: 0,
  energy: { level: 100, unitsToday: 0, callsToday: 0, kinds: [] },
};

it("Statistics begin empty, and count one scope or all", async () => {
  const memory = db.memory();
  expect(await memory.stats()).toEqual(nothing);
  const thread = newAddress();
  await memory.remember({ ...thread, messages: [new HumanMessage("Hi")] });
  expect(await memory.stats({ scope: { userId: "nobody" } })).toEqual(nothing);
  const one = { ...nothing, conversations: 1, conversationsWithNotesShare: 0, recallToolShare: 0 };
  expect(await memory.stats({ scope: thread.scope })).toEqual(one);
  expect(await memory.stats()).toEqual(one);
});

it("Statistics report the backlog, its oldest due work, stuck work and given-up work as of now", async () => {
  const memory = db.memory({ config });
  const [thread, other] = [newAddress(), newAddress()];
  for (const address of [thread, other])
    await memory.remember({
      ...address,
      messages: [new HumanMessage("I hike."), new AIMessage("Nice.")],
    });
  for (const [kind, { scope }, column, at] of [
    ["summaries", thread, "retry_at", "- interval '2 hours'"],
    ["episodes", thread, "retry_at", "+ interval '1 hour'"],
    ["notes", thread, "lease_until", "+ interval '1 minute'"],
    ["facts", thread, "lease_until", "- interval '1 hour'"],
    ["facts", thread, "given_up_at", "- interval '80 days'"],
    ["facts", other, "given_up_at", ""],
  ] as const)
    await db.pool.query(
      `insert into "${db.schema}".work (kind, thread_ref, done_until, ${column})
       select $1, id, -1, now() ${at} from "${db.schema}".thread where user_id = $2`,
      [kind, scope.userId],
    );
  const now = { backlog: 2, oldestDueAt: expect.any(Date), stuck: 1, givenUp: 1 };
  const { scope } = thread;
  for (const of of [{ scope }, { scope, by: "day" as const }, { scope, days: 1 }])
    expect(await memory.stats(of as { scope: typeof scope })).toMatchObject(now);
  const { oldestDueAt } = await memory.stats({ scope });
  expect(Date.now() - (oldestDueAt?.getTime() ?? 0)).toBeGreaterThan(7_000_000);
  expect(await memory.stats({ scope: other.scope })).toMatchObject({
    backlog: 0,
    stuck: 0,
    givenUp: 1,
  });
});

it("The first-pass rate counts candidates that satisfied the writing constraints unchanged", async () => {
  const hike = (text: string, fields = {}) => candidate(text, "I hike", fields);
  const job = { category: "profile", key: "job" };
  const model = taskModel({
    fact_extraction: (_, call) =>
      facts(
        ...(call === 0
          ? [
              hike("The user hikes."),
              hike(`The user hikes far. ${"The user walks. ".repeat(20)}`),
              hike("…"),
              hike("The user hikes often.", { confidence: 0.1 }),
            ]
          : [
              hike("The user works as a guide.", { ...job, value: "guide" }),
              hike("The user works as a baker.", { ...job, value: "baker", confidence: 0.5 }),
            ]),
      ),
  });
  const memory = db.memory({ model, config: { ...config, consent: { sensitive: [] } } });
  const thread = newAddress();
  await say(memory, thread, "I hike.");
  // 4 proposed; 3 judged by their form, of which 1 came as it should.
  expect(await memory.stats({ scope: thread.scope })).toMatchObject({
    firstPassRate: 1 / 3,
    written: 2,
    rejected: 2,
  });
  await say(memory, thread, "I hike!");
  expect(await memory.stats({ scope: thread.scope })).toMatchObject({
    firstPassRate: 1 / 2,
    written: 3,
    rejected: 3,
  });
});

it("The recall share counts turns of the last 30 days with a search by tool", async () => {
  let now = new Date("2030-01-01T00:00:00Z");
  const memory = db.memory({ clock: () => now });
  const thread = newAddress();
  const turn = async (searches: number) => {
    now = new Date(now.getTime() + 60_000);
    for (let search = 0; search < searches; search++) {
      await internalApi(memory).emit({ ...thread, step: "tool", op: "search", status: "ok" });
    }
    now = new Date(now.getTime() + 60_000);
    await memory.remember({
      ...thread,
      messages: [new HumanMessage(`At ${now}`), new AIMessage("Yes.")],
    });
  };
  for (const searches of [0, 2, 0, 1]) await turn(searches);
  expect((await memory.stats({ scope: thread.scope })).recallToolShare).toBe(2 / 4);
  now = new Date("2030-03-01T00:00:00Z");
  expect((await memory.stats({ scope: thread.scope })).recallToolShare).toBeNull();
  await turn(1);
  expect((await memory.stats({ scope: thread.scope })).recallToolShare).toBe(1);
});

it("Statistics by day have the writes, memories and recalls of the scope", async () => {
  let now = new Date(`${days[0]}T23:59:59.500Z`);
  const memory = db.memory({ clock: () => now });
  const tenantId = word();
  const user = () => ({ tenantId, userId: word() });
  const [ana, ben] = [user(), user()];
  const turn = async (scope: typeof ana, content: string) => {
    const address = { scope, threadId: `t of ${scope.userId}` };
    const recalled = await memory.recall({ ...address, query: content });
    const messages = [new HumanMessage(content), new AIMessage("I see.")];
    // A copy, as nodes have it in their state.
    await memory.remember({ ...address, shown: shownBy({ ...recalled }), messages });
  };
  await turn(ana, "Hello.");
  await memory.memories.add({
    scope: ana,
    memories: { text: "The user sails a boat.", category: "event" },
  });
  now = new Date(`${days[2]}T00:00:00Z`);
  await memory.memories.add({
    scope: ana,
    memories: { text: "The user plays the drum.", category: "event", kind: "insight" },
  });
  await turn(ana, "Where is my boat?");
  await turn(ben, "Where is my boat?");

  const { rows, ...all } = await memory.stats({ by: "day", days: 3, scope: ana });
  expect(rows.map(({ day }) => day)).toEqual(days);
  expect(rows.map(({ memories }) => memories)).toEqual([
    { fact: 1 },
    { fact: 1 },
    { fact: 1, insight: 1 },
  ]);
  const recalls = rows.map(
    ({ recalls, recallsWithMemory }) => `${recallsWithMemory} of ${recalls}`,
  );
  expect(recalls).toEqual(["0 of 1", "0 of 0", "1 of 1"]);
  expect(rows.map(({ writes: { create = 0 } }) => create)).toEqual([1, 0, 1]);
  expect(all).toMatchObject({
    recalls: 2,
    recallsWithMemory: 1,
    memories: { fact: 1, insight: 1 },
    recallLatencyMs: null,
  });
  expect(rows[1]?.recallLatencyMs).toBeNull();
  const { p50 = 0, p95 = 0 } = rows[2]?.recallLatencyMs ?? {};
  expect(p50).toBeGreaterThan(0);
  expect(p95).toBeGreaterThanOrEqual(p50);

  const ofTenant = await memory.stats({ by: "day", days: 1, tenantId });
  expect(ofTenant.rows).toMatchObject([{ day: days[2], recalls: 2, recallsWithMemory: 1 }]);
  expect((await memory.stats({ by: "day" })).rows).toHaveLength(30);
  for (const wrong of [
    { days: 0 },
    { days: 1.5 },
    { days: 91 },
    { day: 3 },
    { scope: ana, tenantId },
  ]) {
    await expect(memory.stats({ by: "day", ...wrong } as never)).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  }
});

/** A turn of a new user with an app. */
async function talk(memory: Memory, scope: AppScope) {
  const thread = { scope: { ...scope, userId: randomUUID() }, threadId: randomUUID() };
  const shown = shownBy(await memory.recall({ ...thread, query: "Hello" }));
  await memory.remember({ ...thread, messages: [{ role: "user", content: "Hello" }], shown });
  return thread;
}

describe("statistics of apps", () => {
  it("Statistics of apps count notes, their rate and the conversations shown them, by app and tenant", async () => {
    let now = new Date("2030-01-01T00:00:00Z");
    const memory = db.memory({ clock: () => now });
    const tenantId = randomUUID();
    const [shop, desk, idle] = ["shop", "desk", "idle"].map(
      (appId): AppScope => ({ tenantId, appId }),
    );
    await addNotes(memory, shop!, ["Long ago a lesson was learned."]);
    now = new Date(now.getTime() + 60 * dayMs);
    await talk(memory, desk!);
    await talk(memory, shop!);
    await talk(memory, { ...shop!, tenantId: `other than ${tenantId}` });
    await addNotes(memory, shop!, ["Lesson two is about tea.", "Lesson three is about milk."]);
    // An operator gives the app a note in a user's scope.
    const ana = { ...desk!, userId: "ana" };
    const note = { kind: "note", text: "Lesson four is about ink.", origin: "operator" } as const;
    await memory.memories.add({ scope: ana, memories: note });
    await memory.memories.add({ scope: idle!, memories: { text: "Opens at nine." } });
    await talk(memory, desk!);

    const stats = await memory.stats({ by: "app", tenantId, days: 2 });
    expect(stats.rows).toEqual([
      expect.objectContaining({
        scope: shop,
        memories: { note: 3 },
        notesCreated: 2,
        notesCreatedPerHour: 2 / 48,
        compactions: 0,
        conversations: 1,
        conversationsWithNotesShare: 1,
        notesEnergyUnits: 0,
      }),
      expect.objectContaining({
        scope: desk,
        memories: { note: 1 },
        notesCreated: 1,
        conversations: 2,
        conversationsWithNotesShare: 1 / 2,
      }),
      expect.objectContaining({
        scope: idle,
        memories: { fact: 1 },
        conversationsWithNotesShare: null,
      }),
    ]);
    const { rows: _, ...together } = stats;
    expect(together).toMatchObject({
      appsWithNotesShare: 2 / 3,
      memories: { note: 4 },
      notesCreated: 3,
      notesCreatedPerHour: 3 / 48,
      conversations: 3,
      conversationsWithNotesShare: 2 / 3,
    });

    const [alone] = (await memory.stats({ by: "app", scope: shop! })).rows;
    expect(alone).toMatchObject({
      scope: shop,
      notesCreated: 2,
      notesCreatedPerHour: 2 / (30 * 24),
    });
    expect((await memory.stats({ by: "app" })).rows).toHaveLength(4);
    // What was purged was written all the same.
    await memory.notes.purge({ scope: shop! });
    const [purged] = (await memory.stats({ by: "app", scope: shop! })).rows;
    expect(purged).toMatchObject({ memories: {}, notesCreated: 2 });
  });

  it("Statistics of apps count a compaction once, with any number of changes", async () => {
    const memory = db.memory();
    const tenantId = randomUUID();
    const scopes = ["a", "b"].map((appId): AppScope => ({ tenantId, appId }));
    for (const scope of scopes) await addNotes(memory, scope, ["A lesson."]);
    const [scope] = scopes;
    const event = { scope: scope!, step: "compaction", status: "ok" } as const;
    for (const op of ["classify", "merge", "merge", "classify", "delete"] as const) {
      await internalApi(memory).emit({ ...event, op });
    }
    await internalApi(memory).emit({ ...event, op: "classify", status: "error" });
    const stats = await memory.stats({ by: "app", tenantId, days: 4 });
    expect(stats.rows.map(({ compactions }) => compactions)).toEqual([2, 0]);
    expect(stats.rows[0]?.compactionsPerDay).toBeCloseTo(2 / 4);
    expect(stats.compactionsPerDay).toBeCloseTo(2 / 4 / 2);
  });

  it("Statistics of apps count the energy that an app's notes took", async () => {
    const memory = db.memory({ model: noteModel(), config: { notes: { limit: 1 } } });
    const [talk, other] = [newTalk(), newTalk()];
    await talkAndEnd(memory, talk);
    await talkAndEnd(memory, newTalk(talk.scope.appId), "Another thing.");
    await sayTo(memory, other, "Meetings after 2 pm, please.");
    const { rows, notesEnergyUnits } = await memory.stats({ by: "app", scope: appOf(talk) });
    expect(rows).toMatchObject([{ memories: { note: 1 }, notesCreated: 2, compactions: 1 }]);
    const taken = (await memory.stats({ scope: appOf(talk) })).energy.kinds;
    expect(taken.map(({ kind }) => kind).toSorted()).toEqual(["compaction", "notes"]);
    expect(notesEnergyUnits).toBeCloseTo(taken.reduce((sum, { units }) => sum + units, 0));
    expect(rows[0]?.energyUnits).toBe(notesEnergyUnits);
    expect(notesEnergyUnits).toBeGreaterThan(0);
    expect(await memory.stats({ by: "app", scope: appOf(other) })).toMatchObject({
      energyUnits: 0,
    });
  });

  it("Statistics of apps are empty without data, and refuse invalid selections", async () => {
    const memory = db.memory();
    expect(await memory.stats({ by: "app", tenantId: randomUUID() })).toMatchObject({
      appsWithNotesShare: null,
      conversationsWithNotesShare: null,
      rows: [],
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
