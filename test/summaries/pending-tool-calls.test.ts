import { expect, it } from "vitest";
import { hasPendingToolCalls, type ToolCallLinks } from "../../src/summaries/start-summary.js";

const said = (id: string): ToolCallLinks => ({ id });
const calling = (...ids: (string | undefined)[]): ToolCallLinks => ({
  tool_calls: ids.map((id) => ({ id })),
});
const result = (id: string): ToolCallLinks => ({ tool_call_id: id });

it.each<[string, ToolCallLinks[], boolean]>([
  ["false when nothing was said", [], false],
  ["false when nobody called a tool", [said("a"), said("b")], false],
  ["true when the last message calls a tool", [said("a"), calling("1")], true],
  ["true when one of two parallel calls has its result", [calling("1", "2"), result("2")], true],
  [
    "false when both parallel calls have their results, in any order",
    [calling("1", "2"), result("2"), result("1")],
    false,
  ],
  ["false when something was said since", [calling("1"), said("a")], false],
  ["true when a second step is open", [calling("1"), result("1"), calling("2")], true],
  [
    "false when an earlier step never got its result",
    [calling("1"), said("a"), calling("2"), result("2")],
    false,
  ],
  ["true when a call has no id, so that nothing can answer it", [calling(undefined)], true],
  ["false when only results are given", [result("1")], false],
])("hasPendingToolCalls is %s", (_, messages, pending) =>
  expect(hasPendingToolCalls(messages)).toBe(pending),
);
