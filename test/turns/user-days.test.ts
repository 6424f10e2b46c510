import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";
import { timesBetween, timeZones, userTime } from "../support/user-time.js";

const db = useTestDatabase();

const turn = (content: string) => [
  { role: "user", content },
  { role: "assistant", content: "I see." },
];

describe("the user's day", () => {
  it("Dates what was said in the prompts of extraction, summaries, episodes and notes, in any zone and at any time", async () => {
    const model = taskModel({
      app_note: () => ({ structured: { note: "The user runs.", importance: 3, tags: [] } }),
    });
    const memory = db.memory({
      model,
      config: {
        memories: { extract: true, episodes: true, episodeEveryTurns: 2 },
        summaries: { afterSeq: 1, everyMessages: 1 },
      },
    });
    const check = async (timeZone: string, saidAt: Date) => {
      const { scope: user, threadId } = newAddress();
      const thread = { scope: { ...user, appId: threadId }, threadId };
      const earlier = model.calls.length;
      for (const text of ["I began to run yesterday.", "And I like it."])
        await memory.remember({ ...thread, timeZone, saidAt, messages: turn(text) });
      await memory.threads.end(thread);
      const dates = model.calls.slice(earlier).map(({ toolNames, messages }) => {
        const prompt = messages.find(({ type }) => type === "human")?.text ?? "";
        const found = prompt.matchAll(/(?: date="|<date>)([^"<]*)/g);
        return [toolNames[0], ...new Set([...found].map(([, date]) => date))];
      });
      const { moment } = userTime(saidAt, timeZone);
      const tasks = ["fact_extraction", "conversation_summary", "episode_summary", "app_note"];
      expect(dates).toEqual(expect.arrayContaining(tasks.map((task) => [task, moment])));
      expect(new Set(dates.flatMap(([, ...its]) => its))).toEqual(new Set([moment]));
    };
    const times = timesBetween("0001-01-02T00:00:00Z", "9999-12-30T23:59:59Z");
    await fc.assert(fc.asyncProperty(timeZones, times, check), { numRuns: 15 });
  });

  it("Is today in the block and in what a turn adds, and dates what is true since then", async () => {
    let now = new Date();
    const memory = db.memory({ clock: () => now, config: { preset: "ledger" } });
    const times = timesBetween("1975-01-01T00:00:00Z", "2100-01-01T00:00:00Z");
    const check = async (timeZone: string, first: Date, second: Date) => {
      const thread = newAddress();
      const said: string[] = [];
      for (const at of [first, second].toSorted((one, other) => +one - +other)) {
        now = at;
        const validFrom = new Date(+at - 86_400_000 * 3);
        const draft = { text: `The user began ${+at}.`, category: "constraints", validFrom };
        await memory.memories.add(draft, thread);
        const query = `What began at ${+at}?`;
        const prompt = await memory.promptFor({ ...thread, timeZone, query });
        const { shown, messages } = prompt;
        await memory.remember({ ...thread, timeZone, shown, messages: turn(query) });
        // A change is told without its date.
        if (said.length === 0) said.push(userTime(validFrom, timeZone).since);
        said.push(userTime(at, timeZone).today);
        const text = messages.map(({ content }) => content).join("\n");
        for (const each of said) expect(text).toContain(each);
      }
    };
    await fc.assert(fc.asyncProperty(timeZones, times, times, check), { numRuns: 15 });
  });
});
