import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const code = (code: string) => expect.objectContaining({ code });

const say = (memory: Memory, scope: object, threadId: string, text: string) =>
  memory.remember({
    scope,
    threadId,
    messages: [new HumanMessage({ id: `${threadId}-${text}`, content: text })],
  });

/** Every row of any table that still names the user, or its owner's row. */
async function leftOf(userId: string): Promise<Record<string, number>> {
  const { rows: columns } = await db.pool.query(
    `select table_name, column_name from information_schema.columns
     where table_schema = $1 and column_name in ('user_id', 'owner_ref')`,
    [db.schema],
  );
  const { rows: owners } = await db.pool.query(`select id from "${db.schema}".owner where user_id = $1`, [
    userId,
  ]);
  const left: Record<string, number> = {};
  for (const { table_name: table, column_name: column } of columns) {
    const value = column === "user_id" ? userId : (owners[0]?.id ?? null);
    const { rows } = await db.pool.query(
      `select count(*)::int as count from "${db.schema}"."${table}" where ${column} = $1`,
      [value],
    );
    if (rows[0].count > 0) left[`${table}.${column}`] = rows[0].count;
  }
  return left;
}

async function countersOf(userId: string) {
  const { rows } = await db.pool.query(
    `select o.memory_count::int as "memoryCount", o.memory_length::int as "memoryLength",
       o.message_count::int as "messageCount", o.message_length::int as "messageLength",
       (select count(*)::int from "${db.schema}".memory m where m.owner_ref = o.id and m.state = 'active') as memories,
       (select coalesce(sum(length), 0)::int from (
         select max(t.length) as length from "${db.schema}".memory_term t where t.owner_ref = o.id group by t.memory_ref
       ) d) as "memoryTerms",
       (select count(distinct (t.thread_ref, t.seq))::int from "${db.schema}".message_term t
         where t.owner_ref = o.id and left(t.lexeme, 1) <> '@') as messages,
       (select coalesce(sum(t.frequency), 0)::int from "${db.schema}".message_term t
         where t.owner_ref = o.id and left(t.lexeme, 1) <> '@') as "messageTerms"
     from "${db.schema}".owner o where o.user_id = $1`,
    [userId],
  );
  return rows[0];
}

async function expectCounted(userId: string) {
  const counted = await countersOf(userId);
  expect(counted).toMatchObject({
    ...{ memoryCount: counted.memories, memoryLength: counted.memoryTerms },
    ...{ messageCount: counted.messages, messageLength: counted.messageTerms },
  });
}

