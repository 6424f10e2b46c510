import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Memory, Scope } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const newUser = () => ({ scope: { userId: randomUUID() } });
const year = (number: number) => new Date(Date.UTC(number, 0, 1));

const lunch = (value: string, since: number) => ({
  category: "preferences",
  key: "lunch",
  value,
  text: `The user has ${value} for lunch.`,
  validFrom: year(since),
});

/** What the slot held when, as years; what was removed or merged is no part of it. */
async function timesOf(memory: Memory, { scope }: { scope: Scope }) {
  const items = await memory.memories.list({ scope, states: ["active", "superseded"] });
  return items
    .map(({ value, validFrom, validTo }) => [
      value,
      validFrom.getUTCFullYear(),
      validTo?.getUTCFullYear() ?? null,
    ])
    .sort(
      (one, other) =>
        Number(one[1]) - Number(other[1]) || Number(one[2] ?? 9e9) - Number(other[2] ?? 9e9),
    );
}

const addAll = async (
  memory: Memory,
  access: { scope: Scope },
  drafts: ReturnType<typeof lunch>[],
) => {
  const ids: string[] = [];
  for (const draft of drafts) {
    const [{ id } = { id: null }] = await memory.memories.add({ ...access, memories: draft });
    ids.push(id ?? "");
  }
  return ids;
};

describe("times of a slot's values", () => {
  it("A restored value begins after the values that held its slot meanwhile", async () => {
    const memory = db.memory();
    const user = newUser();
    const [rice] = await addAll(memory, user, [lunch("rice", 2018)]);
    await memory.memories.remove({ ...user, id: rice ?? "" });
    const [, fish] = await addAll(memory, user, [lunch("soup", 2019), lunch("fish", 2021)]);
    await memory.memories.remove({ ...user, id: fish ?? "" });
    await memory.memories.restore({ ...user, id: rice ?? "" });
    expect(await timesOf(memory, user)).toEqual([
      ["soup", 2019, 2021],
      ["rice", 2021, null],
    ]);
  });

  it("A value moved to another slot begins after that slot's values, and other edits keep its time", async () => {
    const memory = db.memory();
    const user = newUser();
    const [rice] = await addAll(memory, user, [lunch("rice", 2018)]);
    const inTasks = (value: string, since: number) => ({
      ...lunch(value, since),
      category: "tasks",
    });
    const [, fish] = await addAll(memory, user, [inTasks("soup", 2019), inTasks("fish", 2021)]);
    await memory.memories.remove({ ...user, id: fish ?? "" });
    expect(
      (await memory.memories.update({ ...user, id: rice ?? "", importance: 4 })).validFrom,
    ).toEqual(year(2018));
    expect(
      (await memory.memories.update({ ...user, id: rice ?? "", category: "tasks" })).validFrom,
    ).toEqual(year(2021));
  });
});
