import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import type { MemoryOptions } from "../../../src/create-memory-options.js";
import type { MemoryDraft } from "../../../src/index.js";
import type { Memory } from "../../../src/memory.js";
import { HashingEmbeddings } from "../../../src/testing/index.js";
import { brokenInvariants } from "../../support/broken-invariants.js";
import { runLifecycle } from "../../support/run-lifecycle.js";
import { onServer, useTestDatabase } from "../../support/test-database.js";
import { type Address, newAddress } from "../../support/thread-facts.js";
import { watchedPool } from "../../support/watched-pool.js";

const db = useTestDatabase();
const start = new Date("2031-01-01T12:00:00Z").getTime();
const day = 86_400_000;

/** A memory whose clock is moved by days, and a new user. */
function ageing(options: MemoryOptions = {}) {
  let now = start;
  const memory = db.memory({ ...options, clock: () => new Date(now) });
  return {
    memory,
    user: newAddress(),
    passed(days: number) {
      now = start + days * day;
    },
  };
}

const minor = (text: string, fields: Partial<MemoryDraft> = {}): MemoryDraft => ({
  text,
  importance: 2,
  ...fields,
});

async function add(
  memory: Memory,
  { scope }: Pick<Address, "scope">,
  ...drafts: MemoryDraft[]
): Promise<string[]> {
  const outcomes = await memory.memories.add({ scope, memories: drafts });
  return outcomes.map(({ id }) => id as string);
}

const statesOf = async (memory: Memory, { scope }: Address) =>
  Object.fromEntries(
    (await memory.memories.list({ scope, states: ["active", "superseded", "soft_deleted"] })).map(
      ({ text, state }) => [text, state],
    ),
  );

async function rowsOf(id: string): Promise<number[]> {
  const { rows } = await db.pool.query(
    `select (select count(*) from "${db.schema}".memory where id = $1)::int as memory,
       (select count(*) from "${db.schema}".memory_term t
         left join "${db.schema}".memory m on m.ref = t.memory_ref where m.id is null)::int as terms,
       (select count(*) from "${db.schema}".memory_embedding e
         left join "${db.schema}".memory m on m.ref = e.memory_ref where m.id is null)::int as vectors,
       (select count(*) from "${db.schema}".relation r
         left join "${db.schema}".memory m on m.ref = r.to_ref where m.id is null)::int as links`,
    [id],
  );
  return Object.values(rows[0]);
}