describe("merging a user into another", () => {
  it("moves threads, transcript, checkpoints, memories, requests, trail and news; nothing is left", async () => {
    const memory = db.memory();
    const [guest, ana] = [{ userId: "guest-1" }, { userId: "ana" }];
    await say(memory, guest, "g1", "I would like a vegetarian dinner in Porto.");
    await say(memory, ana, "a1", "Hello there.");
    const saver = memory.checkpointer();
    const config = (user_id: string) => ({ configurable: { thread_id: "g1", user_id, checkpoint_ns: "" } });
    const checkpoint = {
      v: 4,
      id: "1ef",
      ts: "2026-01-01",
      channel_values: { n: 1 },
      channel_versions: { n: 1 },
      versions_seen: {},
    };
    await saver.put(
      config("guest-1"),
      checkpoint as never,
      { source: "input", step: 0, parents: {} } as never,
      { n: 1 },
    );
    const [diet] = await memory.memories.add(
      {
        category: "preferences",
        key: "diet",
        value: "vegetarian",
        text: "Is vegetarian.",
        source: { threadId: "g1", seqs: [0] },
      },
      { scope: guest },
    );
    await memory.memories.add(
      { category: "profile", key: "city", value: "Porto", text: "Lives in Porto." },
      { scope: guest },
    );
    const before = await memory.memories.history(diet?.id as string, { scope: guest });

    const planned = await memory.users.merge({ from: guest, to: ana, dryRun: true });
    expect((await memory.threads.list({ scope: guest })).map(({ threadId }) => threadId)).toEqual(["g1"]);
    const merged = await memory.users.merge({ from: guest, to: ana });
    expect(merged).toEqual(planned);
    expect(merged).toMatchObject({ threads: 1, messages: 1, memories: 1, merged: 0, closed: 0 });

    expect(await leftOf("guest-1")).toEqual({});
    const threads = await memory.threads.list({ scope: ana });
    expect(threads.map(({ threadId }) => threadId).sort()).toEqual(["a1", "g1"]);
    expect((await memory.memories.get(diet?.id as string, { scope: ana }))?.source).toMatchObject({
      threadId: "g1",
    });
    expect(await memory.memories.history(diet?.id as string, { scope: ana })).toHaveLength(before.length);
    expect(await memory.consents.list({ scope: ana })).toMatchObject([{ value: "Porto", scope: ana }]);
    expect(await memory.transcript.search({ scope: ana, query: "vegetarian dinner" })).toHaveLength(1);
    expect(await memory.query({ scope: ana, query: "vegetarian" })).toHaveLength(1);
    expect((await saver.getTuple(config("ana")))?.checkpoint.id).toBe("1ef");
    await expect(saver.getTuple(config("guest-1"))).rejects.toThrow(code("THREAD_FORBIDDEN"));
    await expectCounted("ana");

    // Goes on where it was, and other threads hear of it.
    const told = await memory.recall({ scope: ana, threadId: "a1", query: "dinner" });
    expect(told.changes.top.map(({ line }) => line).join()).toContain("vegetarian");
    const own = await memory.recall({ scope: ana, threadId: "g1", query: "dinner" });
    expect(own.lastSeq).toBe(0);
    await say(memory, ana, "g1", "And a window seat.");
    await expect(say(memory, guest, "g1", "me again")).rejects.toThrow(code("THREAD_FORBIDDEN"));
    expect(await memory.users.merge({ from: guest, to: ana })).toMatchObject({ threads: 0, memories: 0 });
  });

  it("settles slots by whose word it is, by confidence and by time; what says the same becomes one", async () => {
    const memory = db.memory();
    const [from, to] = [{ userId: "guest-2" }, { userId: "ben" }];
    const slot = (key: string, value: string, fields: object = {}) => ({
      ...{
        category: "preferences",
        key,
        value,
        text: `Prefers ${value}.`,
        origin: "user" as const,
        ...fields,
      },
    });
    const day = (n: number) => new Date(Date.UTC(2026, 0, n));
    await memory.memories.add(
      [
        slot("drink", "tea", { origin: "tool", validFrom: day(1) }),
        slot("seat", "aisle", { confidence: 0.9, validFrom: day(1) }),
        slot("music", "jazz", { validFrom: day(9) }),
        slot("colour", "red", { validFrom: day(1) }),
        { text: "Ben keeps bees behind the house.", metadata: { a: 1 } },
      ],
      { scope: to },
    );
    await memory.memories.add(
      [
        slot("drink", "coffee", { validFrom: day(2) }),
        slot("seat", "window", { origin: "tool", confidence: 1, validFrom: day(2) }),
        slot("music", "soul", { validFrom: day(3) }),
        slot("colour", "red", { validFrom: day(2) }),
        { text: "Ben keeps bees behind the house.", metadata: { b: 2 } },
        { text: "Ben sings in a choir." },
      ],
      { scope: from },
    );
    const merged = await memory.users.merge({ from, to });
    expect(merged).toMatchObject({ memories: 6, merged: 2, closed: 3 });
    const active = await memory.memories.list({ scope: to });
    const values = Object.fromEntries(active.filter(({ key }) => key).map(({ key, value }) => [key, value]));
    expect(values).toEqual({ drink: "coffee", seat: "aisle", music: "jazz", colour: "red" });
    const free = active.filter(({ key }) => key === null);
    expect(free.map(({ text, seenCount, metadata }) => [text, seenCount, metadata]).sort()).toEqual([
      ["Ben keeps bees behind the house.", 2, { a: 1, b: 2 }],
      ["Ben sings in a choir.", 1, {}],
    ]);
    const closed = await memory.memories.list({ scope: to, states: ["superseded", "merged"] });
    expect(closed).toHaveLength(5);
    expect(closed.every(({ supersededBy }) => active.some(({ id }) => id === supersededBy))).toBe(true);
    // A slot held one value at a time.
    for (const key of Object.keys(values)) {
      const line = [...active, ...closed]
        .filter((each) => each.key === key && each.state !== "merged")
        .map(
          ({ validFrom, validTo }) =>
            [validFrom.getTime(), validTo?.getTime() ?? Number.POSITIVE_INFINITY] as const,
        )
        .filter(([start, end]) => start < end)
        .sort(([one], [other]) => one - other);
      for (const [index, [start]] of line.entries()) {
        if (index > 0) expect(line[index - 1]?.[1], key).toBeLessThanOrEqual(start);
      }
    }
    const loser = closed.find(({ value }) => value === "window");
    const [entry] = await memory.memories.history(loser?.id as string, { scope: to });
    expect(entry).toMatchObject({ event: "UPDATE", actor: "api", new: { reason: "merge" } });
    expect(await leftOf("guest-2")).toEqual({});
    await expectCounted("ben");
  });

  it("of requests that wait for one slot the target's stands", async () => {
    const memory = db.memory();
    const [from, to] = [{ userId: "guest-3" }, { userId: "cleo" }];
    const city = (value: string) => ({ category: "profile", key: "city", value, text: `Lives in ${value}.` });
    await memory.memories.add(city("Porto"), { scope: from });
    await memory.memories.add(city("Oslo"), { scope: to });
    await memory.users.merge({ from, to });
    const all = await memory.consents.list({ scope: to, status: ["pending", "superseded"] });
    expect(all.map(({ value, status }) => [value, status]).sort()).toEqual([
      ["Oslo", "pending"],
      ["Porto", "superseded"],
    ]);
  });

  it("gives a signed-in user the conversations begun in an app, and what was learned there", async () => {
    const memory = db.memory();
    const [app, dana] = [{ appId: "shop" }, { userId: "dana" }];
    const signedIn = { userId: "dana", appId: "shop" };
    await say(memory, app, "anon-1", "My shoes are size 40.");
    await say(memory, app, "anon-2", "Somebody else's words.");
    await memory.memories.add(
      [
        { text: "Wears shoes of size 40.", source: { threadId: "anon-1", seqs: [0] } },
        { text: "The shop closes at six." },
      ],
      { scope: app },
    );
    await expect(say(memory, signedIn, "anon-1", "It is me.")).rejects.toThrow(code("THREAD_FORBIDDEN"));
    await expect(memory.users.merge({ from: app, to: dana })).rejects.toThrow(/threadIds/);
    await expect(memory.users.merge({ from: app, to: dana, threadIds: ["no-such"] })).rejects.toThrow(
      code("NOT_FOUND"),
    );
    const merged = await memory.users.merge({ from: app, to: dana, threadIds: ["anon-1"] });
    expect(merged).toMatchObject({ threads: 1, memories: 1 });
    await say(memory, signedIn, "anon-1", "It is me.");
    expect((await memory.memories.list({ scope: dana })).map(({ text }) => text)).toEqual([
      "Wears shoes of size 40.",
    ]);
    expect((await memory.memories.list({ scope: app })).map(({ text }) => text)).toEqual([
      "The shop closes at six.",
    ]);
    expect((await memory.threads.list({ scope: app })).map(({ threadId }) => threadId).sort()).toContain(
      "anon-2",
    );
    const news = await memory.changes.since(0, { scope: app });
    expect(JSON.stringify(news)).not.toContain("size 40");
    await expectCounted("dana");
  });

  it.each([
    ["two tenants", { from: { tenantId: "a", userId: "x" }, to: { tenantId: "b", userId: "y" } }],
    ["the same user", { from: { userId: "x" }, to: { userId: "x" } }],
    ["an app as target", { from: { userId: "x" }, to: { appId: "y" } }],
    ["a user within an app", { from: { userId: "x", appId: "a" }, to: { userId: "y" } }],
    ["threads of a user", { from: { userId: "x" }, to: { userId: "y" }, threadIds: ["t"] }],
    ["a misspelt key", { from: { userId: "x" }, to: { userId: "y" }, dryrun: true }],
  ])("refuses %s", async (_, input) => {
    await expect(db.memory().users.merge(input as never)).rejects.toThrow(code("INVALID_INPUT"));
  });

  it.runIf(onServer())("loses nothing while others write to both", { timeout: 120_000 }, async () => {
    const memory = db.memory();
    const [from, to] = [{ userId: "busy-guest" }, { userId: "busy" }];
    const written: string[] = [];
    const add = async (scope: { userId: string }, n: number) => {
      const text = `${scope.userId} wrote number ${n} of this list of numbers.`;
      await memory.memories.add(
        { category: "knowledge", key: `${scope.userId}_${n}`, value: `${n}`, text },
        { scope },
      );
      written.push(text);
    };
    const talk = async (scope: { userId: string }, thread: string, n: number) => {
      try {
        await say(memory, scope, thread, `word ${n}`);
      } catch (error) {
        expect(error).toMatchObject({ code: "THREAD_FORBIDDEN" });
      }
    };
    await add(from, 99);
    const writers = [from, to].map(async (scope) => {
      for (let n = 0; n < 15; n++) {
        await add(scope, n);
        await talk(scope, `${scope.userId}-thread`, n);
      }
    });
    const merges = (async () => {
      for (let n = 0; n < 6; n++) await memory.users.merge({ from, to });
    })();
    await Promise.all([...writers, merges]);
    await memory.users.merge({ from, to });
    const kept = (await memory.memories.list({ scope: to, limit: 1_000 })).map(({ text }) => text);
    expect(kept.toSorted()).toEqual(written.toSorted());
    expect(await leftOf("busy-guest")).toEqual({});
    await expectCounted("busy");
  });
});
