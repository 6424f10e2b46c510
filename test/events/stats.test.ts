import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { wayIn } from "../../src/way-in.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress, say } from "../support/thread-facts.js";

const db = useTestDatabase();
const config = { memories: { extract: true } };

it("statistics begin empty, and tell of the scope asked for or of all", async () => {
  const memory = db.memory();
  const counts = { written: 0, rejected: 0, deadLetters: 0, firstPassRate: null, recallToolShare: null };
  const nothing = { ...counts, energy: { level: 100, unitsToday: 0, callsToday: 0, kinds: [] } };
  expect(await memory.stats()).toEqual(nothing);
  const thread = newAddress();
  await memory.remember({ ...thread, messages: [new HumanMessage("Hi")] });
  expect(await memory.stats({ scope: { userId: "nobody" } })).toEqual(nothing);
  expect(await memory.stats({ scope: thread.scope })).toEqual({ ...nothing, recallToolShare: 0 });
  expect(await memory.stats()).toEqual({ ...nothing, recallToolShare: 0 });
});

it("the first-pass rate counts what met the writing constraints as it came", async () => {
  const hike = (text: string, fields = {}) => candidate(text, "I hike", fields);
  const model = taskModel({
    fact_extraction: (_, call) =>
      facts(
        ...(call === 0
          ? [
              hike("The user hikes."),
              hike(`The user hikes far. ${"The user walks. ".repeat(20)}`),
              hike("She hikes."),
              hike("The user hikes often.", { confidence: 0.1 }),
            ]
          : [
              hike("The user works as a guide.", { category: "profile", key: "job", value: "guide" }),
              hike("The user works as a baker.", {
                category: "profile",
                key: "job",
                value: "baker",
                confidence: 0.5,
              }),
            ]),
      ),
  });
  const memory = db.memory({ model, config: { ...config, consent: { sensitive: [] } } });
  const thread = newAddress();
  await say(memory, thread, "I hike.");
  // 4 proposed; 3 judged by their form, of which 1 came as it should.
  expect(await memory.stats({ scope: thread.scope })).toMatchObject({
    firstPassRate: 1 / 3,
    written: 2,
    rejected: 2,
  });
  await say(memory, thread, "I hike!");
  expect(await memory.stats({ scope: thread.scope })).toMatchObject({
    firstPassRate: 1 / 2,
    written: 3,
    rejected: 3,
  });
});

it("the recall share counts turns in which memory was searched by tool, of the last 30 days", async () => {
  let now = new Date("2030-01-01T00:00:00Z");
  const memory = db.memory({ clock: () => now });
  const thread = newAddress();
  const turn = async (searches: number) => {
    now = new Date(now.getTime() + 60_000);
    for (let search = 0; search < searches; search++) {
      await wayIn(memory).emit({ ...thread, step: "tool", op: "search", status: "ok" });
    }
    now = new Date(now.getTime() + 60_000);
    await memory.remember({ ...thread, messages: [new HumanMessage(`At ${now}`), new AIMessage("Yes.")] });
  };
  for (const searches of [0, 2, 0, 1]) await turn(searches);
  expect((await memory.stats({ scope: thread.scope })).recallToolShare).toBe(2 / 4);
  now = new Date("2030-03-01T00:00:00Z");
  expect((await memory.stats({ scope: thread.scope })).recallToolShare).toBeNull();
  await turn(1);
  expect((await memory.stats({ scope: thread.scope })).recallToolShare).toBe(1);
});
