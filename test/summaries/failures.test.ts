import { describe, expect, it } from "vitest";
import { ScriptedChatModel, type ScriptedReply } from "../../src/testing/index.js";
import { recordingLogger } from "../support/recording-logger.js";
import { round } from "../support/spoken.js";
import { summarisedThread } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";
import { eventsOf } from "../support/thread-facts.js";

const db = useTestDatabase();
const good = (summary: string): ScriptedReply => ({ structured: { reasoning: "…", summary } });
const threeRounds = [...round("1"), ...round("2"), ...round("3")];

/** Replies, and what the failed row and its event report. */
const failures: [string, ScriptedReply[], RegExp, string][] = [
  [
    "throws an error that quotes the prompt",
    [new Error("bad: question of 4")],
    /The model call failed: Error\.$/,
    "MODEL_FAILED",
  ],
  ["answers with a null in quotes", [good("null")], /empty summary/, "MODEL_OUTPUT_INVALID"],
  ["answers with an empty summary", [good("")], /empty summary/, "MODEL_OUTPUT_INVALID"],
  [
    "returns what is no summary, twice",
    ["", { structured: { reasoning: 1, summary: ["x"] } }],
    /twice gave an answer that is not a valid/,
    "MODEL_OUTPUT_INVALID",
  ],
  ["hangs", ["hang"], /did not answer within 50 ms/, "MODEL_FAILED"],
];

describe("a failing summary model", () => {
  it.each(failures)(
    "A summary fails, and the previous one stays in use, if its model %s",
    async (_, replies, error, code) => {
      const model = new ScriptedChatModel({ replies: [good("the first"), ...replies] });
      const logger = recordingLogger();
      const { memory, thread } = summarisedThread(db, {
        model,
        logger,
        config: { upkeep: { timeoutMs: 50 } },
      });
      await memory.remember({ ...thread, messages: threeRounds });
      expect((await memory.remember({ ...thread, messages: round("4") })).summary).toMatchObject({
        started: true,
      });

      const [, failed] = await memory.summaries.list(thread);
      expect(failed).toMatchObject({ status: "failed", text: null, generationTimeMs: null });
      expect(failed?.error).toMatch(error);
      const used = await memory.summaries.list({ ...thread, completed: true, limit: 1 });
      expect(used.map(({ text }) => text)).toEqual(["the first"]);
      const [job] = await memory.jobs.list({ kind: "summaries", state: "failed" });
      expect(job).toMatchObject({ attempts: 1, dueAt: expect.any(Date) });
      expect(model.calls).toHaveLength(1 + replies.length);

      const recalled = await memory.recall(thread);
      expect(recalled.summary).toMatchObject({ text: "the first", endSeq: 5 });
      expect(recalled.gap.map((message) => message.id)).toEqual(["4-q", "4-a"]);
      expect(recalled.processing).toBeNull();
      expect(await eventsOf(db, thread, "summaries")).toEqual([
        "create ok null",
        `create error ${code}`,
      ]);
      expect(logger.lines.filter((line) => line.startsWith("warn"))).toEqual([
        expect.stringMatching(
          /^warn: Work "summaries" of messages 0-7 for \S+ failed: .*next try in 30000 ms\.$/s,
        ),
      ]);
      expect(logger.lines).toContain(`debug: Memory ${failed?.id} status updated to failed`);
    },
  );
});
