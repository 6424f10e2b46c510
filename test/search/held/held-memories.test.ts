import { expect, it } from "vitest";
import { memoryKinds } from "../../../src/memories/item/memory.js";
import { heldMemories } from "../../../src/search/held/held-memories.js";
import { loadMemories } from "../../../src/search/held/load-memories.js";
import { useTestDatabase } from "../../support/test-database.js";
import { useHeldOwners } from "./held-fixture.js";
import { plainVectors } from "./plain-vectors.js";

const db = useTestDatabase();
const owners = useHeldOwners(db);

async function loaded(owner: number, page?: number) {
  const pages = [];
  for await (const rows of loadMemories(db.database, { owner, space: owners.space, page })) pages.push(rows);
  return pages;
}

it("all active memories of an owner are loaded, page by page, and read as `memories.list` gives them", async () => {
  const scope = { userId: "pages" };
  const texts = Array.from({ length: 23 }, (_, place) => `Lamp ${place} über 猫 "quoted" \\ back`);
  const owner = await owners.write(
    scope,
    texts.map((text, place) => ({ text, state: place === 4 ? "superseded" : "active", importance: 2.2 })),
  );
  const pages = await loaded(owner, 5);
  expect(pages.map((rows) => rows.length)).toEqual([5, 5, 5, 5, 2]);
  const held = heldMemories(plainVectors());
  for (const rows of pages) held.apply(rows);
  const listed = await owners.memory.memories.list({ scope });
  expect(pages.flat().map(({ ref }) => held.memoryOf(ref))).toEqual(listed.toReversed());
  expect([held.count, held.isComplete, held.found("lamp")]).toEqual([22, true, 22]);
});

it("who keeps lists of memories is told of each that comes, changes and goes", async () => {
  const told: unknown[] = [];
  const held = heldMemories(null, {
    onAdd: (view) => told.push(["add", view]),
    onRemove: (ref) => told.push(["remove", ref]),
  });
  const expiresAt = "2190-01-01T00:00:00.000001Z";
  const owner = await owners.write({ userId: "watched" }, [
    {
      ...{ text: "Tea.", key: "drink", category: "tasks", pinned: true, importance: 3.3, expiresAt },
      ...{ kind: "insight", validFrom: "2022-05-25T23:59:59.999999Z" },
    },
  ]);
  const [row] = (await loaded(owner)).flat();
  if (!row) throw new Error("nothing was loaded");
  held.apply([row, row, { ...row, active: false, memory: null }]);
  const { rows } = await db.pool.query(
    `select date_part('epoch', updated_at) * 1000 as updated from "${db.schema}".memory where ref = $1`,
    [row.ref],
  );
  const view = {
    ...{ ref: row.ref, appId: "", kind: "insight", category: "tasks", pinned: true, hasKey: true },
    importance: Math.fround(3.3),
    updatedAt: rows[0].updated,
    validFrom: expect.closeTo(Date.parse("2022-05-25T23:59:59.999Z") + 0.999, 3),
    expiresAt: expect.closeTo(Date.parse("2190-01-01") + 0.001, 3),
  };
  expect(told).toEqual([
    ["add", view],
    ["remove", row.ref],
    ["add", view],
    ["remove", row.ref],
  ]);
  expect([held.count, held.memoryOf(row.ref), held.found("tea")]).toEqual([0, undefined, 0]);
});

it("an owner with a memory whose vector is missing is not complete, until that has one", async () => {
  const owner = await owners.write({ userId: "incomplete" }, [
    { text: "tea" },
    { text: "lamp", vector: null },
  ]);
  const held = heldMemories(plainVectors());
  const [first, second] = (await loaded(owner)).flat();
  if (!first || !second) throw new Error("nothing was loaded");
  held.apply([first]);
  expect(held.isComplete).toBe(true);
  held.apply([second]);
  expect(held.isComplete).toBe(false);
  held.apply([{ ...second, vector: first.vector }]);
  expect(held.isComplete).toBe(true);
  held.apply([second]);
  expect(held.isComplete).toBe(false);
  held.apply([{ ...second, active: false, memory: null }]);
  expect(held.isComplete).toBe(true);
});

it("what was learned from a message is told by thread and seq, as long as it is held", async () => {
  const scope = { userId: "sources" };
  const threadId = "a thread of sources";
  await owners.memory.record({
    scope,
    threadId,
    messages: [{ role: "user", content: "hello", id: "sources" } as never],
  });
  const source = (...seqs: number[]) => ({ source: { threadId, seqs } });
  const owner = await owners.write(scope, [
    { text: "tea", ...source(0, 2) },
    { text: "lamp", ...source(2) },
    { text: "boat" },
  ]);
  const rows = (await loaded(owner)).flat();
  const held = heldMemories(plainVectors());
  held.apply(rows);
  const [first, second] = rows;
  if (!first || !second) throw new Error("nothing was loaded");
  const thread = first.thread ?? 0;
  const learned = () => [0, 1, 2].map((seq) => held.learnedFrom(thread, seq));
  expect(learned()).toEqual([[first.ref], undefined, [first.ref, second.ref]]);
  held.apply([{ ...first, active: false, memory: null }]);
  expect([...learned(), held.isLearnedThread(thread)]).toEqual([undefined, undefined, [second.ref], true]);
  held.apply([{ ...second, active: false, memory: null }]);
  expect([...learned(), held.isLearnedThread(thread)]).toEqual([undefined, undefined, undefined, false]);
});

it("names of categories, apps and words that objects have of their own are nothing but names", async () => {
  const name = "__proto__";
  const owner = await owners.write({ userId: "names" }, [
    { text: "constructor hasownproperty", category: name, appId: "toString", actor: "valueof" },
  ]);
  const held = heldMemories(plainVectors());
  const [row] = (await loaded(owner)).flat();
  if (!row) throw new Error("nothing was loaded");
  held.apply([row]);
  const wanted = { appId: "toString", kinds: memoryKinds, categories: [name], now: 0 };
  expect(held.visible(wanted)(row.ref)).toBe(true);
  expect(held.visible({ ...wanted, categories: ["constructor"] })(row.ref)).toBe(false);
  expect(held.visible({ ...wanted, appId: "" })(row.ref)).toBe(false);
  expect([held.hasSpeaker("valueof"), held.hasSpeaker("constructor"), held.found("@valueof")]).toEqual([
    true,
    false,
    1,
  ]);
});
