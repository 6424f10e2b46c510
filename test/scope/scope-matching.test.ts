import { randomBytes } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Scope } from "../../src/scope/scope.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { code } from "../support/rejection.js";
import { round } from "../support/spoken.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const said = (content: string) => [new HumanMessage({ id: content, content })];

describe("a thread", () => {
  it("A thread belongs to the scope that first used it, and others can neither read nor write it", async () => {
    const memory = db.memory({ model: new OfflineChatModel() });
    const owner = { tenantId: "acme", userId: "ana", appId: "notes" };
    const threadId = "owned";
    await memory.record({ scope: owner, threadId, messages: said("secret") });
    const before = await memory.threads.list({ scope: owner });
    const others: Scope[] = [
      { tenantId: "acme", userId: "ben", appId: "notes" },
      { tenantId: "acme", userId: "ana" },
      { tenantId: "acme", appId: "notes" },
      { tenantId: "acme", userId: "ana", appId: "mail" },
      { tenantId: "acme", userId: "Ana", appId: "notes" },
    ];
    for (const scope of others) {
      const thread = { scope, threadId };
      const forbidden = code("THREAD_FORBIDDEN");
      await expect(memory.recall(thread)).rejects.toThrow(forbidden);
      await expect(memory.record({ ...thread, messages: said("mine now") })).rejects.toThrow(
        forbidden,
      );
      await expect(memory.remember({ ...thread, messages: said("mine now") })).rejects.toThrow(
        forbidden,
      );
      await expect(memory.recall(thread)).rejects.not.toThrow(/ana|secret/);
      expect(await memory.summaries.list(thread)).toEqual([]);
    }
    expect(
      (await memory.recall({ scope: owner, threadId })).gap.map((message) => message.text),
    ).toEqual(["secret"]);
    expect(await memory.threads.list({ scope: owner })).toEqual(before);
  });

  it("A recall does not create a thread", async () => {
    const memory = db.memory();
    const scope = { userId: "only asks" };
    await memory.recall({ scope, threadId: "asked for" });
    expect(await memory.threads.list({ scope })).toEqual([]);
    await memory.record({
      scope: { userId: "another" },
      threadId: "asked for",
      messages: said("x"),
    });
  });
});

/** Ids that a prefix, a pattern, a joined string or a normalisation would confuse. */
const lookalikes = [
  ["a", "ab", "A", "a ", " a", "á", "a\u0301", "а"],
  ["%", "_", "a%", "a_", "\\", "\\%", "*", "?", "."],
  ["a:b", "a", "a:", ":a", "a/b", "a|b", "a,b", '["a","b"]'],
  ["'", "''", '"', "\\'", "$1", "{}", "null", "NULL", "undefined", "0", "false"],
  ["😀", "😁", "日本", "日", "\u200B", "a\u200B", "\u202Ea", "\t\na"],
].flat();

it("A memory of a user within an app is not seen from another app, nor is its audit trail", async () => {
  const config = { categories: { custom: [{ name: "local", level: "app" as const }] } };
  const { memories, changes } = db.memory({ config });
  const owner = { tenantId: "acme", userId: "cleo", appId: "notes" };
  const [added] = await memories.add({
    scope: owner,
    memories: { text: "keeps bees", category: "local" },
  });
  const id = added?.id ?? "";
  const others: Scope[] = [
    { ...owner, appId: "mail" },
    { ...owner, userId: "ben" },
    { ...owner, tenantId: "other" },
    { tenantId: "acme", appId: "notes" },
  ];

  for (const scope of others) {
    expect(await memories.get({ scope, id })).toBeNull();
    expect(await memories.list({ scope })).toEqual([]);
    expect(await memories.history({ scope, id })).toEqual([]);
  }
  expect((await changes.list({ scope: others[0]!, since: 0 })).changes).toEqual([]);
  for (const scope of [owner, { tenantId: "acme", userId: "cleo" }]) {
    expect((await memories.get({ scope, id }))?.text).toBe("keeps bees");
    expect((await memories.history({ scope, id })).map(({ event }) => event)).toEqual(["ADD"]);
  }
  expect(await memories.get({ scope: owner, id: "no uuid" })).toBeNull();
  expect(await memories.history({ scope: owner, id: "no uuid" })).toEqual([]);
  expect((await memories.get({ scope: owner, id: id.toUpperCase() }))?.id).toBe(id);
});

