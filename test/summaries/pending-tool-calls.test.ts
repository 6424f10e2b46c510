import { expect, it } from "vitest";
import { hasPendingToolCalls, type ToolCallLinks } from "../../src/summaries/start-summary.js";

const said = (id: string): ToolCallLinks => ({ id });
const calling = (...ids: (string | undefined)[]): ToolCallLinks => ({
  tool_calls: ids.map((id) => ({ id })),
});
const result = (id: string): ToolCallLinks => ({ tool_call_id: id });

it.each<[string, ToolCallLinks[], boolean]>([
  ["nothing was said", [], false],
  ["nobody called a tool", [said("a"), said("b")], false],
  ["the last message calls a tool", [said("a"), calling("1")], true],
  ["one of two parallel calls has its result", [calling("1", "2"), result("2")], true],
  [
    "both parallel calls have theirs, in any order",
    [calling("1", "2"), result("2"), result("1")],
    false,
  ],
  ["something was said since", [calling("1"), said("a")], false],
  ["a second step is open", [calling("1"), result("1"), calling("2")], true],
  [
    "an earlier step never got its result",
    [calling("1"), said("a"), calling("2"), result("2")],
    false,
  ],
  ["a call has no id, so nothing can answer it", [calling(undefined)], true],
  ["only results are given", [result("1")], false],
])("hasPendingToolCalls when %s", (_, messages, pending) =>
  expect(hasPendingToolCalls(messages)).toBe(pending),
);
