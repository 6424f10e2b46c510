import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { type MemoryDraft, MemoryError } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { rejection } from "../support/rejection.js";
import { useTestDatabase } from "../support/test-database.js";
import type { TestOptions } from "../support/test-memory.js";

const db = useTestDatabase();
const newUser = () => ({ scope: { userId: randomUUID() } });
const open = (options?: TestOptions) => ({ memory: db.memory(options), user: newUser() });
type User = ReturnType<typeof newUser>;

const city = (value: string, more: Partial<MemoryDraft> = {}): MemoryDraft => ({
  category: "profile",
  key: "City",
  value,
  text: `The user lives in ${value}.`,
  importance: 4,
  ...more,
});
const propose = async (memory: Memory, user: User, draft: MemoryDraft = city("Porto")) => {
  const [outcome] = await memory.memories.add({ ...user, actor: "agent", memories: draft });
  expect(outcome).toMatchObject({ outcome: "proposed", id: null });
  return outcome!.consentId!;
};
const cityOf = async (memory: Memory, { scope }: User) =>
  (await memory.memories.list({ scope }))
    .filter(({ key }) => key === "city")
    .map(({ value }) => value);
describe("proposals", () => {
  it("A proposal is stored instead of a sensitive memory and waits for seven days", async () => {
    const { memory, user } = open();
    const id = await propose(
      memory,
      user,
      city("Porto", { source: { threadId: "t", seqs: [3], quote: "in Porto" } }),
    );
    expect(await memory.memories.list(user)).toEqual([]);
    const [request, ...others] = await memory.consents.list(user);
    expect(others).toEqual([]);
    expect(request).toMatchObject({
      id,
      scope: user.scope,
      rule: "consent",
      category: "profile",
      key: "city",
      value: "Porto",
      text: "The user lives in Porto.",
      current: null,
      status: "pending",
      seenCount: 1,
      proposedBy: "agent",
      source: { threadId: "t", seqs: [3], quote: "in Porto" },
    });
    expect(request!.expiresAt.getTime() - request!.createdAt.getTime()).toBe(7 * 86_400_000);
    const { changes } = await memory.recall({ ...user, threadId: randomUUID() });
    expect(changes.revision).toBe(0);
  });

  it("A repeated proposal is counted, and another value supersedes it", async () => {
    const { memory, user } = open();
    const first = await propose(memory, user);
    expect(await propose(memory, user, city(" PORTO"))).toBe(first);
    expect(
      await propose(memory, user, city("Porto", { text: "Porto is the home of the user." })),
    ).toBe(first);
    expect(await memory.consents.list(user)).toMatchObject([{ id: first, seenCount: 3 }]);
    const second = await propose(memory, user, city("Lisbon"));
    const all = await memory.consents.list({
      ...user,
      status: ["pending", "superseded"],
    });
    expect(all.map(({ id, status, value }) => [id, status, value])).toEqual([
      [second, "pending", "Lisbon"],
      [first, "superseded", "Porto"],
    ]);
    const late = city("Rome", { validFrom: new Date("2001-01-01") });
    await propose(memory, user, city("Faro", { validFrom: new Date("2020-01-01") }));
    expect(await memory.memories.add({ ...user, memories: late })).toMatchObject([
      { outcome: "kept", id: null },
    ]);
    expect(await memory.consents.list(user)).toMatchObject([{ value: "Faro" }]);
  });

  it("A proposal ends when the stored value is repeated", async () => {
    const { memory, user } = open();
    await memory.memories.add({ ...user, consent: "given", memories: city("Rome") });
    await propose(memory, user);
    expect(await memory.memories.add({ ...user, memories: city("Rome") })).toMatchObject([
      { outcome: "merged" },
    ]);
    expect(await memory.consents.list(user)).toEqual([]);
  });

  it("Concurrent proposals for one slot leave one pending request", async () => {
    const { memory, user } = open();
    const values = Array.from({ length: 20 }, (_, index) => `City ${index % 4}`);
    await Promise.all(
      values.map((value) => memory.memories.add({ ...user, memories: city(value) })),
    );
    expect(await memory.consents.list(user)).toHaveLength(1);
    const all = await memory.consents.list({
      ...user,
      status: ["pending", "superseded"],
    });
    expect(all.reduce((sum, { seenCount }) => sum + seenCount, 0)).toBe(20);
    expect(await memory.memories.list(user)).toEqual([]);
  });

  it("Proposals are isolated between users, tenants and apps with similar ids", async () => {
    const memory = db.memory();
    const userId = `${randomUUID()}%_:'"`;
    const scopes = [
      { userId },
      { userId, tenantId: "t" },
      { userId: `${userId}x` },
      { appId: userId },
    ];
    for (const scope of scopes) await propose(memory, { scope: scope as User["scope"] });
    const lists = await Promise.all(scopes.map((scope) => memory.consents.list({ scope })));
    expect(lists.map((list) => list.map(({ scope }) => scope))).toEqual(
      scopes.map((scope) => [scope]),
    );
    for (const [index, scope] of scopes.entries()) {
      const { id } = lists[(index + 1) % scopes.length]![0]!;
      const error = await rejection(
        memory.consents.decide({ scope, id, decision: "approve", actor: "eve" }),
      );
      expect(error?.code).toBe("NOT_FOUND");
    }
    expect(
      await rejection(
        memory.consents.decide({
          scope: { userId },
          id: "' or 1=1",
          decision: "refuse",
          actor: "e",
        }),
      ),
    ).toMatchObject({ code: "NOT_FOUND" });
  });
});

