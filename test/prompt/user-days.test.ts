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

it.each(["ledger", "every-round"] as const)(
  "Messages of earlier days have their days before them, in a replay too (%s)",
  async (preset) => {
    let now = new Date("2026-03-02T20:00:00Z");
    const memory = db.memory({ clock: () => now, config: { preset } });
    const { scope, threadId } = newAddress();
    const turn = { scope, threadId, timeZone: "Asia/Tokyo" };
    const add = { text: "The user is allergic to nuts.", category: "constraints" };
    await memory.memories.add({ scope, memories: add });
    const said = [
      ["2026-03-02T23:30:00Z", "I fly tomorrow."],
      ["2026-03-03T01:00:00Z", "At seven."],
      ["2026-03-05T10:00:00Z", "I swim tomorrow."],
    ] as const;
    for (const [time, content] of said) {
      now = new Date(time);
      await memory.remember({ ...turn, messages: [{ role: "user", content }] });
    }

    now = new Date("2026-03-07T10:00:00Z");
    const prompts: (string[] | null)[] = [];
    for (const query of ["When do I fly?", "At which hour?"]) {
      const { messages, shown, text } = await memory.promptFor({ ...turn, query });
      expect(text).toMatch(query.startsWith("When") ? /continued on Thursday, 5/ : /^Today is/m);
      const prompt = messages.map(({ content }) => content);
      prompts.push(prompt.join("\n").match(/^(?:Today|I |At |When|Before).*/gm));
      await memory.remember({ ...turn, shown, messages: [{ role: "user", content: query }] });
      const [last] = await memory.threads.shown({ scope, threadId, limit: 1 });
      const replayed = await memory.threads.replay({ scope, threadId, turn: last?.turn ?? 0 });
      expect([replayed.gaps, replayed.messages.map(({ content }) => content)]).toEqual([
        [],
        prompt,
      ]);
    }
    const today = "Today is Saturday, 7 March 2026.";
    const before = [
      ...["Today is Tuesday, 3 March 2026.", "I fly tomorrow.", "At seven."],
      ...["Today is Thursday, 5 March 2026.", "I swim tomorrow.", today, "When do I fly?"],
    ];
    const after = preset === "ledger" ? [] : [today];
    expect(prompts).toEqual([before, [...before, ...after, "At which hour?"]]);
  },
);

it("A conversation that had no memory to show names the day on which it goes on, and the one it was left on", async () => {
  let now = new Date("2026-03-02T10:00:00Z");
  const memory = db.memory({ clock: () => now, config: { preset: "ledger" } });
  const { scope, threadId } = newAddress();
  const said: string[] = [];
  const say = async (time: string, query: string): Promise<string[]> => {
    now = new Date(time);
    const { messages, shown } = await memory.promptFor({ scope, threadId, query });
    await memory.remember({ scope, threadId, shown, messages: [{ role: "user", content: query }] });
    const [last] = await memory.threads.shown({ scope, threadId, limit: 1 });
    const replayed = await memory.threads.replay({ scope, threadId, turn: last?.turn ?? 0 });
    const prompt = messages.map(({ content }) => `${content}`);
    expect([replayed.gaps, replayed.messages.map(({ content }) => content)]).toEqual([[], prompt]);
    // What was shown stays where it was.
    expect(prompt.slice(0, said.length)).toEqual(said);
    said.splice(0, said.length, ...prompt);
    return prompt.flatMap((text) => text.match(/^(?!<|Use).*[.?]$/gm) ?? []);
  };

  const first = await say("2026-03-02T10:00:00Z", "The dentist is tomorrow at 7.");
  expect(first).toEqual(["The dentist is tomorrow at 7."]);
  const next = [
    ...first,
    "Today is Wednesday, 4 March 2026.",
    "Before today, this conversation was last continued on Monday, 2 March 2026.",
    "I paint.",
  ];
  expect(await say("2026-03-04T10:00:00Z", "I paint.")).toEqual(next);
  expect(await say("2026-03-04T11:00:00Z", "And I sing.")).toEqual([...next, "And I sing."]);
  expect(await say("2026-03-05T10:00:00Z", "When is the dentist?")).toEqual([
    ...[...next, "And I sing."],
    ...["Today is Thursday, 5 March 2026.", "When is the dentist?"],
  ]);
});
