import { describe, expect, it } from "vitest";
import { keepProgress, markWork, takeWork } from "../../../src/work/work-table.js";
import { consolidateNow } from "../../support/consolidate-now.js";
import { judgingModel, samePair } from "../../support/pair-judge.js";
import { taskModel } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";
import { asDrafts } from "../../support/thread-facts.js";

const db = useTestDatabase();

const dayMs = 86_400_000;

const taskOf = async (userId: string) => {
  const { rows } = await db.pool.query(
    `select k.*, o.revision from "${db.schema}".work k join "${db.schema}".owner o on o.id = k.owner_ref
     where o.user_id = $1 and k.kind = 'consolidation'`,
    [userId],
  );
  return rows[0];
};

const ownerRefOf = async (userId: string) => {
  const { rows } = await db.pool.query(`select id from "${db.schema}".owner where user_id = $1`, [
    userId,
  ]);
  return Number(rows[0].id);
};

describe("changed owners", () => {
  it("`upkeep` consolidates a changed owner at the time of day of its tenant", async () => {
    const scope = { userId: "daily" };
    let now = new Date();
    const model = judgingModel(() => "same");
    const memory = db.memory({
      model,
      clock: () => now,
      config: { consolidation: { enabled: true } },
    });
    await memory.memories.add({ scope, memories: samePair });
    expect(await memory.upkeep()).toBe(0);
    const { retry_at: firstAt } = await taskOf("daily");
    expect(firstAt.getTime()).toBeGreaterThan(now.getTime());
    expect(firstAt.getTime()).toBeLessThanOrEqual(now.getTime() + dayMs);
    now = firstAt;
    expect(await memory.upkeep()).toBe(1);
    expect(await memory.memories.list({ scope })).toHaveLength(1);
    expect(model.calls).toHaveLength(5);

    const task = await taskOf("daily");
    expect(task).toMatchObject({
      retry_at: null,
      progress: null,
      done_until: task.revision,
      attempts: 0,
    });
    now = new Date(now.getTime() + 2 * dayMs);
    expect(await memory.upkeep()).toBe(0);

    const drafts = [
      { text: "In the Alps the user enjoys hiking every summer." },
      { text: "The user plays chess." },
    ];
    await memory.memories.add({ scope, memories: drafts });
    expect(await memory.upkeep()).toBe(1);
    await memory.memories.add({
      scope,
      memories: { text: "The user enjoys summer hiking in the Alps." },
    });
    now = new Date(now.getTime() + dayMs / 2);
    expect(await memory.upkeep()).toBe(0);
    now = new Date(now.getTime() + dayMs);
    expect(await memory.upkeep()).toBe(1);
  });

  it("A changed owner is skipped if consolidation is off or there is no model", async () => {
    const scope = { userId: "off" };
    const memory = db.memory({ model: judgingModel(() => "same") });
    await memory.memories.add({ scope, memories: samePair });
    await memory.upkeep();
    await db.memory({ config: { consolidation: { enabled: true } } }).upkeep();
    expect(await taskOf("off")).toBeUndefined();
    await expect(consolidateNow(db.memory(), { scope })).rejects.toMatchObject({
      code: "MODEL_REQUIRED",
    });
  });
});

describe("consolidation runs", () => {
  it("A consolidation run writes nothing about memories that changed after it read them", async () => {
    const scope = { userId: "stale" };
    const judge = judgingModel(() => "same");
    const meddling: { id?: string } = {};
    const model = taskModel({
      memory_pairs: async (prompt, call) => {
        if (call === 0)
          await memory.memories.update({ scope, id: meddling.id ?? "", pinned: true });
        return judge.reply(prompt, call);
      },
    });
    const memory = db.memory({ model });
    const [first] = await memory.memories.add({
      scope,
      memories: samePair,
    });
    meddling.id = first?.id ?? "";
    const done = await consolidateNow(memory, { scope });
    expect(done.pairs).toMatchObject([{ verdict: "same", action: "none", refused: "changed" }]);
    expect(await memory.memories.list({ scope })).toHaveLength(2);
    expect((await consolidateNow(memory, { scope })).pairs).toMatchObject([{ action: "merge" }]);
  });

  it("An interrupted consolidation run resumes without repeating votes", async () => {
    const scope = { userId: "resumed" };
    const memory = db.memory({ model: judgingModel(() => "same") });
    await memory.memories.add({ scope, memories: samePair });
    const { rows } = await db.pool.query(
      `select ref::float8 as ref, 1 as revision from "${db.schema}".memory
       where user_id = 'resumed' order by ref`,
    );
    const [first, second] = rows;
    const key = { kind: "consolidation", of: "owner", ref: await ownerRefOf("resumed") } as const;
    await markWork(db.database, key);
    const claim = await takeWork(db.database, key, [key.ref], 1);
    if (!claim) throw new Error("nothing was claimed");
    const pairs = [
      { first, second, similarity: 0.8, votes: [{ verdict: "same", reason: "Said before." }] },
    ];
    await keepProgress(db.database, claim, { doneUntil: 1, more: false, pairs });
    await new Promise((resolve) => setTimeout(resolve, 5));
    const done = await consolidateNow(memory, { scope });
    expect(done).toMatchObject({ status: "completed", calls: 4 });
    expect(done.tokens).toBeGreaterThan(0);
    expect(done.pairs).toMatchObject([{ action: "merge", reason: "Said before." }]);
  });

  it("A consolidation run is deferred at the tenant's daily token budget until the next day", async () => {
    let now = new Date("2026-03-01T12:00:00Z");
    const scope = { tenantId: "thrifty", userId: "one" };
    const config = { consolidation: { budgetTokens: 10 } };
    const memory = db.memory({ model: judgingModel(() => "unrelated"), clock: () => now, config });
    await memory.memories.add({ scope, memories: samePair });
    expect(await consolidateNow(memory, { scope })).toMatchObject({
      status: "completed",
      calls: 2,
    });
    const chess = [
      "The user plays chess in the park with friends.",
      "In the park the user meets friends who play chess.",
    ];
    await memory.memories.add({ scope, memories: asDrafts(chess) });
    expect(await consolidateNow(memory, { scope })).toMatchObject({ status: "deferred", calls: 0 });
    expect((await taskOf("one")).retry_at).toEqual(new Date("2026-03-02T00:00:00Z"));
    now = new Date("2026-03-02T00:00:00Z");
    expect(await consolidateNow(memory, { scope })).toMatchObject({
      status: "completed",
      calls: 2,
    });
  });
});

describe("answers of a model", () => {
  const run = async (userId: string, structured: Record<string, unknown>) => {
    const model = taskModel({ memory_pairs: () => ({ structured }) });
    const memory = db.memory({ model });
    const scope = { userId };
    await memory.memories.add({ scope, memories: samePair });
    return { done: await consolidateNow(memory, { scope }), model, scope, memory };
  };
  const said = (pair: unknown, verdict: unknown) => ({ pair, reason: "", verdict });

  it.each([
    ["about an unknown pair", [said(7, "same")]],
    ["nothing", []],
    ["twice", [said(1, "same"), said(1, "same")]],
    ["with an unknown verdict", [said(1, "identical"), said(7, "same")]],
  ])("Both memories of a pair stay unchanged if the model answers %s", async (name, verdicts) => {
    const { done, memory, scope } = await run(`says ${name}`, { verdicts });
    expect(done.pairs).toMatchObject([{ verdict: "unrelated", action: "none" }]);
    expect(await memory.memories.list({ scope })).toHaveLength(2);
  });
});
