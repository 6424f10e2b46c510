import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type MemoryDraft, MemoryError } from "../../src/index.js";
import type { Memory } from "../../src/memory.js";
import { OfflineChatModel } from "../../src/testing/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { eventsOf, openThread, say } from "../support/thread-facts.js";

const db = useTestDatabase();
const extract = { memories: { extract: true } };
const queue = { ask: "queue" as const };

const fields: [category: string, key: string][] = [
  ["profile", "preferred_name"],
  ["identity", "Preferred name"],
  ["profile", "pronouns"],
  ["knowledge", "pronouns"],
  ["profile", "city"],
  ["knowledge", "city"],
  ["profile", "Language"],
  ["profile", "name"],
];
const draftOf = ([category, key]: [string, string], value: string): MemoryDraft => ({
  category,
  key,
  value,
  text: `The user's ${key} is ${value}.`,
  importance: 5,
});
const isSensitive = (key: string | null) =>
  ["name", "preferred_name", "pronouns", "city", "language"].includes(key ?? "");

describe("sensitive fields", () => {
  it("Sensitive fields are configurable, and other fields need no consent", async () => {
    const user = { scope: { userId: randomUUID() } };
    const plain: MemoryDraft[] = [
      draftOf(["profile", "job"], "Baker"),
      draftOf(["tasks", "name"], "Launch"),
      draftOf(["profile", "name_to_use"], "Al"),
      { text: "The user lives in Porto." },
    ];
    const outcomes = await db.memory().memories.add({ ...user, memories: plain });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(plain.map(() => "created"));

    const config = { consent: { sensitive: ["constraints", "identity/E-Mail"], benign: [] } };
    const health = [
      { category: "constraints", text: "The user is allergic to nuts." },
      { category: "constraints", text: "The user is allergic to milk." },
      draftOf(["profile", "e_mail"], "ana@example.org"),
      draftOf(["profile", "city"], "Rome"),
      { category: "goals", text: "The user's goal is to rest." },
    ];
    const asked = await db.memory({ config }).memories.add({ ...user, memories: health });
    expect(asked.map(({ outcome }) => outcome)).toEqual([
      "proposed",
      "proposed",
      "proposed",
      "created",
      "created",
    ]);
    expect(await db.memory({ config }).consents.list({ scope: user.scope })).toHaveLength(3);
    expect(() => db.memory({ config: { consent: { sensitive: ["hobbies/x"] } } })).toThrow(
      "hobbies",
    );
    expect(() => db.memory({ config: { consent: { sensitive: ["profile/"] } } })).toThrow(
      '"category/key"',
    );
  });

  it("Extraction proposes a sensitive field with its source", async () => {
    const config = { ...extract, consent: queue };
    const { memory, thread, scope } = openThread(db, { model: new OfflineChatModel(), config });
    await say(memory, thread, "I work as baker and I live in Porto.");
    const known = await memory.memories.list({ scope });
    expect(known.map(({ key, value }) => [key, value])).toEqual([["job", "baker"]]);
    expect(await memory.consents.list({ scope })).toMatchObject([
      {
        key: "city",
        value: "Porto",
        proposedBy: "worker:facts",
        status: "pending",
        source: { threadId: thread.threadId, seqs: [0], quote: "I live in Porto" },
      },
    ]);
    expect(await eventsOf(db, thread, "facts")).toContain("classify ok proposed");
    expect(await memory.stats({ scope })).toMatchObject({ written: 1, rejected: 0 });
    await say(memory, thread, "I live in Porto.");
    expect(await memory.consents.list({ scope })).toMatchObject([{ seenCount: 2, signals: 2 }]);
  });

  it("An update or restore of a sensitive field without consent only proposes it", async () => {
    const memory = db.memory();
    const user = { scope: { userId: randomUUID() }, actor: "agent" };
    const [rome] = await memory.memories.add({
      ...user,
      consent: "given",
      memories: draftOf(["profile", "city"], "Rome"),
    });
    const id = rome!.id!;
    const required = { code: "CONSENT_REQUIRED" };
    const update = memory.memories.update({
      ...user,
      id,
      value: "Porto",
      text: "The user lives in Porto.",
    });
    await expect(update).rejects.toThrow(/waits as request [0-9a-f-]{36}/);
    await expect(
      memory.memories.update({ ...user, id, text: "The user left Rome." }),
    ).rejects.toMatchObject(required);
    expect(await memory.memories.get({ ...user, id })).toMatchObject({
      value: "Rome",
      text: "The user's city is Rome.",
    });
    // What says nothing else about the user needs no consent.
    await memory.memories.update({ ...user, id, importance: 2, pinned: true, tags: ["home"] });
    expect((await memory.memories.history({ ...user, id })).map(({ event }) => event)).toEqual([
      "UPDATE",
      "CONSENT",
      "ADD",
    ]);

    const [free] = await memory.memories.add({
      ...user,
      memories: draftOf(["tasks", "language"], "Danish"),
    });
    await expect(
      memory.memories.update({ ...user, id: free!.id!, category: "profile" }),
    ).rejects.toMatchObject(required);
    await memory.memories.remove({ ...user, id });
    await expect(memory.memories.restore({ ...user, id })).rejects.toMatchObject(required);
    expect(
      (await memory.memories.list({ scope: user.scope })).map(({ category }) => category),
    ).toEqual(["tasks"]);
    expect(await memory.consents.list({ scope: user.scope })).toMatchObject([{ value: "Rome" }]);

    await memory.memories.restore({ ...user, consent: "given", id });
    const porto = { value: "Porto", text: "The user lives in Porto." };
    await memory.memories.update({ ...user, actor: "form", consent: "given", id, ...porto });
    const [consent] = (await memory.memories.history({ ...user, id })).filter(
      ({ event }) => event === "CONSENT",
    );
    expect(consent).toMatchObject({
      actor: "form",
      new: { decision: "approve", via: "code", value: "Porto" },
    });
  });

  it("Sensitive fields have only consented values after any calls without consent", async () => {
    const said = (key: string, value: string) => (prompt: string) =>
      facts(
        candidate(`The user's ${key} is ${value}.`, value, {
          category: "profile",
          key,
          value,
          confidence: 1,
          message: Number(/number="(\d+)"/.exec(prompt)?.[1] ?? 1),
        }),
      );
    const value = fc.constantFrom("Porto", "Oslo", "Faro");
    const field = fc.constantFrom(...fields);
    const step = fc.oneof(
      fc.record({ op: fc.constant("add" as const), field, value }),
      fc.record({ op: fc.constant("extract" as const), field, value }),
      fc.record({
        op: fc.constantFrom("update" as const, "recategorise" as const),
        at: fc.nat(9),
        value,
      }),
      fc.record({
        op: fc.constantFrom("remove" as const, "restore" as const, "pin" as const),
        at: fc.nat(9),
      }),
      fc.record({ op: fc.constant("refuse" as const), at: fc.nat(3) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 10 }), async (steps) => {
        const { memory, scope } = openThread(db, { config: { consent: queue } });
        const drafts = [
          draftOf(["profile", "city"], "Rome"),
          draftOf(["profile", "pronouns"], "they"),
          draftOf(["tasks", "city"], "Hall"),
        ];
        const start = await memory.memories.add({ scope, consent: "given", memories: drafts });
        const consented = new Set(["Rome", "they"]);
        for (const action of steps) {
          const all = await memory.memories.list({
            scope,
            states: ["active", "soft_deleted", "superseded"],
          });
          const id = "at" in action ? (all[action.at % all.length]?.id ?? "") : "";
          await perform(memory, scope, action, id, said).catch((error: unknown) => {
            if (!MemoryError.is(error)) throw error;
          });
          const active = await memory.memories.list({ scope });
          const held = active.filter(
            ({ category, key }) => category !== "tasks" && isSensitive(key),
          );
          for (const item of held) expect(consented).toContain(item.value);
        }
        expect(start).toHaveLength(3);
      }),
      { numRuns: 25 },
    );
  });
});

