import { describe, expect, it } from "vitest";
import { readPrompt } from "../../src/testing/index.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { useTestDatabase } from "../support/test-database.js";
import { newAddress } from "../support/thread-facts.js";

const db = useTestDatabase();

/** What the user says on a day of 2026, the job that a model makes of it, and since when. */
type Said = readonly [day: string, job: string, since: string | null];

/** The line of the job in a prompt of 20 April, after `said` was heard in this order. */
async function lineAfter(said: readonly Said[]) {
  const model = taskModel({
    fact_extraction: (prompt) => {
      const [, job = "", since = null] =
        said.find(([, each]) => prompt.includes(`a ${each}<`)) ?? [];
      const slot = { category: "profile", key: "occupation", value: job, since };
      return facts(candidate(`The user is a ${job}.`, `I am a ${job}`, slot));
    },
  });
  const { scope, threadId } = newAddress();
  const memory = db.memory({
    model,
    clock: () => new Date("2026-04-20T12:00:00Z"),
    config: { memories: { extract: true } },
  });
  for (const [day, job] of said) {
    const messages = [{ role: "user", content: `I am a ${job}` }];
    await memory.remember({
      scope,
      threadId: `${threadId} ${job}`,
      messages,
      saidAt: new Date(day),
    });
  }
  const { messages } = await memory.promptFor({ scope, threadId, query: "Hello." });
  return readPrompt(messages.map(({ content }) => content)).claims.map(({ line }) => line);
}

describe("Since when the value of a slot holds", () => {
  const nurse: Said = ["2026-03-02", "nurse", null];
  it.each<[string, Said[], string]>([
    [
      "is the day that the user names",
      [nurse, ["2026-04-14", "teacher", "2026-04-01"]],
      "teacher (since 1 April 2026, earlier: nurse)",
    ],
    [
      "is that day for a first value",
      [["2026-04-14", "teacher", "2025-09"]],
      "teacher (since 1 September 2025)",
    ],
    [
      "is when it was said, without such a day",
      [nurse, ["2026-04-14", "teacher", null]],
      "teacher (since 14 April 2026, earlier: nurse)",
    ],
    [
      "is when it was said, if the value before is from later than that day",
      [nurse, ["2026-04-14", "teacher", "2026-01-01"]],
      "teacher (since 14 April 2026, earlier: nurse)",
    ],
    [
      "is when it was said, for a day to come",
      [nurse, ["2026-04-14", "teacher", "2026-05-01"]],
      "teacher (since 14 April 2026, earlier: nurse)",
    ],
  ])("Its start %s", async (_, said, line) => {
    expect(await lineAfter(said)).toEqual([`- occupation: ${line}`]);
  });

  it("A value takes no slot from one that was said later, and is heard first", async () => {
    const teacher: Said = ["2026-04-14", "teacher", "2026-04-01"];
    const [line] = await lineAfter([nurse, teacher, ["2026-04-10", "pilot", null]]);
    expect(line).toContain("occupation: teacher (since ");
  });
});
