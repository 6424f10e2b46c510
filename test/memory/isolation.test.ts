import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { withMemory } from "../../src/langgraph/wrap/with-memory.js";
import type { Memory } from "../../src/memory.js";
import { migrate } from "../../src/postgres/migrate.js";
import { migrationFiles } from "../../src/postgres/migration-files.js";
import { shippedSchema } from "../../src/postgres/migration-set.js";
import { openDatabase } from "../../src/postgres/open-database.js";
import { HashingEmbeddings, OfflineChatModel } from "../../src/testing/index.js";
import { answering, chatAgent, lines, say } from "../langgraph/conversation.js";
import { useCommandLine } from "../support/command-line.js";
import { linesOf, withoutHeader } from "../support/export-lines.js";
import { fillScope } from "../support/fill-scope.js";
import { findEverywhere, personalTables } from "../support/find-everywhere.js";
import { useIsolatedDatabase } from "../support/isolated-database.js";
import { code } from "../support/rejection.js";
import { silentLogger } from "../support/silent-logger.js";
import { onServer, useTestDatabase } from "../support/test-database.js";
import { textsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const word = () => `tenant${randomUUID().replaceAll("-", "")}`;

describe("isolation on the embedded database", () => {
  it("Isolation on the embedded database is refused, because its only role is exempt", async () => {
    if (onServer()) return;
    const memory = db.memory({ isolation: "rls" });
    await expect(memory.recall({ scope: { userId: "ana" }, threadId: "t" })).rejects.toThrow(
      code("PERMISSION_DENIED"),
    );
  });
});

describe.skipIf(!onServer())("isolation by row-level security (server only)", () => {
  const isolated = useIsolatedDatabase(db);
  const { runOn: run } = useCommandLine(db);
  const embeddings = new HashingEmbeddings({ dimensions: 16 });
  /** LangGraph's tables have no tenant. */
  const isIsolated = (table: string) => !table.startsWith("checkpoint");
  const terms = ["message_term", "memory_term"];
  const deletable = [...terms, "memory_source", "relation", "memory_embedding", "history", "event"];

  it("Isolation covers every table that holds rows of tenants, those of later migrations too", async () => {
    const tables = async () => {
      const { rows } = await db.pool.query<{ name: string; forced: boolean }>(
        `select c.relname as name, c.relrowsecurity and c.relforcerowsecurity as forced from pg_class c
         where c.relnamespace = $1::regnamespace and c.relkind = 'r'`,
        [isolated.schema],
      );
      return rows.flatMap(({ name, forced }) => (forced ? name : [])).sort();
    };
    const expected = (await personalTables(isolated)).filter(isIsolated);
    expect(await tables()).toEqual(expected);
    const { schema } = isolated;
    const database = openDatabase(
      isolated.connectionString("owner"),
      { schemaName: schema },
      silentLogger,
    );
    const text =
      "create table mnemograph.later (owner_ref bigint references mnemograph.owner (id), note text);\n";
    const shipped = shippedSchema([...migrationFiles(), { name: "0002_later", text }]);
    expect(await migrate(database, { vectors: true, isolation: true, shipped })).toEqual([
      "0002_later",
    ]);
    await database.close();
    expect(await tables()).toEqual([...expected, "later"].sort());
    await db.pool.query(`drop table "${schema}".later`);
    await db.pool.query(`update "${schema}".meta set version = 1`);
  });

  it("Isolation keeps the state of runs without a user", async () => {
    const checkpointer = isolated.memory().checkpointer();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("answer", () => ({ messages: [new AIMessage("Hello.")] }))
      .addEdge(START, "answer")
      .compile({ checkpointer });
    const config = { configurable: { thread_id: word() } };
    await say(graph, "Good morning.", config);
    const { values } = await graph.getState(config);
    expect(lines(values.messages)).toEqual(["human: Good morning.", "ai: Hello."]);
  });

  it("Isolation shows a hostile statement the rows of its tenant only, and lets it change no others", async () => {
    const [a, b] = [word(), word()];
    await Promise.all(
      [a, b].map((tenantId) =>
        fillScope(isolated as never, { tenantId, userId: tenantId }, tenantId),
      ),
    );
    for (const scope of [a, b].map((tenantId) => ({ tenantId, userId: "guest" }))) {
      await isolated.memory().memories.add({ scope, memories: { text: "A guest." } });
      await isolated.memory().forget({ scope });
    }
    const tables = (await personalTables(isolated)).filter(isIsolated);
    const theirs = await findEverywhere(isolated, b);
    await isolated.asTenant(`t:${a}`, async (client) => {
      const { schema } = isolated;
      for (const table of tables) {
        const all = await client.query(
          `select x::text as row from "${schema}"."${table}" x where 1 = 2 or true`,
        );
        expect([table, all.rows.length]).not.toEqual([table, 0]);
        expect(all.rows.filter(({ row }) => row.includes(b))).toEqual([]);
        const joined = await client.query(
          `select count(*)::int as count from "${schema}".owner o left join "${schema}"."${table}" x on true
           where o.tenant_id <> $1 or x::text like '%' || $2 || '%'`,
          [a, b],
        );
        expect([table, joined.rows[0].count]).toEqual([table, 0]);
      }
      expect(
        (await client.query(`select from "${schema}".memory where tenant_id = $1`, [b])).rows,
      ).toHaveLength(0);
      await client.query("savepoint before");
      const foreign = client.query(
        `insert into "${schema}".owner (tenant_id, user_id, app_id) values ($1, 'mallory', '')`,
        [b],
      );
      await expect(foreign).rejects.toThrow(/row-level security/);
      await client.query("rollback to before");
      await client.query(`update "${schema}".memory set content = 'overwritten'`);
      for (const table of deletable) await client.query(`delete from "${schema}"."${table}"`);
      await client.query("commit; begin");
    });
    expect(await findEverywhere(isolated, b)).toEqual(theirs);
    const { rows } = await db.pool.query(
      `select distinct tenant_id from "${isolated.schema}".memory where content = 'overwritten'`,
    );
    expect(rows).toEqual([{ tenant_id: a }]);
  });

  it("Isolation keeps the items of LangGraph's stores to their tenants, and refuses a store without a scope", async () => {
    const memory = isolated.memory();
    const [a, b] = [word(), word()];
    const store = memory.store({ scope: ([tenantId = "", userId = ""]) => ({ tenantId, userId }) });
    const results: unknown[] = await store.batch([
      { namespace: [a, "ana"], key: "k", value: { text: "tea" } },
      { namespace: [b, "ana"], key: "k", value: { text: "coffee" } },
      { namespacePrefix: [a, "ana"], query: "tea", limit: 10, offset: 0 },
    ]);
    expect(results[2]).toMatchObject([{ value: { text: "tea" } }]);
    const ofB = memory.store({ scope: { tenantId: b, userId: "ana" } });
    expect((await ofB.search([])).map(({ value }) => value)).toEqual([{ text: "coffee" }]);
    await memory.forget({ scope: { tenantId: b, userId: "ana" } });
    expect(await ofB.search([])).toEqual([]);
    expect(await store.get([a, "ana"], "k")).not.toBeNull();
    expect(() => memory.store()).toThrow(code("SCOPE_REQUIRED"));
  });

  it("Isolation refuses statements without a tenant, and work across tenants except by the tables' owner", async () => {
    const scope = { tenantId: word(), userId: "ana" };
    const memory = isolated.memory();
    await memory.memories.add({ scope, memories: { text: "Likes tea very much." } });
    const { schema } = isolated;
    for (const tenancy of ["", scope.tenantId, "T:x"]) {
      const none = isolated.asTenant(tenancy, (client) =>
        client.query(`select from "${schema}".memory`),
      );
      await expect(none).rejects.toThrow(/named no tenant/);
    }
    const all = isolated.asTenant("*", (client) => client.query(`select from "${schema}".memory`));
    await expect(all).rejects.toThrow(/only the role that owns/);
    const unaware = isolated.memory({ isolation: undefined } as never);
    await expect(unaware.memories.list({ scope })).rejects.toThrow(code("PERMISSION_DENIED"));
    const { prune } = memory.checkpoints;
    const { threads, memories, transcript } = memory;
    const lists = [
      () => threads.list(),
      () => memories.list(),
      () => transcript.search({ query: "tea" }),
    ];
    for (const across of [...lists, memory.stats, memory.upkeep, () => prune({ keepLast: 1 })])
      await expect(across()).rejects.toThrow(code("PERMISSION_DENIED"));
    const exempt = db.memory({ isolation: "rls", schema });
    await expect(exempt.memories.list({ scope })).rejects.toThrow(/exempt from row-level security/);
    const database = isolated.connectionString("app");
    const { username } = new URL(database);
    await db.pool.query(`grant usage on schema "${db.schema}" to ${username}`);
    await db.pool.query(`grant select on "${db.schema}".meta to ${username}`);
    const open = createMemory({
      database,
      schema: db.schema,
      isolation: "rls",
      logger: silentLogger,
    });
    await expect(open.memories.list({ scope })).rejects.toThrow(code("SETUP_REQUIRED"));
    await open.close();
    // "No tenant" is a tenant like another, and a tenant may be called anything.
    const odd = [undefined, "*", "t:", "'; drop table x; --", scope.tenantId];
    const own = odd.map((tenantId) => ({
      ...(tenantId !== undefined && { tenantId }),
      userId: "odd",
    }));
    const texts = odd.map((tenantId) => `Belongs to tenant ${tenantId}.`);
    for (const [n, scope] of own.entries())
      await memory.memories.add({ scope, memories: { text: texts[n]! } });
    for (const [n, scope] of own.entries())
      expect(await textsOf(memory, { scope })).toEqual([texts[n]]);
  });

  it("Isolation supports every call, for two tenants at the same time on one pool", async () => {
    const config = { memories: { linkSimilarity: 0.2 }, summaries: { afterSeq: 3 } };
    const memory = isolated.memory({ model: new OfflineChatModel(), embeddings, config });
    const tenants = [word(), word()];
    await Promise.all(tenants.map((tenantId) => liveIn(memory, tenantId)));

    // Only the owner of the tables works across tenants.
    const owner = isolated.memory({ role: "owner", embeddings, model: new OfflineChatModel() });
    expect((await owner.stats()).written).toBeGreaterThan(0);
    for (const list of [owner.threads.list, owner.memories.list])
      expect((await list()).map(({ scope }) => scope.tenantId)).toEqual(
        expect.arrayContaining(tenants),
      );
    const heard = await memory.transcript.search({ tenantId: tenants[0], query: "round 2" });
    expect(new Set(heard.map(({ scope }) => scope.tenantId))).toEqual(new Set([tenants[0]]));
    expect(await owner.upkeep()).toBeGreaterThanOrEqual(0);
    expect(await owner.reembed()).toMatchObject({ remaining: 0 });
    const [a, b] = tenants as [string, string];
    expect(await memory.forget({ scope: { tenantId: a, userId: a } })).toMatchObject({
      complete: true,
    });
    // A tenant's energy belongs to no user.
    const { energy: _, ...traces } = await findEverywhere(isolated, a);
    // The tenant keeps an event and a record for receipts, without content.
    expect(traces).toEqual({ event: 1, erasure: 1 });
    expect(Object.keys(await findEverywhere(isolated, b))).toContain("memory");
  });

  it("Isolation keeps checkpoints of one thread id apart by tenant, and refuses strangers", async () => {
    const memory = isolated.memory();
    const graph = withMemory(chatAgent(answering()), memory).compile({
      checkpointer: memory.checkpointer(),
    });
    const thread_id = randomUUID();
    const runs = ["acme", "globex", undefined].map((tenant_id) => ({
      configurable: { thread_id, user_id: "ana", ...(tenant_id && { tenant_id }) },
    }));
    for (const [index, run] of runs.entries()) await say(graph, `secret ${index}`, run);
    for (const [index, run] of runs.entries()) {
      const { values } = await graph.getState(run);
      expect(lines(values.messages)).toEqual([`human: secret ${index}`, `ai: answer ${index + 1}`]);
    }
    for (const stranger of [{ thread_id, user_id: "eve", tenant_id: "acme" }, { thread_id }])
      await expect(graph.getState({ configurable: stranger })).rejects.toMatchObject({
        code: "THREAD_FORBIDDEN",
      });
    const second = runs[1]!;
    await memory.forget({ scope: { tenantId: "acme", userId: "ana" } });
    expect((await graph.getState(second)).values.messages).toHaveLength(2);
  });

  it("An export of an isolated tenant restores what the tenant forgot", async () => {
    const memory = isolated.memory({ embeddings });
    const scope = { tenantId: word(), userId: "ana" };
    await memory.record({ scope, threadId: "t", messages: [new HumanMessage("I like tea.")] });
    await memory.memories.add({
      scope,
      memories: [{ text: "Likes tea." }, { text: "Likes teas of Assam." }],
    });
    await memory.store({ scope }).put(["n"], "k", { text: "tea" });
    const exported = await linesOf(memory, scope);
    await memory.forget({ scope });
    expect((await memory.import({ lines: exported })).total).toBe(exported.length - 2);
    expect(withoutHeader(await linesOf(memory, scope))).toEqual(withoutHeader(exported));
    expect(await memory.import({ lines: exported })).toMatchObject({ total: 0 });
  });

  it("The command line searches an isolated tenant, and checks stored rows only as the tables' owner", async () => {
    const tenantId = word();
    await isolated.memory().memories.add({
      scope: { tenantId, userId: "ana" },
      memories: { text: `Likes tea in ${tenantId}.` },
    });
    const search = ["search", "tea", "--user", "ana", "--schema", isolated.schema];
    const app = ["--database", isolated.connectionString("app")];
    const found = { code: 0, err: "", out: expect.stringContaining(tenantId) };
    expect(await run([...search, "--tenant", tenantId, ...app])).toMatchObject(found);
    expect(await run([...search, "--tenant", "other", ...app])).toMatchObject({
      out: "Nothing fits.",
    });
    const doctor = ["doctor", "--json", "--schema", isolated.schema];
    const work = async (role: "app" | "owner") => {
      const { out } = await run([...doctor, "--database", isolated.connectionString(role)]);
      return (JSON.parse(out).checks as { check: string; says: string }[]).find(({ check }) =>
        ["work", "due"].includes(check),
      )?.says;
    };
    expect(await work("app")).toMatch(/Not checked/);
    expect(await work("owner")).not.toMatch(/Not checked/);
  });
});

async function liveIn(memory: Memory, tenantId: string) {
  const scope = { tenantId, userId: tenantId };
  const thread = { scope, threadId: "same id everywhere" };
  for (const round of [1, 2, 3, 4]) {
    const recalled = await memory.recall({ ...thread, query: `tea ${tenantId}` });
    expect(JSON.stringify(recalled.memories)).not.toMatch(
      new RegExp(`tenant(?!${tenantId.slice(6)})\\w{32}`),
    );
    const said = [
      new HumanMessage(`Round ${round}: I am ${tenantId} and I like tea.`),
      new AIMessage("I see."),
    ];
    const { recorded } = await memory.remember({ ...thread, messages: said });
    expect(recorded).toBe(2);
  }
  const access = { scope };
  const home = { category: "knowledge", key: "home" };
  const [first] = await memory.memories.add({
    ...access,
    memories: { ...home, text: `Lives with ${tenantId}.`, value: "a" },
  });
  await memory.memories.add({
    ...access,
    memories: { ...home, text: `Moved away from ${tenantId}.`, value: "b" },
  });
  const [other] = await memory.memories.add({
    ...access,
    memories: { text: `Also drinks coffee with ${tenantId}.` },
  });
  await memory.memories.update({ ...access, id: other?.id ?? "", importance: 5 });
  await memory.memories.remove({ ...access, id: other?.id ?? "" });
  await memory.memories.restore({ ...access, id: other?.id ?? "" });
  expect(await memory.memories.history({ ...access, id: other?.id ?? "" })).not.toHaveLength(0);
  expect(await memory.memories.get({ ...access, id: first?.id ?? "" })).toMatchObject({
    state: "superseded",
  });
  expect(
    (await memory.query({ scope, query: `coffee ${tenantId}` })).map((hit) => hit.memory.id),
  ).toContain(other?.id);
  expect(await memory.transcript.search({ scope, query: "round 2" })).not.toHaveLength(0);
  expect(await memory.threads.list({ scope })).toMatchObject([{ messages: 8 }]);
  expect((await memory.summaries.list(thread)).map(({ status }) => status)).toContain("completed");
  const [said, second] = await memory.threads.messages(thread);
  const edited = new HumanMessage({ id: said?.messageId ?? "", content: `${tenantId} edited it.` });
  expect(await memory.remember({ ...thread, messages: [edited] })).toMatchObject({ recorded: 0 });
  const changed = { ...thread, messageId: second?.messageId ?? "" };
  await memory.transcript.replace({ ...changed, text: `I see, ${tenantId}.` });
  await memory.transcript.remove(changed);
  const texts = (await memory.threads.messages(thread)).map(({ text }) => text);
  expect(texts.slice(0, 2)).toEqual([`${tenantId} edited it.`, ""]);
  const exported = await linesOf(memory, scope);
  expect(exported.length).toBeGreaterThan(20);
  const copy = { tenantId: `${tenantId} 2`, userId: `copy of ${tenantId}` };
  await expect(memory.import({ scope: copy, lines: exported })).rejects.toThrow(code("ID_TAKEN"));
  await expect(memory.import({ lines: exported })).rejects.toThrow(code("WRONG_STATE"));
}