describe("decisions", () => {
  it("A request for an app's note is the app's: no user sees it, is asked about it or decides it", async () => {
    const memory = db.memory({
      config: { consent: { sensitive: ["app_notes"], ask: "tool" } },
    });
    const app = { scope: { appId: randomUUID() } };
    const user = { scope: { ...newUser().scope, ...app.scope } };
    const [{ consentId: id = "" } = {}] = await memory.memories.add({
      ...app,
      memories: { kind: "note", text: "Refunds take five days." },
    });
    await memory.memories.add({ ...user, memories: { text: "The user sells tea." } });
    for (const decision of ["approve", "refuse", "later"] as const)
      expect(
        await rejection(memory.consents.decide({ ...user, id, decision, actor: "eve" })),
      ).toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining("`{ appId }`") });
    expect(await memory.consents.list(user)).toEqual([]);
    const recalled = await memory.recall({ ...user, threadId: randomUUID(), query: "Refunds?" });
    expect(recalled.consents).toEqual([]);
    expect(await memory.consents.list(app)).toMatchObject([{ id, status: "pending" }]);
    await memory.consents.decide({ ...app, id, decision: "approve", actor: "operator" });
    expect(await memory.notes.list(app)).toMatchObject([{ text: "Refunds take five days." }]);
  });

  it("A user's decision does not replace an operator's value", async () => {
    const memory = db.memory({ config: { consent: { sensitive: ["profile/city"] } } });
    const user = newUser();
    const decide = (id: string) =>
      rejection(memory.consents.decide({ ...user, id, decision: "approve", actor: "eve" }));
    await memory.memories.add({
      ...user,
      consent: "given",
      memories: city("Rome", { origin: "operator" }),
    });
    expect(await decide(await propose(memory, user))).toMatchObject({ code: "WRONG_STATE" });
    expect(await cityOf(memory, user)).toEqual(["Rome"]);
  });

  it("An approval writes the memory with its history, change and audit entry", async () => {
    const memory = db.memory({ embeddings: new HashingEmbeddings() });
    await memory.setup();
    const user = newUser();
    const thread = { ...user, threadId: randomUUID() };
    await memory.memories.add({ ...user, consent: "given", actor: "form", memories: city("Rome") });
    await memory.record({ ...thread, messages: [] });
    const id = await propose(memory, user, city("Porto", { confidence: 0.5 }));
    const evidence = { quote: "Yes, Porto", threadId: "t", messageId: "m" };
    const audited = { decision: "approve", via: "code", evidence } as const;
    const decided = await memory.consents.decide({ ...user, ...audited, id, actor: "ana" });
    expect(decided).toMatchObject({
      status: "approved",
      decidedBy: "ana",
      decidedVia: "code",
      evidence,
    });
    const held = await memory.memories.list({
      ...user,
      states: ["active", "superseded"],
    });
    expect(held[0]).toMatchObject({ trust: "user" });
    expect(held.map(({ id: memoryId, value, state }) => [memoryId, value, state])).toEqual([
      [decided.memoryId, "Porto", "active"],
      [expect.any(String), "Rome", "superseded"],
    ]);
    const history = (await memory.memories.history({ ...user, id: decided.memoryId! })).filter(
      ({ event }) => event !== "LINK",
    );
    expect(history.map(({ event, actor }) => [event, actor])).toEqual([
      ["CONSENT", "ana"],
      ["ADD", "ana"],
    ]);
    expect(history[0]!.new).toEqual({
      decision: "approve",
      via: "code",
      request: id,
      key: "city",
      value: "Porto",
      evidence,
    });
    const [given] = await memory.memories
      .history({ ...user, id: held[1]!.id })
      .then((all) => all.filter(({ event }) => event === "CONSENT"));
    expect(given).toMatchObject({
      actor: "form",
      new: { decision: "approve", via: "code", request: null },
    });
    const { changes } = await memory.recall(thread);
    const told = { event: "updated", line: "[Profile] The user lives in Porto." };
    expect(changes.top).toContainEqual(expect.objectContaining(told));
  });

  it("A refusal changes nothing and is remembered for thirty days", async () => {
    let now = new Date("2031-01-01T00:00:00Z");
    const { memory, user } = open({ clock: () => now });
    const id = await propose(memory, user);
    const refused = await memory.consents.decide({
      ...user,
      id,
      decision: "refuse",
      actor: "ana",
      via: "cli",
    });
    expect(refused).toMatchObject({
      status: "refused",
      decidedBy: "ana",
      decidedVia: "cli",
      memoryId: null,
    });
    expect(await memory.memories.list(user)).toEqual([]);
    expect(await memory.memories.history({ ...user, id })).toMatchObject([
      { event: "CONSENT", actor: "ana", new: { decision: "refuse", via: "cli", value: "Porto" } },
    ]);
    now = new Date("2031-01-30T00:00:00Z");
    expect(await memory.memories.add({ ...user, memories: city("porto") })).toEqual([
      { outcome: "refused", id: null, problems: [], consentId: id },
    ]);
    expect(await memory.consents.list(user)).toEqual([]);
    const other = await propose(memory, user, city("Faro"));
    await memory.consents.decide({ ...user, id: other, decision: "refuse", actor: "ana" });
    now = new Date("2031-01-31T00:00:01Z");
    expect(await propose(memory, user)).not.toBe(id);
    expect(await memory.memories.add({ ...user, memories: city("Faro") })).toMatchObject([
      { outcome: "refused" },
    ]);
  });

  it("A decision may correct what it approves", async () => {
    const memory = db.memory();
    const value = async (edit: { value?: string; text?: string }, draft?: MemoryDraft) => {
      const user = newUser();
      const id = await propose(memory, user, draft);
      await memory.consents.decide({ ...user, id, decision: "approve", actor: "ana", ...edit });
      return (await memory.memories.list(user)).map((item) => [item.value, item.text]);
    };
    expect(await value({ value: "Faro" })).toEqual([["Faro", "The user lives in Faro."]]);
    expect(await value({ text: "The user is at home in Faro." })).toEqual([
      [null, "The user is at home in Faro."],
    ]);
    const unsaid = {
      category: "profile",
      key: "pronouns",
      value: "they",
      text: "The user told their pronouns.",
    };
    expect(await value({ value: "she" }, unsaid)).toEqual([["she", "The user's pronouns: she."]]);
    const user = newUser();
    const id = await propose(memory, user);
    const wrong = memory.consents.decide({
      ...user,
      id,
      decision: "approve",
      actor: "ana",
      text: "…",
    });
    expect(await rejection(wrong)).toMatchObject({ code: "INVALID_INPUT" });
    expect(await memory.consents.list(user)).toMatchObject([{ id, status: "pending" }]);
  });

  it("One of twenty concurrent decisions wins, and the errors of the others name the winner", async () => {
    const { memory, user } = open();
    const id = await propose(memory, user);
    const deciders = Array.from({ length: 20 }, (_, index) => `decider ${index}`);
    const results = await Promise.allSettled(
      deciders.map((actor, index) =>
        memory.consents.decide({
          ...user,
          id,
          actor,
          decision: index % 2 === 0 ? "approve" : "refuse",
        }),
      ),
    );
    const won = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(won).toHaveLength(1);
    const { status, decidedBy, decidedAt } = won[0]!;
    const lost = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
    for (const error of lost) {
      expect(MemoryError.is(error, "WRONG_STATE")).toBe(true);
      expect(error.message).toContain(
        `was ${status} by ${decidedBy} (code) on ${decidedAt!.toISOString()}`,
      );
    }
    expect(await cityOf(memory, user)).toEqual(status === "approved" ? ["Porto"] : []);
    const memoryId = won[0]!.memoryId ?? id;
    const audit = (await memory.memories.history({ ...user, id: memoryId })).filter(
      ({ event }) => event === "CONSENT",
    );
    expect(audit).toMatchObject([{ actor: decidedBy }]);
  });

  it("A decision after the request expired is rejected, before any sweep", async () => {
    let now = new Date("2031-01-01T00:00:00Z");
    const { memory, user } = open({ clock: () => now });
    const id = await propose(memory, user);
    now = new Date("2031-01-08T00:00:00Z");
    expect(await memory.consents.list(user)).toEqual([]);
    const [expired] = await memory.consents.list({ ...user, status: ["expired"] });
    expect(expired).toMatchObject({ id, decidedAt: now, decidedBy: null });
    for (const decision of ["approve", "refuse"] as const) {
      const error = await rejection(
        memory.consents.decide({ ...user, id, decision, actor: "ana" }),
      );
      expect(error).toMatchObject({ code: "WRONG_STATE" });
      expect(error?.message).toContain("2031-01-08");
    }
    expect(await memory.memories.list(user)).toEqual([]);
    const again = await propose(memory, user);
    expect(again).not.toBe(id);

    now = new Date("2031-01-15T00:00:00Z");
    await memory.upkeep();
    const { rows } = await db.pool.query(
      `select status from "${db.schema}".consent_request where id = any ($1) order by ref`,
      [[id, again]],
    );
    expect(rows).toEqual([{ status: "expired" }, { status: "expired" }]);
    const events = await db.pool.query(
      `select op, status, category from "${db.schema}".event where user_id = $1 and node = 'governance' order by id`,
      [user.scope.userId],
    );
    const ops = ["propose", "expire", "propose", "expire"];
    expect(events.rows).toEqual(ops.map((op) => ({ op, status: "ok", category: "profile" })));
  });
});
