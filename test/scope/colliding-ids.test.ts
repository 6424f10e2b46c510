import { createHash } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it, vi } from "vitest";
import type { Scope } from "../../src/scope/scope.js";
import { lockOwner } from "../../src/scope/scope-predicates.js";
import { recordMessages } from "../../src/transcript/record-messages.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();

/** Two ids of one md5 (Marc Stevens, 2024). */
const [one, other] = ["A", "E"].map(
  (letter) => `TEXTCOLLBYfGiJUETHQ4h${letter}cKSMd5zYpgqf1YRDhkmxHkhPWptrkoyz28wnI9V0aHeAuaKnak`,
) as [string, string];

const said = (content: string) => [new HumanMessage({ id: content, content })];

// Before any memory is at work in the background on the tables that this locks.
it("Ids with equal digests are refused without confusion or endless retries", async () => {
  const { schema } = db;
  const client = await db.pool.connect();
  try {
    // In the place of sha256 a digest that all ids share, for this session and its index.
    await client.query(`
        begin;
        create function "${schema}".sha256(bytea) returns bytea language sql immutable as $$ select ''::bytea $$;
        set local search_path = "${schema}", pg_catalog;
        truncate thread, owner cascade;
        drop index owner_identity, thread_identity;
        create unique index on owner (
          sha256(replace(tenant_id, E'\\\\', E'\\\\\\\\')::bytea), sha256(replace(user_id, E'\\\\', E'\\\\\\\\')::bytea),
          sha256(replace(app_id, E'\\\\', E'\\\\\\\\')::bytea)
        );
        create unique index on thread (
          sha256(replace(tenant_id, E'\\\\', E'\\\\\\\\')::bytea), sha256(replace(thread_id, E'\\\\', E'\\\\\\\\')::bytea)
        )`);
    let statements = 0;
    const tx = {
      ...db.database,
      async query<Row extends object>({ text, values }: { text: string; values: unknown[] }) {
        statements++;
        return (await client.query(text, values)).rows as Row[];
      },
    } as typeof db.database;
    const thread = { messages: [], windowMessages: 14, language: "english", timeZone: "UTC" };
    const first = { ...thread, scope: { userId: "first" }, threadId: "of first" };
    const recorded = await recordMessages(tx, first);
    expect(recorded).toMatchObject({ lastSeq: -1 });
    const owner = await lockOwner(tx, first.scope);

    const second = { ...thread, scope: { userId: "second" }, threadId: "of second" };
    statements = 0;
    // Without the waits, which are a share of it.
    vi.spyOn(Math, "random").mockReturnValue(0);
    const another = { ...first, threadId: "another" };
    await expect(recordMessages(tx, second)).rejects.toMatchObject({ code: "BUSY" });
    await expect(recordMessages(tx, another)).rejects.toMatchObject({ code: "BUSY" });
    expect(statements).toBeLessThan(200);
    await expect(lockOwner(tx, second.scope)).rejects.toMatchObject({ code: "ID_TAKEN" });
    expect(await recordMessages(tx, first)).toEqual(recorded);
    expect(await lockOwner(tx, first.scope)).toEqual(owner);
  } finally {
    vi.restoreAllMocks();
    await client.query("rollback");
    client.release();
  }
});

describe("two ids of one md5", () => {
  it("Two chosen ids have equal md5 digests", () => {
    const md5 = (text: string) => createHash("md5").update(text).digest("hex");
    expect(one).not.toBe(other);
    expect(md5(one)).toBe(md5(other));
  });

  it.each<[string, (id: string) => Scope]>([
    ["users", (userId) => ({ tenantId: "acme", userId })],
    ["tenants", (tenantId) => ({ tenantId, userId: "ana" })],
    ["apps", (appId) => ({ tenantId: "acme", appId })],
    ["apps of a user", (appId) => ({ tenantId: "beta", userId: "ben", appId })],
  ])("Two ids of one md5 digest are two %s", async (_, scopeOf) => {
    const memory = db.memory({
      config: { categories: { custom: [{ name: "local", level: "app" as const }] } },
    });
    const [mine, theirs] = [scopeOf(one), scopeOf(other)];
    const threadId = `of ${JSON.stringify(Object.keys(mine))}`;
    for (const scope of [mine, theirs]) {
      const id = scope === mine ? "one" : "other";
      const drafts = [
        { text: `${id} likes tea`, category: "local", key: "drink" },
        { text: "the same statement", category: "local" },
        { text: `wants ${id} tone`, category: "profile", key: "city", value: id },
      ];
      const outcomes = await memory.memories.add({ scope, memories: drafts });
      expect(outcomes.map(({ outcome }) => outcome).slice(0, 2)).toEqual(["created", "created"]);
      await memory.record({ scope, threadId: `${threadId} ${id}`, messages: said(id) });
    }
    for (const scope of [mine, theirs]) {
      const id = scope === mine ? "one" : "other";
      const listed = await memory.memories.list({ scope });
      expect(listed.map(({ text }) => text)).toEqual(["the same statement", `${id} likes tea`]);
      expect((await memory.threads.list({ scope })).map((thread) => thread.threadId)).toEqual([
        `${threadId} ${id}`,
      ]);
      const { memories } = await memory.recall({
        scope,
        threadId: `${threadId} ${id}`,
        query: "Who likes tea?",
      });
      const shown = [...memories.profile, ...memories.relevant]
        .map(({ ...hit }) => JSON.stringify(hit))
        .join();
      expect(shown).not.toContain(`${id === "one" ? "other" : "one"} likes tea`);
    }
    expect(await memory.forget({ scope: theirs })).toMatchObject({ complete: true });
    expect(await memory.memories.list({ scope: theirs })).toEqual([]);
    expect(await memory.memories.list({ scope: mine })).toHaveLength(2);
  });

  it("Two ids of one md5 digest are two threads", async () => {
    const memory = db.memory();
    const scope = { tenantId: "threads", userId: "ana" };
    await memory.record({ scope, threadId: one, messages: said("one") });
    await memory.record({
      scope: { ...scope, userId: "ben" },
      threadId: other,
      messages: said("other"),
    });
    expect((await memory.recall({ scope, threadId: one })).gap.map(({ text }) => text)).toEqual([
      "one",
    ]);
    await expect(memory.recall({ scope, threadId: other })).rejects.toMatchObject({
      code: "THREAD_FORBIDDEN",
    });
  });
});
