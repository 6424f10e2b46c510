import { describe, expect, it } from "vitest";
import { memoryQueryTool, transcriptSearchTool } from "../../src/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { dayBefore, userTime } from "../support/user-time.js";
import { addressOf, answering, lines, newThread, say } from "./conversation.js";
import { agentIn, ways } from "./ways.js";

const db = useTestDatabase();

/** Answers by the day that the prompt gives, as a model does. */
const learning = () =>
  taskModel({
    fact_extraction: (prompt) => {
      const [, day = ""] = /<message number="1" date="([^",]*)/.exec(prompt) ?? [];
      const since = { since: dayBefore(day), category: "constraints" };
      return prompt.includes("began to fast")
        ? facts(candidate("The user fasts.", "I began to fast yesterday", since))
        : facts();
    },
  });

describe.each(ways)("days of users by %s", (way) => {
  it.each([
    ["Asia/Shanghai", "2026-03-02T23:30Z", "2026-03-01T16:00Z"],
    ["America/Los_Angeles", "2026-03-04T02:30Z", "2026-03-02T08:00Z"],
    // Clocks changed at midnight between the two days.
    ["America/Santiago", "2026-04-06T02:30Z", "2026-04-04T03:00Z"],
  ])(
    "A fact said of yesterday in %s at %s is stored, found and shown as of that user's yesterday",
    async (timeZone, saidAt, yesterday) => {
      let now = new Date(saidAt);
      const background = learning();
      const config = { memories: { extract: true }, insights: { enabled: true } };
      const memory = db.memory({ model: background, clock: () => now, config });
      const thread = newThread({ time_zone: timeZone });
      const { scope } = addressOf(thread);
      const model = answering();
      const graph = await agentIn(way, { memory, model });
      await say(graph, "I began to fast yesterday.", thread);
      await memory.idle();
      const [fact] = await memory.memories.list({ scope });
      expect(fact?.validFrom).toEqual(new Date(yesterday));

      now = new Date(+now + 60_000);
      const another = newThread({ time_zone: timeZone, user_id: scope.userId });
      await say(graph, "What did I begin?", another);
      const { since } = userTime(fact!.validFrom, timeZone);
      expect(lines(model.calls.at(-1)!.messages).join("\n")).toContain(`The user fasts. ${since}`);

      const answerOf = async (tool: ReturnType<typeof memoryQueryTool>, input: object) =>
        JSON.parse(await tool.invoke(input, thread))[0];
      const { day } = userTime(now, timeZone);
      const found = await answerOf(memoryQueryTool(memory), {
        query: "fasts",
        return: "full",
        filters: { updated_after: day, updated_before: `${day}T23:59` },
      });
      const moment = (at: Date) => userTime(at, timeZone).moment;
      expect(found.metadata.validFrom).toBe(moment(fact!.validFrom));
      const heard = await answerOf(transcriptSearchTool(memory), { query: "fast yesterday" });
      expect(heard.said_at).toBe(moment(new Date(saidAt)));

      await memory.upkeep();
      expect(background.prompts("user_insights")[0]).toContain(
        `date="${dayBefore(userTime(new Date(saidAt), timeZone).day)}">The user fasts.`,
      );
    },
  );
});

it("A run that names no time zone has the days of retrieval.timeZone", async () => {
  const [model, background] = [answering(), learning()];
  const config = { memories: { extract: true }, retrieval: { timeZone: "Asia/Shanghai" } };
  const clock = () => new Date("2026-03-02T23:30Z");
  const memory = db.memory({ model: background, clock, config });
  const thread = newThread();
  await say(await agentIn("withMemory", { memory, model }), "I began to fast yesterday.", thread);
  expect(background.prompts("fact_extraction")[0]).toContain('date="2026-03-03, Tuesday, 07:30"');
  expect(await memory.threads.messages(addressOf(thread))).toMatchObject(
    Array(2).fill({ timeZone: "Asia/Shanghai" }),
  );
});