describe("ids of a scope", () => {
  it("Ids of users, tenants and threads are matched exactly", async () => {
    const memory = db.memory();
    const threadsOf = (id: string) => [
      { scope: { tenantId: "users", userId: id }, threadId: `of ${id}` },
      { scope: { tenantId: id, userId: "ana" }, threadId: "t" },
      { scope: { tenantId: "threads", userId: "ana" }, threadId: id },
    ];
    for (const id of lookalikes)
      for (const thread of threadsOf(id)) await memory.record({ ...thread, messages: said(id) });
    for (const id of lookalikes) {
      for (const thread of threadsOf(id))
        expect((await memory.recall(thread)).gap.map(({ text }) => text)).toEqual([id]);
      const [{ scope, threadId }] = threadsOf(id) as [ReturnType<typeof threadsOf>[0]];
      expect(await memory.threads.list({ scope })).toMatchObject([{ threadId, scope }]);
    }
  });

  it("Ids of a scope are never concatenated", async () => {
    const memory = db.memory();
    const part = fc.stringMatching(/^[ab:]{1,3}$/);
    const scopes = fc.uniqueArray(fc.record({ tenantId: part, userId: part, appId: part }), {
      minLength: 30,
      maxLength: 30,
      selector: (scope) => JSON.stringify(scope),
    });
    const pairs: Scope[] = [
      { tenantId: "a", userId: "b:c" },
      { tenantId: "a:b", userId: "c" },
      { tenantId: "a", userId: "b", appId: "c" },
      ...fc.sample(scopes, 1).flat(),
    ];
    for (const [index, scope] of pairs.entries()) {
      await memory.record({ scope, threadId: `joined ${index}`, messages: [] });
    }
    for (const [index, scope] of pairs.entries()) {
      const threads = await memory.threads.list({ scope, limit: 1000 });
      const own = pairs.flatMap((other, number) =>
        other.tenantId === scope.tenantId &&
        other.userId === scope.userId &&
        (scope.appId === undefined || other.appId === scope.appId)
          ? [`joined ${number}`]
          : [],
      );
      expect(threads.map((thread) => thread.threadId).sort()).toEqual(own.sort());
      expect(own).toContain(`joined ${index}`);
    }
  });

  it("Ids of 10 kB each are accepted for tenant, user, app and thread", async () => {
    const memory = db.memory({ model: new OfflineChatModel() });
    const long = () => randomBytes(5_000).toString("hex");
    const scope = { tenantId: long(), userId: long(), appId: long() };
    const threadId = long();
    for (const name of ["1", "2", "3"])
      await memory.remember({ scope, threadId, messages: round(name) });
    expect((await memory.recall({ scope, threadId })).summary?.endSeq).toBe(5);
    expect((await memory.threads.list({ scope }))[0]).toMatchObject({
      threadId,
      scope,
      messages: 6,
    });
    expect(await memory.summaries.list({ scope, threadId })).toHaveLength(1);
    const close = { ...scope, userId: `${scope.userId}x` };
    await expect(memory.recall({ scope: close, threadId })).rejects.toThrow(
      code("THREAD_FORBIDDEN"),
    );
    expect((await memory.recall({ scope, threadId: `${threadId}x` })).lastSeq).toBe(-1);
  });

  it("Ids that are blank, no text or unstorable are refused by every call with the reason", async () => {
    const memory = db.memory();
    const bad: [unknown, unknown, string, RegExp][] = [
      [{ userId: " " }, "t", "SCOPE_REQUIRED", /userId must not be blank/],
      [{ userId: "ana" }, "", "INVALID_INPUT", /^'' cannot be a thread id/],
      [{ userId: "ana" }, "a\u0000b", "INVALID_INPUT", /^'a\\x00b' cannot be a thread id: .*NUL/],
      [{ userId: "ana" }, 42n, "INVALID_INPUT", /^42n cannot be a thread id/],
      [{ userId: "ana" }, undefined, "INVALID_INPUT", /thread_id/],
      [{ userId: "ana" }, "\uD800", "INVALID_INPUT", /thread_id/],
    ];
    for (const [badScope, badThread, expected, message] of bad) {
      const thread = { scope: badScope as Scope, threadId: badThread as string };
      const calls = [
        async () => memory.recall(thread),
        async () => memory.record({ ...thread, messages: [] }),
        async () => memory.remember({ ...thread, messages: [] }),
        async () => memory.summaries.list(thread),
      ];
      for (const call of calls) {
        await expect(call()).rejects.toThrow(code(expected));
        await expect(call()).rejects.toThrow(message);
      }
    }
  });
});
