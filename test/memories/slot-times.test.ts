import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ExportLine, Memory, MemoryAccess } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const newUser = () => ({ scope: { userId: randomUUID() } });
const year = (number: number) => new Date(Date.UTC(number, 0, 1));

const lunch = (value: string, since: number) => ({
  ...{ category: "preferences", key: "lunch", value, text: `The user has ${value} for lunch.` },
  validFrom: year(since),
});

/** What the slot held when, as years; what was removed or merged is no part of it. */
async function timesOf(memory: Memory, { scope }: MemoryAccess) {
  const items = await memory.memories.list({ scope, states: ["active", "superseded"] });
  return items
    .map(({ value, validFrom, validTo }) => [
      value,
      validFrom.getUTCFullYear(),
      validTo?.getUTCFullYear() ?? null,
    ])
    .sort(
      (one, other) => Number(one[1]) - Number(other[1]) || Number(one[2] ?? 9e9) - Number(other[2] ?? 9e9),
    );
}

const addAll = async (memory: Memory, access: MemoryAccess, drafts: ReturnType<typeof lunch>[]) => {
  const ids: string[] = [];
  for (const draft of drafts) {
    const [{ id } = { id: null }] = await memory.memories.add(draft, access);
    ids.push(id ?? "");
  }
  return ids;
};

describe("a slot holds one value at a time", () => {
  it("when an earlier value is brought back: it holds since what came between ended", async () => {
    const memory = db.memory();
    const user = newUser();
    const [rice, , soup] = await addAll(memory, user, [
      lunch("rice", 2018),
      lunch("fish", 2020),
      lunch("soup", 2022),
    ]);
    await memory.memories.remove(soup ?? "", user);
    const [first] = (await memory.memories.history(rice ?? "", user)).toReversed();
    await memory.memories.revert(rice ?? "", { ...user, to: first?.id ?? 0 });
    expect(await timesOf(memory, user)).toEqual([
      ["fish", 2020, 2022],
      ["rice", 2022, null],
    ]);
  });

  it("when a removed value is restored after others held the slot", async () => {
    const memory = db.memory();
    const user = newUser();
    const [rice] = await addAll(memory, user, [lunch("rice", 2018)]);
    await memory.memories.remove(rice ?? "", user);
    const [, fish] = await addAll(memory, user, [lunch("soup", 2019), lunch("fish", 2021)]);
    await memory.memories.remove(fish ?? "", user);
    await memory.memories.restore(rice ?? "", user);
    expect(await timesOf(memory, user)).toEqual([
      ["soup", 2019, 2021],
      ["rice", 2021, null],
    ]);
  });

  it("when a value is moved to another category's slot; elsewhere an edit leaves its time alone", async () => {
    const memory = db.memory();
    const user = newUser();
    const [rice] = await addAll(memory, user, [lunch("rice", 2018)]);
    const inTasks = (value: string, since: number) => ({ ...lunch(value, since), category: "tasks" });
    const [, fish] = await addAll(memory, user, [inTasks("soup", 2019), inTasks("fish", 2021)]);
    await memory.memories.remove(fish ?? "", user);
    const same = await memory.memories.update(rice ?? "", { importance: 4 }, user);
    expect(same.validFrom).toEqual(year(2018));
    const moved = await memory.memories.update(rice ?? "", { category: "tasks" }, user);
    expect(moved.validFrom).toEqual(year(2021));
  });

  it("when a file brings others, whatever times it says", async () => {
    const source = db.memory();
    const [ana, ben] = [newUser(), newUser()];
    await addAll(source, ana, [lunch("rice", 2016), lunch("fish", 2019), lunch("soup", 2021)]);
    const lines: ExportLine[] = [];
    for await (const line of source.export(ana.scope)) lines.push(line);
    await addAll(source, ben, [lunch("stew", 2017), lunch("cake", 2020)]);
    const brought = lines.map((line) => {
      if (line.type !== "memory") return line;
      // One runs backward, as versions before wrote it.
      const validTo = line.value === "fish" ? "2012-01-01T00:00:00Z" : line.validTo;
      return { ...line, id: randomUUID(), validTo, supersededBy: null };
    });
    const written = brought.filter(
      ({ type }) => type !== "history" && type !== "change" && type !== "relation",
    );
    const end = { type: "end", lines: written.length - 1 } as const;
    await source.import([...written.slice(0, -1), end], { scope: ben.scope, trust: "operator" });
    expect(await timesOf(source, ben)).toEqual([
      ["rice", 2016, 2017],
      ["stew", 2017, 2020],
      ["fish", 2019, 2019],
      ["cake", 2020, null],
      ["soup", 2021, 2021],
    ]);
  });

  it("when the values of a file overlap each other, in whatever order they stand", async () => {
    const source = db.memory();
    const ana = newUser();
    await addAll(source, ana, [lunch("rice", 2016), lunch("fish", 2018), lunch("soup", 2020)]);
    const lines: ExportLine[] = [];
    for await (const line of source.export(ana.scope)) lines.push(line);
    const written = lines.filter(
      ({ type }) => type !== "history" && type !== "change" && type !== "relation",
    );
    for (const order of ["as written", "backwards"]) {
      const ben = newUser();
      const brought = written.slice(0, -1).map((line) => {
        if (line.type !== "memory") return line;
        const validTo = line.value === "rice" ? "2021-01-01T00:00:00Z" : line.validTo;
        return { ...line, id: randomUUID(), validTo, supersededBy: null };
      });
      const memories = brought.filter(({ type }) => type === "memory");
      const others = brought.filter(({ type }) => type !== "memory");
      if (order === "backwards") memories.reverse();
      const end = { type: "end", lines: brought.length } as const;
      await source.import([...others, ...memories, end], { scope: ben.scope, trust: "operator" });
      expect(await timesOf(source, ben), order).toEqual([
        ["rice", 2016, 2018],
        ["fish", 2018, 2020],
        ["soup", 2020, null],
      ]);
    }
  });
});
