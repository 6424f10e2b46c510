import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();
const now = new Date();
const clock = () => now;

/** Written by the parts that Intl gives, and not by the code under test. */
function userMoment(at: Date, timeZone: string) {
  const parts = new Intl.DateTimeFormat("en", {
    ...{ timeZone, weekday: "long", year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  }).formatToParts(at);
  const of = (type: string) => parts.find((part) => part.type === type)?.value ?? "";
  const day = `${of("year").padStart(4, "0")}-${of("month")}-${of("day")}`;
  return { day, moment: `${day}, ${of("weekday")}, ${of("hour")}:${of("minute")}` };
}

const zones = fc.constantFrom(...Intl.supportedValuesOf("timeZone"));
const times = fc.date({
  min: new Date("0001-01-02T00:00:00Z"),
  max: new Date("9999-12-30T23:59:59Z"),
  noInvalidDate: true,
});

/** Facts that are true since the day before the message, by the date of its prompt. */
const sinceYesterday = (prompt: string) => {
  const [, day = ""] = /date="(\d{4}-\d\d-\d\d)/.exec(prompt) ?? [];
  const yesterday = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
  return facts(
    candidate("The user began to run.", "I began to run yesterday", { since: yesterday }),
  );
};

function talk() {
  const model = taskModel({
    fact_extraction: sinceYesterday,
    app_note: () => ({ structured: { note: "A first run was planned.", importance: 3, tags: [] } }),
    user_insights: () => ({ structured: { insights: [] } }),
  });
  const memory = db.memory({
    model,
    clock,
    config: {
      memories: { extract: true, episodes: true, episodeEveryTurns: 2 },
      insights: { enabled: true, everyMs: 0 },
      summaries: { afterSeq: 1, everyMessages: 1 },
    },
  });
  return { model, memory };
}

const turn = (text: string) => [
  { role: "user", content: text },
  { role: "assistant", content: "I see." },
];

describe("the day of a message", () => {
  it("Is the user's day in the prompts of all background work, for any zone and time", async () => {
    const { model, memory } = talk();
    await fc.assert(
      fc.asyncProperty(zones, times, async (timeZone, saidAt) => {
        const { scope: user, threadId } = newAddress();
        const thread = { scope: { ...user, appId: threadId }, threadId };
        const { length } = model.calls;
        const said = { ...thread, timeZone, saidAt };
        await memory.remember({ ...said, messages: turn("I began to run yesterday.") });
        await memory.remember({ ...said, messages: turn("And I like it.") });
        await memory.threads.end(thread);
        await memory.idle();
        const { moment } = userMoment(saidAt, timeZone);
        const dates = new Map(
          model.calls.slice(length).map(({ toolNames, messages }) => {
            const prompt = messages.find(({ type }) => type === "human")?.text ?? "";
            const found = prompt.matchAll(/(?: date="|<date>)([^"<]*)/g);
            return [toolNames[0], [...new Set([...found].map(([, date]) => date))]] as const;
          }),
        );
        for (const task of [
          "fact_extraction",
          "conversation_summary",
          "episode_summary",
          "app_note",
        ])
          expect([task, dates.get(task)]).toEqual([task, [moment]]);
      }),
      { numRuns: 15 },
    );
  });
});
