import fc from "fast-check";
import sql, { type Sql } from "sql-template-tag";
import { expect, it } from "vitest";
import type { ReadLimits } from "../../src/conversation/conversation-options.js";
import { conversationRow } from "../../src/conversation/find-conversation.js";
import { useTestDatabase } from "../support/test-database.js";
import { conversationReference } from "./conversation-reference.js";

const db = useTestDatabase();
const scope = { tenantId: "t\\1", userId: "ana" };

interface StoredMessage {
  readonly role: string;
  readonly bytes: number;
}
interface StoredSummary {
  readonly status: string;
  readonly end: number;
  readonly counted: boolean;
}
interface StoredThread {
  readonly messages: readonly StoredMessage[];
  readonly summaries: readonly StoredSummary[];
  /** Of the worker that makes the one in the making. */
  readonly leaseMs: number;
}

const storedMessage: fc.Arbitrary<StoredMessage> = fc.record({
  role: fc.constantFrom("user", "user", "assistant", "assistant", "tool", "tool", "system", "other"),
  bytes: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant(200)),
});
const storedSummary: fc.Arbitrary<StoredSummary> = fc.record({
  status: fc.constantFrom("completed", "completed", "completed", "processing", "failed"),
  end: fc.nat(80),
  counted: fc.boolean(),
});
const storedThread: fc.Arbitrary<StoredThread> = fc.record({
  messages: fc.oneof(
    fc.array(storedMessage, { maxLength: 14 }),
    // Rounds of agents, which are longer than what is shown of one.
    fc.array(storedMessage, { minLength: 50, maxLength: 75, size: "max" }),
  ),
  summaries: fc.array(storedSummary, { maxLength: 4 }),
  leaseMs: fc.constantFrom(-60_000, 60_000),
});

const limits: fc.Arbitrary<ReadLimits> = fc.record({
  recentMessages: fc.nat(6),
  recentBytes: fc.constantFrom(0, 10, 1_000),
  gapMessages: fc.constantFrom(1, 2, 3, 5, 10, 400),
  gapBytes: fc.constantFrom(1, 30, 300, 100_000),
});
/** Places of a branch's messages; of messages that are not there as well. */
const branch = fc.option(fc.array(fc.nat(90), { maxLength: 5 }));

/** Keeps `thread` under `threadId`, with rows as they may stand there after whatever happened. */
async function store(threadId: string, { messages, summaries, leaseMs }: StoredThread): Promise<void> {
  const { schema } = db.database;
  const [thread] = await db.database.query<{ id: string }>(sql`
    insert into ${schema}.thread (tenant_id, thread_id, user_id, app_id, rev_seen)
    values (${scope.tenantId}, ${threadId}, ${scope.userId}, '', 7) returning id`);
  const id = thread!.id;
  await db.database.query(sql`
    insert into ${schema}.message (thread_ref, seq, message_id, role, actor, content, serialised)
    select ${id}, n - 1, 'm' || n - 1, role, case when n % 3 = 0 then 'Bo' end, repeat('é', bytes / 2) || repeat('x', bytes % 2), '"' || n || '"'
    from unnest(${messages.map(({ role }) => role)}::text[], ${messages.map(({ bytes }) => bytes)}::int[])
      with ordinality as m (role, bytes, n)`);
  await db.database.query(sql`
    insert into ${schema}.work (kind, thread_ref, done_until, lease_until)
    values ('summaries', ${id}, -1, now() + ${leaseMs} * interval '1 millisecond')`);
  let processing = false;
  for (const { status, end, counted } of summaries) {
    if (messages.length === 0 || (status === "processing" && processing)) continue;
    processing ||= status === "processing";
    const endSeq = end % messages.length;
    await db.database.query(sql`
      insert into ${schema}.summary
        (thread_ref, start_seq, end_seq, status, content, start_turn, end_turn)
      values (
        ${id}, ${Math.floor(endSeq / 2)}, ${endSeq}, ${status}, 'said "much"',
        case when ${counted} then 2 end, case when ${counted} then 5 end
      )`);
  }
}

const rowsOf = (statement: Sql) =>
  db.database.query(sql`select row_to_json(c)::jsonb as row from (${statement}) c`);

let next = 0;

it("the function answers as its reference does, of any thread, branch and limits", {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      storedThread,
      fc.array(fc.tuple(branch, limits), { minLength: 6, maxLength: 6 }),
      async (thread, asked) => {
        const threadId = `thread\\${next++}`;
        await store(threadId, thread);
        for (const [seqs, readLimits] of asked) {
          const address = { scope, threadId, messageIds: seqs?.map((seq) => `m${seq}`) };
          const [found, expected] = await Promise.all([
            rowsOf(conversationRow(db.database, address, readLimits)),
            rowsOf(conversationReference(db.database, address, readLimits)),
          ]);
          expect(expected).toHaveLength(1);
          expect(found).toEqual(expected);
        }
      },
    ),
    { numRuns: 100 },
  );
});

it("the function says nothing of a thread not seen before, and nothing of another scope's but that it is one", async () => {
  const messages = [{ role: "user", bytes: 5 }];
  await store("theirs", { messages, summaries: [], leaseMs: 0 });
  const readLimits = { recentMessages: 4, recentBytes: 100, gapMessages: 10, gapBytes: 1_000 };
  for (const [other, threadId, rows] of [
    [scope, "unknown", 0],
    [{ userId: "ana" }, "theirs", 0],
    [{ ...scope, userId: "bo" }, "theirs", 1],
    [{ ...scope, appId: "app" }, "theirs", 1],
  ] as const) {
    const address = { scope: other, threadId };
    const found = await rowsOf(conversationRow(db.database, address, readLimits));
    expect(found).toEqual(await rowsOf(conversationReference(db.database, address, readLimits)));
    expect(found).toHaveLength(rows);
    if (rows === 1) {
      expect(found[0]?.row).toMatchObject({
        owned: false,
        summary: null,
        gap: null,
        recent: null,
        omitted: null,
      });
    }
  }
});
