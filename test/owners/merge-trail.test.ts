import { expect, it } from "vitest";
import { brokenInvariants } from "../support/broken-invariants.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const dayMs = 86_400_000;

it("users are merged whose memories expired since anybody looked, and news of both have revisions of their own", async () => {
  let now = new Date("2024-01-01T00:00:00Z");
  const memory = db.memory({ clock: () => now });
  const [from, to] = [{ userId: "expired-guest" }, { userId: "expired" }];
  for (const scope of [from, to]) {
    const parking = `The user ${scope.userId} parks on level three.`;
    await memory.memories.add({ text: parking, expiresAt: new Date(now.getTime() + dayMs) }, { scope });
    await memory.memories.add({ text: `The user ${scope.userId} plays the oboe.` }, { scope });
  }
  now = new Date(now.getTime() + 2 * dayMs);
  await memory.users.merge({ from, to });
  const { revision, changes } = await memory.changes.since(0, { scope: to });
  expect(changes.map(({ event }) => event).toSorted()).toEqual([
    ...["created", "created", "created", "created", "soft_deleted", "soft_deleted"],
  ]);
  expect(changes.map(({ rev }) => rev)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(revision).toBe(6);
  const known = await memory.memories.list({ scope: to });
  expect(known.map(({ text }) => text)).toHaveLength(2);
});

it("a value of one that held before and after the other's has a trail in both parts", async () => {
  const memory = db.memory();
  const [from, to] = [{ userId: "parted-guest" }, { userId: "parted" }];
  const job = (value: string, on: number) => ({
    ...{
      category: "profile",
      key: "job",
      value,
      text: `The user works as a ${value}.`,
      origin: "user" as const,
    },
    validFrom: new Date(Date.UTC(2020, 0, on)),
  });
  for (const on of [1, 5]) await memory.memories.add(job("cook", on), { scope: to });
  await memory.memories.add(job("baker", 3), { scope: from });
  await memory.users.merge({ from, to });
  const slot = await memory.memories.list({ scope: to, states: ["active", "superseded"] });
  const held = slot.map(({ value, validFrom, validTo }) => [
    ...[value, validFrom.getUTCDate(), validTo?.getUTCDate() ?? null],
  ]);
  expect(held.toSorted((one, other) => Number(one[1]) - Number(other[1]))).toEqual([
    ["cook", 1, 3],
    ["baker", 3, 5],
    ["cook", 5, null],
  ]);
  const parted = slot.find(({ value, validTo }) => value === "cook" && validTo !== null);
  const [added] = await memory.memories.history(parted!.id, { scope: to });
  expect(added).toMatchObject({ event: "ADD", new: { copyOf: expect.any(String) } });
  expect(await brokenInvariants(db)).toEqual([]);
});