async function perform(
  memory: Memory,
  scope: { userId: string },
  action: { op: string; field?: [string, string]; value?: string; at?: number },
  id: string,
  said: (key: string, value: string) => (prompt: string) => ReturnType<typeof facts>,
): Promise<void> {
  const { op, field = ["profile", "city"], value = "Porto", at = 0 } = action;
  const as = { scope, actor: "agent" };
  const { memories, consents } = memory;
  const done: Record<string, () => Promise<unknown>> = {
    add: () => memories.add({ ...as, memories: { ...draftOf(field, value), correction: true } }),
    extract: () => {
      const model = taskModel({ fact_extraction: said(field[1], value) });
      const messages = [new HumanMessage(`It is ${value}.`)];
      return db
        .memory({ model, config: { ...extract, consent: queue } })
        .remember({ scope, threadId: randomUUID(), messages });
    },
    update: () => memories.update({ ...as, id, value, text: `The user's field is ${value}.` }),
    recategorise: () => memories.update({ ...as, id, category: "profile" }),
    remove: () => memories.remove({ ...as, id }),
    restore: () => memories.restore({ ...as, id }),
    pin: () => memories.update({ ...as, id, pinned: true }),
    refuse: async () => {
      const waiting = await consents.list({ scope });
      const request = waiting[at % Math.max(1, waiting.length)];
      if (request)
        await consents.decide({ scope, id: request.id, decision: "refuse", actor: "user" });
    },
  };
  await done[op]?.();
}
