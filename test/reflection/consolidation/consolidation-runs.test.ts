import { describe, expect, it } from "vitest";
import type { Scope } from "../../../src/index.js";
import { consolidateNow } from "../../support/consolidate-now.js";
import { findEverywhere } from "../../support/find-everywhere.js";
import { judgingModel } from "../../support/pair-judge.js";
import { restOn } from "../../support/rests-on.js";
import { taskModel } from "../../support/task-model.js";
import { useTestDatabase } from "../../support/test-database.js";

const db = useTestDatabase();
const march = new Date("2026-03-03T10:00:00Z");
let users = 0;

/** Pairs of statements that a careless judge takes for the same. */
const hobbies = ["hiking", "sailing", "chess", "baking", "fencing", "rowing"];
const statements = hobbies.flatMap((hobby) => [
  { text: `The user enjoys ${hobby} with friends every summer.`, tags: [hobby] },
  { text: `Every summer the user enjoys ${hobby} with her friends.`, importance: 5 },
]);

/** A user with such statements, and a judge to whom each pair of one hobby is the same. */
async function sameToAll(pairs = hobbies.length, tenantId?: string) {
  const clock = { now: march };
  const scope: Scope = { userId: `hobbyist ${users++}`, ...(tenantId && { tenantId }) };
  const model = judgingModel(({ one, other }) =>
    hobbies.some((hobby) => one.includes(hobby) && other.includes(hobby)) ? "same" : "unrelated",
  );
  const memory = db.memory({ model, clock: () => clock.now });
  await memory.memories.add({ scope, memories: statements.slice(0, 2 * pairs) });
  const states = ["active", "merged", "superseded", "soft_deleted"] as const;
  const stored = async () => {
    const found = await memory.memories.list({ scope, states, sort: "oldest" });
    return found.map(({ lastAccessedAt: _, updatedAt: __, revision: ___, ...memory }) => memory);
  };
  const active = async () => (await memory.memories.list({ scope })).length;
  return { memory, scope, clock, stored, active };
}

/** Everything about the memories of a user, as rows. */
async function rowsOf({ userId = "" }: Scope) {
  const tables = ["memory", "memory_term", "history", "change_log", "relation", "compared_pair"];
  const rows: Record<string, unknown> = {};
  for (const table of tables) {
    const owner =
      table === "relation"
        ? "(select m.owner_ref from @memory m where m.ref = x.from_ref)"
        : "x.owner_ref";
    const found = await db.pool.query(
      `select coalesce(json_agg(x order by x::text), '[]')::text as all from @${table} x
       where ${owner} = (select id from @owner where user_id = $1)`.replaceAll(
        "@",
        `"${db.schema}".`,
      ),
      [userId],
    );
    rows[table] = found.rows[0].all;
  }
  return rows;
}

