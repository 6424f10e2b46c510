import { describe, expect, it } from "vitest";
import { watchBlocks } from "../../bench/hostile/measure.js";
import { candidate, facts, taskModel } from "../support/task-model.js";
import { onServer, useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const million = (part: string) => part.repeat(1_000_000 / part.length);
const ideographs = Array.from({ length: 1_000_000 }, (_, at) =>
  String.fromCharCode(0x4e00 + ((at * 7_919) % 20_000)),
);

// The embedded database runs in the same process, and blocks it itself.
describe.runIf(onServer())("a message of a megabyte", () => {
  it.each([
    ["escapes", million('\\"')],
    ["ideographs", ideographs.join("")],
    ["ligatures, after as many ideographs", million("\ufdfa")],
    ["one letter", million("a")],
  ])(
    "A megabyte of %s is recorded and worked on without blocking the process noticeably",
    async (name, text) => {
      const model = taskModel({
        fact_extraction: () => facts(candidate("The user keeps bees.", "I keep bees")),
      });
      const config = {
        summaries: { everyMessages: 2, afterSeq: 5 },
        memories: { extract: true, episodes: true, episodeEveryTurns: 4 },
      };
      const memory = db.memory({ model, jobs: "inline", config });
      const messages = [`I keep bees. ${text}`, "b", "c", "d", "e", "f", "g"].flatMap((content) => [
        { role: "user", content },
        { role: "assistant", content: "So?" },
      ]);
      let least = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < 4 && least > 100; tries++) {
        const scope = { userId: `${name} ${tries}` };
        const watch = watchBlocks();
        await memory.remember({ scope, threadId: scope.userId, messages });
        least = Math.min(least, await watch.maxMs());
        for (const task of ["fact_extraction", "episode_summary", "conversation_summary"])
          expect(model.prompts(task)).not.toEqual([]);
      }
      // A quiet machine needs less than half of it.
      expect(least).toBeLessThan(200);
    },
  );

  const parts = Array.from({ length: 100_000 }, (_, at) => ({ type: "text", text: `part ${at}` }));
  it.each([
    ["", {}],
    [", redacted", { redact: (text: string) => text }],
  ])(
    "A message of 100,000 parts%s is recorded without blocking the process noticeably",
    async (name, options) => {
      const memory = db.memory(options);
      const messages = [{ role: "user", content: parts }];
      let least = Number.POSITIVE_INFINITY;
      for (let tries = 0; tries < 4 && least > 75; tries++) {
        const scope = { userId: `parts ${tries}${name}` };
        const watch = watchBlocks();
        await memory.record({ scope, threadId: scope.userId, messages });
        least = Math.min(least, await watch.maxMs());
      }
      // A quiet machine needs less than half of it.
      expect(least).toBeLessThan(150);
    },
  );
});