describe("an unused memory", () => {
  it("An unused memory is soft-deleted after 60 days if it is minor", async () => {
    const { memory, user, passed } = ageing();
    await add(
      memory,
      user,
      minor("The user saw a film."),
      minor("The user met Rex.", { pinned: true }),
      { text: "The user is a baker." },
      minor("Deploying:\n1. Build it.", { kind: "procedure" }),
      minor("They met.", { kind: "episode", turns: { start: 1, end: 2 } }),
    );
    passed(60);
    expect(await runLifecycle(memory, user)).toEqual({ softDeleted: 0, purged: 0 });
    passed(60.01);
    expect(await runLifecycle(memory, user)).toEqual({ softDeleted: 2, purged: 0 });
    expect(await statesOf(memory, user)).toEqual({
      "The user saw a film.": "soft_deleted",
      "The user met Rex.": "active",
      "The user is a baker.": "active",
      "Deploying:\n1. Build it.": "active",
      "They met.": "soft_deleted",
    });
    expect(await runLifecycle(memory, user)).toEqual({ softDeleted: 0, purged: 0 });
  });

  it("A memory counts as used when it is shown in a recorded turn, repeated or changed", async () => {
    const { memory, user, passed } = ageing();
    const [shown, said, changed] = await add(
      memory,
      user,
      minor("The user likes quinces."),
      minor("The user likes medlars."),
      minor("The user likes sloes."),
    );
    passed(40);
    const messages = [new HumanMessage("Quinces?")];
    await memory.remember({ ...user, messages, shown: { revision: 3, memoryIds: [shown!] } });
    await add(memory, user, minor("The user likes medlars."));
    await memory.memories.update({ ...user, id: changed!, importance: 1 });
    passed(99);
    expect(await runLifecycle(memory, user)).toEqual({
      softDeleted: 0,
      purged: 0,
    });
    passed(101);
    expect((await runLifecycle(memory, user)).softDeleted).toBe(3);
    expect([said]).toHaveLength(1);
  });

  it("No call finds an aged memory from then on, and others fill its place", async () => {
    const { memory, user, passed } = ageing({ embeddings: new HashingEmbeddings() });
    await memory.setup();
    const [old] = await add(memory, user, minor("The user planted apple trees in the garden."));
    await add(memory, user, { text: "The user planted pear trees in the garden.", importance: 4 });
    const query = { ...user, query: "Which trees did the user plant in the garden?" };
    expect((await memory.query({ ...query, topK: 1 }))[0]?.memory.id).toBeDefined();
    passed(61);
    await runLifecycle(memory, user);
    const ids = (await memory.query({ ...query, topK: 5 })).map((hit) => hit.memory.id);
    expect(ids).toHaveLength(1);
    expect(ids).not.toContain(old);
    const { memories } = await memory.recall(query);
    expect(JSON.stringify(memories)).not.toContain("apple");
    expect(JSON.stringify(await memory.memories.list({ scope: user.scope }))).not.toContain(
      "apple",
    );
    // Nor as something that a new memory could be merged with or linked to.
    const [again] = await memory.memories.add({
      ...user,
      memories: minor("The user planted apple trees in the gardens."),
    });
    expect(again?.outcome).toBe("created");
    expect(again?.id).not.toBe(old);
  });

  it("An aged memory can be restored until it is purged, 30 days later", async () => {
    const { memory, user, passed } = ageing({ embeddings: new HashingEmbeddings() });
    await memory.setup();
    const [first, second] = await add(
      memory,
      user,
      minor("The user collects old stamps."),
      minor("The user collects old coins."),
    );
    await memory.record({ ...user, messages: [new HumanMessage("Hi")] });
    passed(61);
    await runLifecycle(memory, user);
    passed(90);
    expect((await runLifecycle(memory, user)).purged).toBe(0);
    await memory.memories.restore({ ...user, id: first! });
    expect((await memory.query({ ...user, query: "old stamps" }))[0]?.memory.id).toBe(first);
    passed(91.1);
    expect((await runLifecycle(memory, user)).purged).toBe(1);
    expect(await rowsOf(second!)).toEqual([0, 0, 0, 0]);
    await expect(memory.memories.restore({ ...user, id: second! })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringContaining("purged on 2031-04-02"),
    });
    const trail = await memory.memories.history({ ...user, id: second! });
    expect(
      trail.map(({ event, actor }) => `${event} ${actor}`).filter((entry) => !/LINK/.test(entry)),
    ).toEqual(["DELETE worker:lifecycle", "TTL worker:lifecycle", "ADD api"]);
    expect(trail[0]?.old).toMatchObject({
      text: "The user collects old coins.",
      state: "soft_deleted",
    });
    // Its words are in no news any more, and where it was not shown neither is its end.
    const { changes } = await memory.recall(user);
    expect(changes.count).toBe(1);
    expect(
      JSON.stringify(await memory.changes.list({ scope: user.scope, since: 0 })),
    ).not.toContain("coins");
  });

  it("An unused memory is soft-deleted once by several processes", async () => {
    const { memory, user, passed } = ageing();
    await add(
      memory,
      user,
      ...Array.from({ length: 30 }, (_, index) => minor(`The user owns item number ${index}.`)),
    );
    passed(61);
    const others = [ageing(), ageing()];
    for (const other of others) other.passed(61);
    await Promise.all(
      [memory, ...others.map((other) => other.memory)].map((each) => runLifecycle(each, user)),
    );
    expect(
      await memory.memories.list({ scope: user.scope, states: ["soft_deleted"] }),
    ).toHaveLength(30);
    const { revision, changes } = await memory.changes.list({ scope: user.scope, since: 30 });
    expect([revision, changes.map(({ rev }) => rev)]).toEqual([
      60,
      Array.from({ length: 30 }, (_, n) => n + 31),
    ]);
    const { rows } = await db.pool.query(
      `select node, op, count(*)::int from "${db.schema}".event where user_id = $1 and step = 'lifecycle' group by 1, 2`,
      [user.scope.userId],
    );
    expect(rows).toEqual([{ node: "worker", op: "ttl", count: 30 }]);
  });

  it("Superseded values are kept as the trail of an aged memory", async () => {
    const { memory, user, passed } = ageing();
    const name = (value: string) => minor(`The dog's name is ${value}.`, { key: "dog", value });
    await add(memory, user, name("Rex"));
    await add(memory, user, name("Bo"));
    passed(200);
    expect(await runLifecycle(memory, user)).toEqual({
      softDeleted: 1,
      purged: 0,
    });
    passed(400);
    expect(await runLifecycle(memory, user)).toEqual({
      softDeleted: 0,
      purged: 1,
    });
    expect(await statesOf(memory, user)).toEqual({ "The dog's name is Rex.": "superseded" });
  });

  it.skipIf(!onServer())("An unused memory is found by an index (server only)", async () => {
    const { pool, statements } = watchedPool(db.pool);
    const { memory, user, passed } = ageing({ database: pool });
    const [id] = await add(memory, user, minor("The user saw an opera."));
    // Many that were used lately, and many that are old and important.
    await db.pool.query(
      `insert into "${db.schema}".memory (id, owner_ref, tenant_id, user_id, app_id, kind, category, content,
         content_hash, importance, confidence, last_accessed_at)
       select gen_random_uuid(), m.owner_ref, '', m.user_id, '', 'fact', 'knowledge', m.content || n, n::text,
         1 + n % 5, 1, m.last_accessed_at + case when n % 5 < 2 then 60 else 0 end * interval '1 day'
       from "${db.schema}".memory m, generate_series(1, 20000) n where m.id = $1`,
      [id],
    );
    await db.pool.query("analyze");
    passed(61);
    statements.length = 0;
    await memory.upkeep({ kinds: ["lifecycle"] });
    expect(
      (await memory.memories.list({ scope: user.scope, states: ["soft_deleted"] })).map(
        (item) => item.id,
      ),
    ).toEqual([id]);
    const [{ text, values } = { text: "", values: [] }] = statements;
    const { rows } = await db.pool.query(`explain (analyze, format json) ${text}`, values);
    const plan = JSON.stringify(rows[0]["QUERY PLAN"]);
    expect(plan).toContain("memory_aging");
    expect(plan).toContain("memory_purge");
    expect(plan).not.toMatch(/"Seq Scan"[^{}]*"Relation Name":"memory"/);
  });
});

