import { describe, expect, it } from "vitest";
import {
  type SummaryTriggerInput,
  summarySkipReason,
} from "../../src/summaries/summary-window.rule.js";

/**
 * The reason in a thread of short messages without system messages, where one new message is
 * enough.
 */
function reasonIn(
  thread: Pick<SummaryTriggerInput, "lastSeq" | "processing" | "summarisedSeq" | "afterSeq">,
) {
  const { lastSeq, summarisedSeq } = thread;
  const counts = {
    messages: lastSeq + 1,
    unsummarised: lastSeq - (summarisedSeq ?? -1),
    unsummarisedBytes: 0,
  };
  return summarySkipReason({ ...thread, ...counts, everyMessages: 1, afterTokens: 16_000 });
}

describe("summarySkipReason", () => {
  const due = { lastSeq: 5, processing: false, summarisedSeq: null, afterSeq: 5 };

  it.each([
    ["null when the threshold is reached", due, null],
    ["too_early one message before the threshold", { ...due, lastSeq: 4 }, "too_early"],
    ["too_early when nothing is recorded", { ...due, lastSeq: -1 }, "too_early"],
    ["already_running when one is being made", { ...due, processing: true }, "already_running"],
    ["nothing_new when everything is summarised", { ...due, summarisedSeq: 5 }, "nothing_new"],
    [
      "nothing_new when something newer was summarised",
      { ...due, summarisedSeq: 7 },
      "nothing_new",
    ],
    ["null when one message is new", { ...due, lastSeq: 6, summarisedSeq: 5 }, null],
    [
      "too_early even when one is being made",
      { ...due, lastSeq: 1, processing: true },
      "too_early",
    ],
    [
      "already_running even when everything is summarised",
      { ...due, processing: true, summarisedSeq: 5 },
      "already_running",
    ],
  ])("summarySkipReason is %s", (_, input, reason) => expect(reasonIn(input)).toBe(reason));
});
