import { beforeAll, describe, expect, it } from "vitest";
import { HashingEmbeddings } from "../../src/testing/index.js";
import { code } from "../support/rejection.js";
import { runLifecycle } from "../support/run-lifecycle.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const minute = 60_000;

beforeAll(() => db.memory({ embeddings: new HashingEmbeddings() }).setup());

/** A memory whose clock is moved by hand, of a user of its own. */
function timed(userId: string, options: Parameters<typeof db.memory>[0] = {}) {
  let now = Date.parse("2026-03-01T12:00:00Z");
  const memory = db.memory({ ...options, clock: () => new Date(now) });
  return {
    memory,
    scope: { scope: { userId } },
    inMinutes: (minutes: number) => new Date(now + minutes * minute),
    wait: (minutes: number) => {
      now += minutes * minute;
    },
  };
}

describe("expiry", () => {
  it("A memory that expires is hidden everywhere immediately, before any sweep", async () => {
    const { memory, scope, inMinutes, wait } = timed("ana");
    const slot = {
      category: "preferences",
      key: "seat",
      value: "window",
      text: "Ana wants a window seat.",
    };
    const [one] = await memory.memories.add({
      ...scope,
      memories: { ...slot, expiresAt: inMinutes(10) },
    });
    await memory.memories.add({
      ...scope,
      memories: { text: "Ana flies to Oslo.", expiresAt: inMinutes(10).toISOString() },
    });
    const shown = async () => {
      const query = "Where does Ana fly, in which seat?";
      const recalled = await memory.recall({ ...scope, threadId: "ana-1", query });
      return [
        Object.values(recalled.memories).filter(Array.isArray).flat().length > 0 ||
          recalled.memories.omitted > 0,
        (await memory.query({ ...scope, query: "Oslo window seat" })).length > 0,
        (await memory.memories.list(scope)).length > 0,
      ];
    };
    expect(await shown()).toEqual([true, true, true]);
    wait(10);
    expect(await shown()).toEqual([false, false, false]);
    expect(await memory.memories.get({ ...scope, id: one?.id as string })).toMatchObject({
      state: "soft_deleted",
    });
    expect(await memory.memories.list({ ...scope, states: ["soft_deleted"] })).toHaveLength(2);
  });

  it("An expired memory is soft-deleted by upkeep with a history entry, then purged", async () => {
    const { memory, scope, inMinutes, wait } = timed("ben");
    const [added] = await memory.memories.add({
      ...scope,
      memories: { text: "Ben has a cold.", expiresAt: inMinutes(5) },
    });
    const id = added?.id as string;
    wait(6);
    expect(await runLifecycle(memory, scope)).toEqual({ softDeleted: 1, purged: 0 });
    const [entry] = await memory.memories.history({ ...scope, id });
    expect(entry).toMatchObject({
      event: "TTL",
      actor: "worker:lifecycle",
      new: { state: "soft_deleted" },
    });
    expect((await memory.memories.get({ ...scope, id }))?.purgeAt).toEqual(inMinutes(30 * 24 * 60));
    wait(30 * 24 * 60 + 1);
    expect(await runLifecycle(memory, scope)).toEqual({ softDeleted: 0, purged: 1 });
    expect(await memory.memories.get({ ...scope, id })).toBeNull();
  });

  it.each([false, true])(
    "An expired memory returns by a later expiry, by no expiry and by restore; swept: %s",
    async (swept) => {
      const { memory, scope, inMinutes, wait } = timed(`cleo-${swept}`, {
        embeddings: new HashingEmbeddings(),
      });
      const texts = ["Cleo reads novels.", "Cleo plays chess.", "Cleo keeps bees."];
      const drafts = texts.map((text) => ({ text, expiresAt: inMinutes(5) }));
      const [later, never, restored] = (
        await memory.memories.add({ ...scope, memories: drafts })
      ).map(({ id }) => id as string);
      wait(6);
      if (swept) await runLifecycle(memory, scope);
      await memory.memories.update({ ...scope, id: later as string, expiresAt: inMinutes(5) });
      await memory.memories.update({ ...scope, id: never as string, expiresAt: null });
      await memory.memories.restore({ ...scope, id: restored as string });
      expect(await memory.memories.list(scope)).toHaveLength(3);
      for (const query of ["novels", "chess", "bees"]) {
        expect(await memory.query({ ...scope, query }), query).not.toEqual([]);
      }
      wait(6);
      const left = await memory.memories.list(scope);
      expect(left.map(({ id, expiresAt }) => `${id} ${expiresAt}`)).toEqual([
        `${restored} null`,
        `${never} null`,
      ]);
      const { rows } = await db.pool.query(
        `select memory_count::int as counted from "${db.schema}".owner where user_id = $1`,
        [`cleo-${swept}`],
      );
      await runLifecycle(memory, scope);
      expect(rows[0].counted).toBe(3);
    },
  );

  it("An expired memory frees its slot and does not merge with the same statement", async () => {
    const { memory, scope, inMinutes, wait } = timed("dana");
    const slot = (value: string, fields: object = {}) => ({
      category: "preferences",
      key: "drink",
      value,
      text: `Dana drinks ${value}.`,
      ...fields,
    });
    const sure = { origin: "operator", confidence: 1 } as const;
    const [wine] = await memory.memories.add({
      ...scope,
      memories: slot("wine", { ...sure, expiresAt: inMinutes(5) }),
    });
    await memory.memories.add({
      ...scope,
      memories: { text: "Dana runs at dawn.", expiresAt: inMinutes(5) },
    });
    wait(6);
    const drafts = [
      slot("tea", { origin: "tool", confidence: 0.5 }),
      { text: "Dana runs at dawn." },
    ];
    const outcomes = await memory.memories.add({ ...scope, memories: drafts });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["created", "created"]);
    const listed = await memory.memories.list(scope);
    expect(listed.map(({ text, expiresAt }) => [text, expiresAt])).toEqual([
      ["Dana runs at dawn.", null],
      ["Dana drinks tea.", null],
    ]);
    await expect(memory.memories.restore({ ...scope, id: wine?.id as string })).rejects.toThrow(
      code("CONFLICT"),
    );
  });

  it("A memory that is repeated before it expires keeps the latest expiry", async () => {
    const { memory, scope, inMinutes } = timed("eve");
    const text = "Eve works from home.";
    const [first] = await memory.memories.add({
      ...scope,
      memories: { text, expiresAt: inMinutes(5) },
    });
    const read = async () =>
      (await memory.memories.get({ ...scope, id: first?.id as string }))?.expiresAt;
    await memory.memories.add({ ...scope, memories: { text, expiresAt: inMinutes(9) } });
    expect(await read()).toEqual(inMinutes(9));
    await memory.memories.add({ ...scope, memories: { text, expiresAt: inMinutes(2) } });
    expect(await read()).toEqual(inMinutes(9));
    await memory.memories.add({ ...scope, memories: { text } });
    expect(await read()).toBeNull();
  });

  it("An expiry must be in the future, and does not restore a removed memory", async () => {
    const { memory, scope, inMinutes } = timed("fay");
    const over = { text: "Fay sings.", expiresAt: inMinutes(-1) };
    await expect(memory.memories.add({ ...scope, memories: over })).rejects.toThrow(/is past/);
    const [added] = await memory.memories.add({ ...scope, memories: { text: "Fay sings." } });
    const id = added?.id as string;
    await expect(
      memory.memories.update({ ...scope, id, expiresAt: inMinutes(-1) }),
    ).rejects.toThrow(/is past/);
    await memory.memories.remove({ ...scope, id });
    await expect(memory.memories.update({ ...scope, id, expiresAt: inMinutes(5) })).rejects.toThrow(
      code("WRONG_STATE"),
    );
  });
});
