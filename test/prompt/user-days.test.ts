import fc from "fast-check";
import { expect, it } from "vitest";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();
const tasks = ["fact_extraction", "conversation_summary", "episode_summary", "app_note"];
const model = taskModel({ app_note: () => ({ structured: { note: "" } }) });

const between = (min: string, max: string) =>
  fc.date({ min: new Date(min), max: new Date(max), noInvalidDate: true });

it("The day in every prompt is the user's, in any time zone and at any time", async () => {
  let now = new Date();
  const memory = db.memory({
    model,
    clock: () => now,
    config: {
      preset: "ledger",
      memories: { extract: true, episodes: true, episodeEveryTurns: 2 },
      summaries: { afterSeq: 1, everyMessages: 1 },
    },
  });
  const check = async (timeZone: string, saidAt: Date, begun: Date) => {
    const { scope: user, threadId } = newAddress();
    const scope = { ...user, appId: threadId };
    const turn = { scope, threadId, timeZone };
    const earlier = model.calls.length;
    const days: string[] = [];
    // The second turn adds to the block of the first.
    for (const query of ["I ran yesterday.", "I sang yesterday."]) {
      now = new Date(+begun + days.length * 86_400_000);
      await memory.memories.add({
        scope,
        memories: { text: `The user ${query}`, category: "constraints" },
      });
      const { messages, shown } = await memory.promptFor({ ...turn, query });
      days.push(`Today is ${now.toLocaleDateString("en-GB", { timeZone, dateStyle: "full" })}.`);
      const prompt = messages.map(({ content }) => content).join("\n");
      expect(prompt.match(/Today is .*/g)).toEqual(days);
      const said = { role: "user", content: query };
      await memory.remember({ ...turn, saidAt, shown, messages: [said] });
    }
    await memory.threads.end({ scope, threadId });
    await memory.upkeep();
    const form = { timeZone, dateStyle: "short", timeStyle: "short" } as const;
    const here = saidAt.toLocaleString("sv", form).padStart(16, "0");
    const dates = model.calls.slice(earlier).flatMap(({ toolNames: [task], messages }) => {
      const found = `${messages.at(-1)?.text}`.matchAll(/(?: date="|<date>)(.*), \w+day, (.....)/g);
      return [...found].map(([, day, hour]) => `${task} ${day} ${hour}`);
    });
    expect(new Set(dates)).toEqual(new Set(tasks.map((task) => `${task} ${here}`)));
  };
  const zones = fc.constantFrom(...Intl.supportedValuesOf("timeZone"));
  const ever = between("0001-01-02", "9999-12-30");
  const lately = between("1975-01-01", "2100-01-01");
  await fc.assert(fc.asyncProperty(zones, ever, lately, check), { numRuns: 15 });
});
