import { randomUUID } from "node:crypto";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { shownBy } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const word = () => `day${randomUUID().replaceAll("-", "")}`;
const days = ["2026-11-18", "2026-11-19", "2026-11-20"];

it("statistics by day tell each day's turns, writes, memories and recalls, and of nobody else's", async () => {
  let now = new Date(`${days[0]}T23:59:59.500Z`);
  const memory = db.memory({ clock: () => now });
  const tenantId = word();
  const [ana, ben] = [
    { tenantId, userId: word() },
    { tenantId, userId: word() },
  ];
  const turn = async (scope: typeof ana, content: string) => {
    const address = { scope, threadId: `t of ${scope.userId}` };
    const recalled = await memory.recall({ ...address, query: content });
    const messages = [new HumanMessage(content), new AIMessage("I see.")];
    await memory.remember({ ...address, shown: shownBy(recalled), messages });
  };
  await turn(ana, "Hello.");
  await memory.memories.add({ text: "The user sails a boat.", category: "event" }, { scope: ana });
  now = new Date(`${days[2]}T00:00:00Z`);
  await memory.memories.add(
    { text: "The user plays the drum.", category: "event", kind: "insight" },
    { scope: ana },
  );
  await turn(ana, "Where is my boat?");
  await turn(ben, "Where is my boat?");

  const { days: told } = await memory.stats({ by: "day", days: 3, scope: ana });
  expect(told.map(({ day }) => day)).toEqual(days);
  expect(told.map(({ memoriesByKind }) => memoriesByKind)).toEqual([
    { fact: 1 },
    { fact: 1 },
    { fact: 1, insight: 1 },
  ]);
  expect(told.map(({ recalls, recallsWithMemory }) => [recalls, recallsWithMemory])).toEqual([
    [1, 0],
    [0, 0],
    [1, 1],
  ]);
  expect(told.map(({ writesByOutcome: { create = 0 } }) => create)).toEqual([1, 0, 1]);
  expect(told[1]?.recallLatencyMs).toBeNull();
  const { p50 = 0, p95 = 0 } = told[2]?.recallLatencyMs ?? {};
  expect(p50).toBeGreaterThan(0);
  expect(p95).toBeGreaterThanOrEqual(p50);

  const ofTenant = await memory.stats({ by: "day", days: 1, tenantId });
  expect(ofTenant.days).toMatchObject([{ day: days[2], recalls: 2, recallsWithMemory: 1 }]);
  const all = await memory.stats({ by: "day" });
  expect(all.days).toHaveLength(30);
  for (const wrong of [{ days: 0 }, { days: 1.5 }, { day: 3 }, { scope: ana, tenantId }]) {
    await expect(memory.stats({ by: "day", ...wrong } as never)).rejects.toMatchObject({
      code: "INVALID_INPUT",
    });
  }
});