describe("runs of consolidation", () => {
  it("A judge that says everything is the same cannot wipe a bank in silence", async () => {
    const { memory, scope, active } = await sameToAll();
    await consolidateNow(memory, { scope });
    expect(await active()).toBe(12);
    const [run, ...others] = await memory.consolidations.list({ scope, status: ["waiting"] });
    expect(others).toEqual([]);
    expect(run?.merged).toHaveLength(6);
    expect(run?.merged[0]).toMatchObject({
      text: expect.stringContaining("every summer"),
      verdict: "same",
      kept: { text: expect.stringContaining("summer") },
    });
    // Until somebody decides, no other run asks.
    expect(await consolidateNow(memory, { scope })).toMatchObject({
      status: "skipped",
      reason: "waits_for_operator",
      calls: 0,
    });
    const applied = await memory.consolidations.decide({
      scope,
      id: run?.id ?? "",
      decision: "apply",
      actor: "admin",
    });
    expect(applied).toMatchObject({ status: "applied", decidedBy: "admin", left: [] });
    expect(await active()).toBe(6);
    const gone = run?.merged[0]?.id ?? "";
    const [entry] = await memory.memories.history({ scope, id: gone });
    expect(entry).toMatchObject({ event: "MERGE", actor: "admin" });
  });

  it("A preview changes no memory, its apply is what it said, and a revert undoes that", async () => {
    const { memory, scope, stored, active } = await sameToAll(2);
    const before = await stored();
    const rows = await rowsOf(scope);
    const run = await memory.consolidations.preview({ scope });
    expect(await rowsOf(scope)).toEqual(rows);
    expect(run).toMatchObject({ status: "waiting", closed: [], added: [], left: [] });
    const said = run?.merged.map(({ id, kept }) => [id, kept?.id]);
    const id = run?.id ?? "";
    await memory.consolidations.decide({ scope, id, decision: "apply" });
    const merged = (await stored()).filter(({ state }) => state === "merged");
    expect(merged.map((gone) => [gone.id, gone.supersededBy]).toSorted()).toEqual(said?.toSorted());
    expect(await active()).toBe(2);
    const reverted = await memory.consolidations.revert({ scope, id, actor: "admin" });
    expect(reverted).toMatchObject({ status: "reverted", left: [] });
    expect(await stored()).toEqual(before);
    await expect(memory.consolidations.revert({ scope, id })).rejects.toMatchObject({
      code: "WRONG_STATE",
    });
  });

  it("A run that did not wait is undone as well", async () => {
    const { memory, scope, stored, active } = await sameToAll(2);
    const before = await stored();
    await consolidateNow(memory, { scope });
    expect(await active()).toBe(2);
    const [run] = await memory.consolidations.list({ scope });
    expect(run).toMatchObject({ status: "applied", decidedBy: null });
    await memory.consolidations.revert({ scope, id: run?.id ?? "" });
    expect(await stored()).toEqual(before);
  });

  it("An apply and a revert leave what changed meanwhile, and list it", async () => {
    const { memory, scope, stored } = await sameToAll(3);
    const run = await memory.consolidations.preview({ scope });
    const id = run?.id ?? "";
    const [first, second, third] = run?.merged ?? [];
    const edit = (of: string | undefined, text: string) =>
      memory.memories.update({ scope, id: of ?? "", text });
    // The owner writes between preview and apply.
    await edit(first?.id, "The user gave up that hobby.");
    const applied = await memory.consolidations.decide({ scope, id, decision: "apply" });
    expect(applied.left).toMatchObject([{ id: first?.id, text: "The user gave up that hobby." }]);
    // And between apply and revert: one says again what was merged, of another the kept one is edited.
    await memory.memories.add({ scope, memories: { text: second?.text ?? "" } });
    await edit(third?.kept?.id, "The user has a trophy.");
    const reverted = await memory.consolidations.revert({ scope, id });
    const left = reverted.left.map((each) => each.id);
    expect(left).toContain(third?.kept?.id);
    expect(left).not.toContain(third?.id);
    const now = new Map((await stored()).map((each) => [each.id, each]));
    expect(now.get(third?.id ?? "")).toMatchObject({ state: "active", text: third?.text });
    expect(now.get(third?.kept?.id ?? "")).toMatchObject({ text: "The user has a trophy." });
  });

  it("An apply lists a doubt that somebody settled meanwhile among what it left", async () => {
    const verdicts = [{ memory: 1, reason: "", verdict: "ended" }];
    const model = taskModel({ memory_doubts: () => ({ structured: { verdicts } }) });
    const memory = db.memory({ model });
    const scope = { userId: `hobbyist ${users++}` };
    const townOf = (value: string) =>
      memory.memories.add({
        scope,
        memories: { category: "profile", key: "town", value, text: `Lives in ${value}.` },
        consent: "given",
      });
    const [town] = await townOf("Faro");
    const draft = { kind: "insight", category: "interests", origin: "user" } as const;
    const swims = { ...draft, text: "Swims each day." };
    const [insight] = await memory.memories.add({ scope, memories: swims });
    const id = insight?.id ?? "";
    await restOn(db, town?.id, id);
    await townOf("Graz");
    const run = await memory.consolidations.preview({ scope });
    expect(run?.closed).toMatchObject([{ id, verdict: "ended" }]);
    await memory.memories.confirm({ scope, id });
    const decision = { scope, id: run?.id ?? "", decision: "apply" } as const;
    expect((await memory.consolidations.decide(decision)).left).toMatchObject([{ id }]);
    expect(await memory.memories.get({ scope, id })).toMatchObject({ state: "active" });
  });

  it("Writers at the time of an apply lose nothing", async () => {
    const { memory, scope, active } = await sameToAll(4);
    const run = await memory.consolidations.preview({ scope });
    const texts = Array.from(
      { length: 6 },
      (_, place) => `The user has ${place + 2} red bicycles.`,
    );
    await Promise.all([
      memory.consolidations.decide({ scope, id: run?.id ?? "", decision: "apply" }),
      ...texts.map((text) => memory.memories.add({ scope, memories: { text } })),
    ]);
    expect(await active()).toBe(4 + 6);
  });

  it("A run lapses after 14 days, and a dismissed one is not asked about again", async () => {
    const late = await sameToAll();
    await consolidateNow(late.memory, late);
    late.clock.now = new Date(march.getTime() + 15 * 86_400_000);
    const [lapsed] = await late.memory.consolidations.list({ scope: late.scope });
    expect(lapsed?.status).toBe("lapsed");
    const decision = { scope: late.scope, id: lapsed?.id ?? "", decision: "apply" } as const;
    await expect(late.memory.consolidations.decide(decision)).rejects.toMatchObject({
      code: "WRONG_STATE",
    });
    expect(await late.active()).toBe(12);

    const dismissed = await sameToAll();
    const { memory, scope } = dismissed;
    await consolidateNow(memory, { scope });
    const [run] = await memory.consolidations.list({ scope });
    await memory.consolidations.decide({ scope, id: run?.id ?? "", decision: "dismiss" });
    const { pairs } = await consolidateNow(memory, { scope });
    expect(pairs.filter(({ action }) => action === "merge")).toEqual([]);
    expect(await dismissed.active()).toBe(12);
  });

  it("A run of another tenant is not there, and forgetting erases one that waits", async () => {
    const one = await sameToAll(6, "tenant one");
    await consolidateNow(one.memory, one);
    const [run] = await one.memory.consolidations.list({ scope: one.scope });
    const other = { ...one.scope, tenantId: "tenant two" };
    expect(await one.memory.consolidations.list({ scope: other })).toEqual([]);
    expect(await one.memory.consolidations.list({ tenantId: "tenant two" })).toEqual([]);
    await expect(
      one.memory.consolidations.decide({ scope: other, id: run?.id ?? "", decision: "apply" }),
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
    const { rows } = await db.pool.query(
      `select plan::text from "${db.schema}".consolidation where id = $1`,
      [run?.id],
    );
    expect(rows[0].plan).not.toMatch(/summer|hiking|Because/);
    await one.memory.forget({ scope: one.scope });
    expect(await findEverywhere(db, run?.id ?? "")).toEqual({});
    expect(await findEverywhere(db, run?.merged[0]?.id ?? "")).toEqual({});
  });
});
