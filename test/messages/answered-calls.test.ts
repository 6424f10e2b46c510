import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { expect, it } from "vitest";
import { answeredCalls } from "../../src/messages/answered-calls.js";
import { isRecalled } from "../../src/messages/recalled-mark.js";
import { forAll } from "../support/for-all.js";
import { brokenRule, runsOf } from "../support/providers/conversation-rules.js";

const idsOf = (messages: readonly BaseMessage[]) => messages.map(({ id }) => id);
const callsOf = (message: BaseMessage) => (message as Partial<AIMessage>).tool_calls ?? [];
const isResult = (message: BaseMessage) => ToolMessage.isInstance(message);

/** The rules of all providers, with the role and the text of each message as they are. */
function brokenBy(messages: readonly BaseMessage[]) {
  const roles: Record<string, string> = { human: "user", ai: "assistant", tool: "tool" };
  const runs = runsOf(messages, (message, before) => isResult(message) && isResult(before));
  const shown = runs.map(({ at, items }) => ({
    place: `${at}`,
    role: roles[items[0].getType()] ?? "",
    texts: items.map(({ text }) => text),
    calls: items.flatMap((message) => callsOf(message).map(({ id }) => String(id))),
    results: items.flatMap((message) => (isResult(message) ? message.tool_call_id : [])),
    hasMore: true,
    unknown: undefined,
  }));
  const rules = { answered: "", calledFor: "", oneResultACall: "", alternating: "" };
  const request = { messages: shown } as never;
  return brokenRule(request, rules, (_, place, rule) => ({ status: 0, body: { place, rule } }));
}

/** Few ids, which turns use again; undefined and invalid calls cannot be answered. */
const callId = fc.constantFrom("a", "b", "c", undefined);
const step = fc.oneof(
  fc.record({ calls: fc.array(callId, { minLength: 1, maxLength: 2 }), isValid: fc.boolean() }),
  fc.record({ result: fc.constantFrom("a", "b", "c", "") }),
);
const turn = fc.record({
  steps: fc.array(step, { maxLength: 5 }),
  isAnswered: fc.boolean(),
  after: fc.array(step, { maxLength: 2 }),
});

const stepOf = (it: { calls: (string | undefined)[]; isValid: boolean } | { result: string }) => {
  if ("result" in it) return new ToolMessage({ tool_call_id: it.result, content: "seen" });
  const calls = it.calls.map((id) => ({ ...(id && { id }), name: "look", args: {} }));
  const invalid = it.isValid ? [] : [{ id: "d", name: "look", args: "{" }];
  return new AIMessage({ content: "", tool_calls: calls, invalid_tool_calls: invalid });
};

const historyOf = (
  turns: {
    steps: Parameters<typeof stepOf>[0][];
    isAnswered: boolean;
    after: Parameters<typeof stepOf>[0][];
  }[],
) =>
  turns
    .flatMap(({ steps, isAnswered, after }) => [
      new HumanMessage("why?"),
      ...steps.map(stepOf),
      // A turn of which nothing is recorded, not even a call, stays as it is.
      ...(isAnswered || steps.length === 0 ? [new AIMessage("because")] : []),
      ...after.map(stepOf),
    ])
    .map((message, place) => Object.assign(message, { id: `m${place}` }));

it("Any history becomes one that all providers accept, in its order, and then stays", () => {
  forAll(fc.array(turn, { maxLength: 4 }), turn, (turns, last) => {
    const earlier = historyOf(turns);
    const asked = Object.assign(new HumanMessage("and now?"), { id: "now" });
    const shown = answeredCalls([...earlier, asked], true);
    expect(brokenBy(shown)).toBeNull();
    expect(answeredCalls(shown, true)).toBe(shown);
    const own = shown.filter((message) => !isRecalled(message));
    const talk = (messages: readonly BaseMessage[]) => messages.filter((it) => !isResult(it));
    const kept = new Set(own);
    expect(idsOf(talk(own))).toEqual(
      idsOf(talk(earlier).filter((it) => kept.has(it))).concat("now"),
    );
    // A valid call is never left out, and a result of its own never replaced.
    const canBeAnswered = (message: BaseMessage) => {
      const ids = callsOf(message).map(({ id }) => id);
      const { invalid_tool_calls: invalid = [] } = message as Partial<AIMessage>;
      return invalid.length === 0 && !ids.includes(undefined) && new Set(ids).size === ids.length;
    };
    expect(
      talk(earlier)
        .filter((it) => !kept.has(it))
        .some(canBeAnswered),
    ).toBe(false);
    const direct = earlier.filter((it, at) => {
      const [call] = earlier
        .slice(0, at)
        .filter((before) => !isResult(before))
        .slice(-1);
      const isFirst = earlier[at - 1] === call;
      return (
        isResult(it) &&
        isFirst &&
        canBeAnswered(call!) &&
        callsOf(call!).some(({ id }) => id === it.tool_call_id)
      );
    });
    expect(direct.filter((it) => !kept.has(it))).toEqual([]);
    // The current turn may go on.
    const current = historyOf([last]).filter((it) => callsOf(it).length > 0);
    expect(answeredCalls([...earlier, asked, ...current], true)).toEqual([...shown, ...current]);
  });
});
