import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { Thread } from "../../src/conversation/list-threads.js";
import type { Memory } from "../../src/memory.js";
import type { Scope } from "../../src/scope/scope.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const ids = (threads: Thread[]) => threads.map((thread) => thread.threadId);

async function pages(memory: Memory, scope: Scope, limit: number): Promise<string[][]> {
  const all: string[][] = [];
  let after: string | undefined;
  do {
    const page = await memory.threads.list({ scope, limit, after });
    after = page.at(-1)?.cursor;
    if (page.length > 0) all.push(ids(page));
  } while (after !== undefined);
  return all;
}

describe("threads.list", () => {
  it("lists a user's threads in one app or all, and an app's threads of all users, latest first", async () => {
    const memory = db.memory();
    const record = (scope: Scope, threadId: string) =>
      memory.record({ scope: { tenantId: "listed", ...scope }, threadId, messages: [new HumanMessage("x")] });
    await record({ userId: "ana" }, "ana");
    await record({ userId: "ana", appId: "notes" }, "ana in notes");
    await record({ userId: "ana", appId: "mail" }, "ana in mail");
    await record({ userId: "ben", appId: "notes" }, "ben in notes");
    await record({ appId: "notes" }, "notes itself");
    const list = async (scope: Scope) => ids(await memory.threads.list({ scope: { tenantId: "listed", ...scope } }));

    expect(await list({ userId: "ana" })).toEqual(["ana in mail", "ana in notes", "ana"]);
    expect(await list({ userId: "ana", appId: "notes" })).toEqual(["ana in notes"]);
    expect(await list({ appId: "notes" })).toEqual(["notes itself", "ben in notes", "ana in notes"]);
    expect(await list({ userId: "cem" })).toEqual([]);
    expect(ids(await memory.threads.list({ scope: { userId: "ana" } }))).toEqual([]);

    await record({ userId: "ana" }, "ana");
    expect(await list({ userId: "ana" })).toEqual(["ana", "ana in mail", "ana in notes"]);
  });

  it("reports message counts and times by the given clock", async () => {
    let now = new Date("2030-01-01T10:00:00Z");
    const memory = db.memory({ clock: () => now });
    const thread = { scope: { userId: "clocked" }, threadId: "clocked" };
    await memory.record({ ...thread, messages: [new HumanMessage("1"), new HumanMessage("2")] });
    now = new Date("2030-01-02T10:00:00.123Z");
    await memory.record({ ...thread, messages: [new HumanMessage("3")] });
    expect(await memory.threads.list({ scope: thread.scope })).toEqual([
      {
        ...thread,
        messages: 3,
        createdAt: new Date("2030-01-01T10:00:00Z"),
        lastActivityAt: new Date("2030-01-02T10:00:00.123Z"),
        endedAt: null,
        endedReason: null,
        cursor: expect.stringContaining("2030-01-02T10:00:00.123000Z/"),
      },
    ]);
  });

  it("pages without gaps or repeats among threads microseconds apart", async () => {
    const now = new Date("2030-01-01T10:00:00Z");
    const memory = db.memory({ clock: () => now });
    const scope = { userId: "paged" };
    const names = Array.from({ length: 25 }, (_, index) => `paged ${index}`);
    for (const threadId of names) await memory.record({ scope, threadId, messages: [] });
    // A third each at one instant, within one millisecond of it, and a little later.
    await db.pool.query(
      `update "${db.schema}".thread set last_activity_at = last_activity_at
         + case id % 3 when 0 then 0 when 1 then id % 999 else 5000 end * interval '1 microsecond'
       where user_id = 'paged'`,
    );
    const whole = ids(await memory.threads.list({ scope }));
    expect([...whole].sort()).toEqual([...names].sort());
    for (const limit of [1, 2, 7, 24, 25, 26]) {
      const read = await pages(memory, scope, limit);
      expect(read.flat()).toEqual(whole);
      expect(read.slice(0, -1).every((page) => page.length === limit)).toBe(true);
    }
  });

  it.each<[string, unknown]>([
    ...[0, -1, 1.5, Number.NaN, 1001, Number.POSITIVE_INFINITY].map((limit): [string, unknown] => ["limit", limit]),
    ...["", "x", "2030-01-01", "2030-01-01T10:00:00.123Z/1", "2030-01-01T10:00:00.123000Z/1; drop table thread"].map(
      (after): [string, unknown] => ["after", after],
    ),
  ])("refuses %s %j", async (name, value) => {
    const listing = db.memory().threads.list({ scope: { userId: "ana" }, [name]: value });
    await expect(listing).rejects.toThrow(expect.objectContaining({ code: "INVALID_INPUT" }));
  });
});
