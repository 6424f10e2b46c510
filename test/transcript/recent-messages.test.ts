import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answeredCalls } from "../../src/messages/answered-calls.js";
import { spokenText } from "../../src/messages/message-text.js";
import { estimateTokens } from "../../src/text/estimate-tokens.js";
import { recentMessages } from "../../src/transcript/recent-messages.rule.js";

const words = (count: number, word = "word") => `${word} `.repeat(count).trim();
const idsOf = (messages: readonly BaseMessage[]) => messages.map(({ id }) => id);
const asks = (id: string, content = "why?") => new HumanMessage({ id, content });
const says = (id: string, content = "because") => new AIMessage({ id, content });
const calls = (id: string, ...ids: string[]) =>
  new AIMessage({
    id,
    content: "",
    tool_calls: ids.map((call) => ({ type: "tool_call", name: "look", args: {}, id: call })),
  });
const result = (call: string, content = "seen") =>
  new ToolMessage({ id: `r-${call}`, tool_call_id: call, content });
const tokensOf = (messages: readonly BaseMessage[]) =>
  messages.reduce((sum, message) => sum + estimateTokens(spokenText(message)), 0);

describe("recentMessages", () => {
  it("recentMessages returns as many whole turns from the end as fit", () => {
    const covered = ["1", "2", "3"].flatMap((n) => [
      asks(`q${n}`, words(50)),
      says(`a${n}`, words(50)),
    ]);
    expect(idsOf(recentMessages(covered, 1_000).messages)).toEqual([
      "q1",
      "a1",
      "q2",
      "a2",
      "q3",
      "a3",
    ]);
    expect(idsOf(recentMessages(covered, 250).messages)).toEqual(["q2", "a2", "q3", "a3"]);
    expect(recentMessages([], 250)).toEqual({ messages: [], shortened: [] });
  });

  it("recentMessages drops the first tool calls of a last turn that does not fit", () => {
    const covered = [
      ...[
        asks("q1"),
        says("a1"),
        asks("q2"),
        calls("c1", "1", "2"),
        result("2", words(100)),
        result("1", words(100)),
      ],
      ...[calls("c2", "3"), result("3", words(100)), says("a2", words(50))],
    ];
    const { messages, shortened } = recentMessages(covered, 300);
    expect([idsOf(messages), shortened]).toEqual([["q2", "c2", "r-3", "a2"], []]);
  });

  it("recentMessages cuts the middle of texts that still do not fit, and reports how much", () => {
    const covered = [asks("q", `first ${words(900)} last`), says("a", `begin ${words(3_000)} end`)];
    const { messages, shortened } = recentMessages(covered, 500);
    expect([idsOf(messages), shortened]).toEqual([
      ["q", "a"],
      ["q", "a"],
    ]);
    expect(messages[0]!.text).toMatch(
      /^first word[\s\S]*\[… [\d,]+ characters left out …\][\s\S]*word last$/,
    );
    expect(messages[1]!.text).toMatch(
      /^begin word[\s\S]*\[… [\d,]+ characters left out …\][\s\S]*word end$/,
    );
    expect(messages[1]).toBeInstanceOf(AIMessage);
    expect(tokensOf(messages)).toBeLessThanOrEqual(500);
    expect(covered[1]!.text).toHaveLength(words(3_000).length + "begin  end".length);
  });

  it("recentMessages counts pictures, and replaces those that do not fit by references", () => {
    const picture = {
      type: "image_url",
      image_url: { url: `data:image/png;base64,${"iVBORw0KGgo".repeat(5_000)}` },
    };
    const shows = new HumanMessage({
      id: "q",
      content: [{ type: "text", text: "what is it?" }, picture],
    });
    const covered = [shows, says("a", "a cat")];
    expect(recentMessages(covered, 2_000)).toEqual({ messages: covered, shortened: [] });
    const { messages, shortened } = recentMessages(covered, 500);
    expect(messages[0]!.text).toMatch(
      /^what is it\?\n\[image: image\/png, [\d]+ bytes, sha256:\w{64}\]$/,
    );
    expect([messages[0]!.content.length < 200, messages[1], shortened]).toEqual([
      true,
      covered[1],
      ["q"],
    ]);
  });

  it("recentMessages never parts a call from its results, and stays within the token limit", () => {
    const text = fc.integer({ min: 1, max: 300 }).map((count) => words(count));
    const round = fc.record({
      question: text,
      steps: fc.array(fc.array(fc.option(text, { freq: 8 }), { minLength: 1, maxLength: 3 }), {
        maxLength: 3,
      }),
      answer: fc.option(text, { freq: 8 }),
    });
    const budget = fc.integer({ min: 200, max: 3_000 });
    const fromMiddle = fc.nat({ max: 5 });
    fc.assert(
      fc.property(
        fc.array(round, { minLength: 1, maxLength: 4 }),
        budget,
        fromMiddle,
        (rounds, most, skipped) => {
          const said = rounds.flatMap(({ question, steps, answer }, r) => [
            asks(`q${r}`, question),
            ...steps.flatMap((results, s) => [
              calls(`c${r}.${s}`, ...results.map((_, i) => `${r}.${s}.${i}`)),
              ...results.flatMap((content, i) =>
                content === null ? [] : result(`${r}.${s}.${i}`, content),
              ),
            ]),
            ...(answer === null ? [] : [says(`a${r}`, answer)]),
          ]);
          const { messages } = recentMessages(said.slice(skipped), most);
          // What the transcript lacks is added where the prompt is made.
          const paired = answeredCalls([...messages, asks("now")]);
          const called = paired.flatMap((message) =>
            "tool_calls" in message ? (message.tool_calls as { id: string }[]) : [],
          );
          const answered = paired.flatMap((message) =>
            "tool_call_id" in message ? [message.tool_call_id] : [],
          );
          expect(called.map(({ id }) => id).toSorted()).toEqual(answered.toSorted());
          expect(tokensOf(messages)).toBeLessThanOrEqual(most + messages.length);
          const places = idsOf(messages).map((id) => idsOf(said).indexOf(id));
          expect(places).toEqual(places.toSorted((one, other) => one - other));
          if (skipped === 0) expect(messages[0]?.getType()).toBe("human");
        },
      ),
    );
  });
});
