import sql from "sql-template-tag";
import { beforeAll, describe, expect, it } from "vitest";
import { conversationRow } from "../../src/transcript/find-conversation.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const scope = { tenantId: "t\\1", userId: "ana" };
const limits = {
  epochBytes: null,
  cacheMs: 0,
  recentMessages: 3,
  recentBytes: 100,
  gapMessages: 400,
  gapBytes: 100_000,
};
const branch = (...seqs: number[]) => seqs.map((seq) => `m${seq}`);

/**
 * Stores a thread of messages m0, m1, …, long ones of tools; `summaries` are [end, status, turns].
 */
async function store(
  threadId: string,
  roles: string[],
  summaries: readonly (readonly [number, string, (number | undefined)?])[],
) {
  const { schema } = db.database;
  const [thread] = await db.database.query<{ id: string }>(sql`
    insert into ${schema}.thread (tenant_id, thread_id, user_id, app_id)
    values (${scope.tenantId}, ${threadId}, ${scope.userId}, '') returning id`);
  await db.database.query(sql`
    insert into ${schema}.message (thread_ref, seq, message_id, role, content, serialised)
    select ${thread?.id}, n - 1, 'm' || n - 1, role, repeat('é', case role when 'tool' then 51 else 3 end), '{}'
    from unnest(${roles}::text[]) with ordinality as m (role, n)`);
  for (const [end, status, turns] of summaries)
    await db.database.query(sql`
      insert into ${schema}.summary (thread_ref, start_seq, end_seq, status, content, start_turn, end_turn)
      values (${thread?.id}, 0, ${end}, ${status}, 'They talked.', ${turns}, ${turns})`);
  await db.database.query(sql`
    insert into ${schema}.work (kind, thread_ref, done_until, lease_until)
    values ('summaries', ${thread?.id}, -1, now() - interval '1 minute')`);
}

async function read(
  threadId: string,
  messageIds: string[] | null,
  more: Partial<typeof limits> = {},
) {
  const [row] = await db.database.query<
    Record<"gap" | "recent", { seq: number }[]> & { summary: object }
  >(conversationRow(db.database, { scope, threadId, messageIds }, [], { ...limits, ...more }));
  const [gap, recent] = [row?.gap, row?.recent].map((messages) => messages?.map(({ seq }) => seq));
  return { ...row, gap, recent };
}

beforeAll(async () => {
  const roles =
    "user assistant user assistant system user assistant tool assistant user assistant user";
  await store("thread", roles.split(" "), [
    [3, "completed", 7],
    [8, "completed"],
    [9, "failed"],
    [10, "processing"],
  ]);
});

describe("the conversation of a thread", () => {
  const [two, three] = [
    { endSeq: 3, endTurn: 7, endMessageId: "m3" },
    // Its turns were not kept: they are counted.
    { endSeq: 8, endTurn: 3, endMessageId: "m8" },
  ];

  it("A thread's conversation has a summary that ends in or before the branch, and no later messages", async () => {
    const found = async (...seqs: number[]) => read("thread", branch(...seqs));
    expect(await found(0, 1, 2, 3)).toMatchObject({ gap: [], recent: [0, 1, 2, 3], summary: two });
    expect(await found(5, 6)).toMatchObject({ gap: [4, 5, 6], recent: [0, 1, 2, 3], summary: two });
    expect(await found(2, 9)).toMatchObject({
      gap: Array.from(Array(10).keys()),
      recent: [],
      summary: null,
    });
    expect(await found(99)).toMatchObject({ gap: [9, 10, 11], summary: three });
  });

  it("A thread's conversation has recent messages from their turn on, but no system messages or long results", async () => {
    const none = { recentMessages: 0 };
    expect(await read("thread", null)).toMatchObject({
      gap: [9, 10, 11],
      recent: [5, 6, 8],
      summary: three,
    });
    // With none kept: the turn that the summary ends with, if no later one has begun.
    expect(await read("thread", null, none)).toMatchObject({ recent: [], summary: three });
    expect(await read("thread", branch(8), none)).toMatchObject({ gap: [], recent: [5, 6, 8] });
  });

  it("A thread's conversation has a summary in progress only while its worker has the lease", async () => {
    expect(await read("thread", null)).toHaveProperty("processing", null);
    await db.pool.query(`update "${db.schema}".work set lease_until = now() + interval '1 minute'`);
    expect(await read("thread", null)).toMatchObject({ processing: { startSeq: 0, endSeq: 10 } });
  });

  it("A long turn is shown by its question and its end", async () => {
    await store("long", ["user", ...Array<string>(70).fill("assistant")], [[70, "completed"]]);
    expect((await read("long", null)).recent).toEqual([
      0,
      ...Array.from({ length: 53 }, (_, index) => 18 + index),
    ]);
  });

  it("The conversation of a new thread is empty, and that of another scope's thread is only marked as not owned", async () => {
    const found = async (other: object) =>
      db.database.query(
        conversationRow(db.database, { scope: other as never, threadId: "thread" }, [], limits),
      );
    expect(await found({ userId: "ana" })).toEqual([]);
    for (const other of [
      { ...scope, userId: "bo" },
      { ...scope, appId: "app" },
    ])
      expect(await found(other)).toMatchObject([
        { owned: false, summary: null, processing: null, gap: null, recent: null, omitted: null },
      ]);
  });
});
