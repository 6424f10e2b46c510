import { expect, it } from "vitest";
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
