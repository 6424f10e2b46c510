import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { emptyCheckpoint } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { Memory } from "../../src/memory.js";
import type { Scope } from "../../src/scope/scope.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import type { Thread } from "../../src/transcript/list-threads.js";
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
  it("threads.list lists a user's threads in one app or all, and an app's threads of all users, latest first", async () => {
    const memory = db.memory();
    const record = (scope: Scope, threadId: string) =>
      memory.record({
        scope: { tenantId: "listed", ...scope },
        threadId,
        messages: [new HumanMessage("x")],
      });
    await record({ userId: "ana" }, "ana");
    await record({ userId: "ana", appId: "notes" }, "ana in notes");
    await record({ userId: "ana", appId: "mail" }, "ana in mail");
    await record({ userId: "ben", appId: "notes" }, "ben in notes");
    await record({ appId: "notes" }, "notes itself");
    const list = async (scope: Scope) =>
      ids(await memory.threads.list({ scope: { tenantId: "listed", ...scope } }));

    expect(await list({ userId: "ana" })).toEqual(["ana in mail", "ana in notes", "ana"]);
    expect(await list({ userId: "ana", appId: "notes" })).toEqual(["ana in notes"]);
    expect(await list({ appId: "notes" })).toEqual([
      "notes itself",
      "ben in notes",
      "ana in notes",
    ]);
    expect(await list({ userId: "cem" })).toEqual([]);
    expect(ids(await memory.threads.list({ scope: { userId: "ana" } }))).toEqual([]);

    await record({ userId: "ana" }, "ana");
    expect(await list({ userId: "ana" })).toEqual(["ana", "ana in mail", "ana in notes"]);
  });

  it("threads.list reports message counts, and times by the given clock", async () => {
    let now = new Date("2030-01-01T10:00:00Z");
    const memory = db.memory({ clock: () => now });
    const thread = { scope: { userId: "clocked" }, threadId: "clocked" };
    await memory.record({ ...thread, messages: [new HumanMessage("1"), new HumanMessage("2")] });
    now = new Date("2030-01-02T10:00:00.123Z");
    await memory.record({ ...thread, messages: [new HumanMessage("3")] });
    expect(await memory.threads.list({ scope: thread.scope })).toEqual([
      {
        ...thread,
        title: "1",
        last: { role: "user", text: "3" },
        failed: false,
        messages: 3,
        createdAt: new Date("2030-01-01T10:00:00Z"),
        lastActivityAt: new Date("2030-01-02T10:00:00.123Z"),
        endedAt: null,
        endedReason: null,
        cursor: expect.stringContaining("2030-01-02T10:00:00.123000Z/"),
      },
    ]);
  });

  it("threads.list shows the first and last words of each thread, cut, without tools' results and blanks", async () => {
    const memory = db.memory();
    const talk = async (
      threadId: string,
      messages: Parameters<typeof memory.record>[0]["messages"],
    ) => {
      await memory.record({ scope: { userId: "worded" }, threadId, messages });
      const [{ title, last } = {} as Thread] = await memory.threads.list({
        scope: { userId: "worded" },
      });
      return [title, last];
    };
    const calls = [{ id: "c", name: "weather", args: {} }];
    expect(await talk("silent", [])).toEqual([null, null]);
    expect(
      await talk("tool", [
        new AIMessage("Hello."),
        new AIMessage({ content: "", tool_calls: calls }),
      ]),
    ).toEqual([null, { role: "assistant", text: expect.stringContaining("weather") }]);
    const asked = [
      new HumanMessage(" \n "),
      new HumanMessage("\n 🦊 Is it\nwarm?"),
      new AIMessage("It is."),
    ];
    const result = new ToolMessage({ content: "20 degrees", tool_call_id: "c" });
    expect(await talk("asked", [...asked, result])).toEqual([
      "🦊 Is it\nwarm?",
      { role: "assistant", text: "It is." },
    ]);
    const book = "🦊".repeat(1_000_000);
    expect(await talk("book", [new HumanMessage(book)])).toEqual([
      "🦊".repeat(120),
      { role: "user", text: "🦊".repeat(160) },
    ]);
  });

  it("threads.list selects by time and state, and marks a failed thread until its work is retried", async () => {
    let now = new Date("2030-01-01T10:00:00Z");
    let isBroken = true;
    const structured = { fact_extraction: () => (isBroken ? {} : { candidates: [] }) };
    const config = { memories: { extract: true }, upkeep: { maxAttempts: 1 } } as const;
    const memory = db.memory({
      model: new OfflineChatModel({ structured }),
      config,
      clock: () => now,
    });
    const scope = { userId: "stated" };
    const say = (threadId: string) =>
      memory.remember({ scope, threadId, messages: [new HumanMessage("I keep bees.")] });
    const list = async (selection: object) =>
      ids(await memory.threads.list({ scope, ...selection })).toSorted();
    await say("unlearned");
    await memory.idle();
    isBroken = false;
    for (const threadId of ["ended", "good"]) {
      now = new Date(now.getTime() + 3_600_000);
      await say(threadId);
    }
    await memory.threads.end({ scope, threadId: "ended" });
    expect(await list({ state: "failed" })).toEqual(["unlearned"]);
    expect(await list({ state: "open" })).toEqual(["good", "unlearned"]);
    expect(await list({ state: "ended" })).toEqual(["ended"]);
    const second = new Date("2030-01-01T11:00:00Z");
    expect(await list({ since: second })).toEqual(["ended", "good"]);
    expect(await list({ until: second })).toEqual(["unlearned"]);
    expect((await memory.threads.list({ scope })).map(({ failed }) => failed)).toEqual([
      false,
      false,
      true,
    ]);

    await memory.jobs.retry({ kind: "facts" });
    expect(await list({ state: "failed" })).toEqual([]);
  });

  it("threads.list without a scope lists all threads or a tenant's, and refuses a scope without a value", async () => {
    const memory = db.memory();
    for (const tenantId of ["t1", "t2"])
      for (const userId of ["ana", "ben"])
        await memory.record({
          scope: { tenantId, userId },
          threadId: `${tenantId} ${userId}`,
          messages: [],
        });
    // A graph's thread of nobody.
    const stray = { configurable: { thread_id: "stray" }, metadata: {} };
    await memory
      .checkpointer()
      .put(stray, emptyCheckpoint(), { source: "input", step: 0, parents: {} }, {});
    const listed = await memory.threads.list({ limit: 1000 });
    expect(ids(listed)).toEqual(
      expect.arrayContaining(["t2 ben", "t2 ana", "t1 ben", "t1 ana", "clocked"]),
    );
    expect(ids(listed)).not.toContain("stray");
    expect(listed.find(({ threadId }) => threadId === "t2 ana")?.scope).toEqual({
      tenantId: "t2",
      userId: "ana",
    });
    expect(ids(await memory.threads.list({ tenantId: "t1" }))).toEqual(["t1 ben", "t1 ana"]);
    for (const wrong of [
      { scope: undefined },
      { scope: {} },
      { scope: { userId: undefined } },
    ] as object[])
      await expect(memory.threads.list(wrong)).rejects.toMatchObject({ code: "SCOPE_REQUIRED" });
    const both = memory.threads.list({ scope: { userId: "ana" }, tenantId: "t1" });
    await expect(both).rejects.toMatchObject({ code: "INVALID_INPUT" });
  });

  it("threads.list pages without gaps or repeats among threads microseconds apart", async () => {
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
});