it("Changes are kept for 180 days, older requests get trimmedTo, and the audit trail keeps all", async () => {
  const { memory, passed } = ageing();
  const user = { scope: newAddress().scope };
  const idle = { ...user, threadId: "idle since" };
  const broken = async () =>
    (await brokenInvariants(db)).filter((row) => row.user === user.scope.userId);
  await memory.remember({
    ...idle,
    messages: [new HumanMessage("hello")],
    shown: { revision: 0, memoryIds: [] },
  });
  const [first] = await add(
    memory,
    user,
    { text: "The user likes tea." },
    { text: "The user likes rice." },
  );
  passed(100);
  await add(memory, user, { text: "The user likes plums." });
  passed(180);
  expect(await runLifecycle(memory, user)).toEqual({ softDeleted: 0, purged: 0 });
  expect(await memory.changes.list({ ...user, since: 0 })).toMatchObject({
    revision: 3,
    changes: [{}, {}, {}],
  });

  passed(180.01);
  await runLifecycle(memory);
  const left = await memory.changes.list({ ...user, since: 0 });
  expect(left).toMatchObject({ revision: 3, trimmedTo: 2, changes: [{ rev: 3 }] });
  expect(await memory.changes.list({ ...user, since: 2 })).not.toHaveProperty("trimmedTo");
  expect((await memory.recall({ ...idle, query: "tea" })).changes).toMatchObject({
    since: 2,
    revision: 3,
    count: 1,
  });
  expect(await memory.memories.history({ ...user, id: first! })).toHaveLength(1);
  expect(await broken()).toEqual([]);

  // Nothing is left to be told; what changes next is counted on.
  passed(400);
  await memory.upkeep();
  expect(await memory.changes.list({ ...user, since: 0 })).toMatchObject({
    revision: 3,
    trimmedTo: 3,
    changes: [],
  });
  await add(memory, user, { text: "The user likes pears." });
  expect((await memory.changes.list({ ...user, since: 3 })).changes).toMatchObject([{ rev: 4 }]);
  expect(await broken()).toEqual([]);
});
