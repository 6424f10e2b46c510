import { HumanMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { conversationContext } from "../../src/transcript/conversation-context.rule.js";
import { Conversation, contextOfIds, isUser, type Session } from "./conversation-model.js";

/** One kind of step, with its relative frequency. */
const happening = <Name extends string, Fields extends object>(
  weight: number,
  name: Name,
  fields: Fields,
) => ({
  weight,
  arbitrary: fc.record({ do: fc.constant(name), ...fields } as never) as fc.Arbitrary<
    { do: Name } & { [Key in keyof Fields]: number }
  >,
});
const answers = fc.integer({ min: 1, max: 4 });
const step = fc.oneof(
  happening(6, "round", { answers }),
  happening(1, "crashBeforeAnswer", {}),
  happening(1, "crashBeforeRecord", { answers }),
  happening(1, "crashAfterRecord", { answers }),
  happening(2, "retryRound", {}),
  happening(4, "claim", {}),
  happening(4, "complete", {}),
  happening(1, "fail", {}),
  happening(1, "rollback", { back: fc.integer({ min: 1, max: 3 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;
const steps = fc.array(step, { minLength: 1, maxLength: 40, size: "max" });

function take(conversation: Conversation, each: Step): void {
  if (each.do === "rollback") conversation.rollback(each.back);
  else if (each.do === "round") conversation.round(each.answers, "finished");
  else if (each.do === "crashBeforeAnswer") conversation.round(0, each.do);
  else if (each.do === "crashBeforeRecord" || each.do === "crashAfterRecord")
    conversation.round(each.answers, each.do);
  else conversation[each.do]();
}

/** Summarised messages that are shown verbatim. */
const keeps = fc.integer({ min: 0, max: 7 });

describe.each<Session>(["full", "bounded", "stateless"])(
  "the context of a %s session",
  (session) => {
    it("The context shows the last summarised messages and all later ones once, in order, by whole turns", () =>
      fc.assert(
        fc.property(steps, keeps, (taken, keep) => {
          const conversation = new Conversation(session, keep);
          for (const each of taken) {
            take(conversation, each);
            const { context, expected, current } = conversation.ask();
            expect(new Set(context).size).toBe(context.length);
            expect(context.at(-1)).toBe(current);
            expect(context.slice(-expected.length)).toEqual(expected);
            const before = context.slice(0, -expected.length);
            if (before.length > 0)
              expect([before[0], expected[0]].map((id) => isUser(id!))).toEqual([true, false]);
          }
        }),
        { numRuns: 400 },
      ));

    it("The context has a user's message once there was one, also in a run that brings none", () => {
      const others = fc.constantFrom<string[][]>(
        [],
        ["reminder"],
        ["tool result"],
        ["answer x"],
        ["x", "y"],
      );
      fc.assert(
        fc.property(steps, others, keeps, (taken, brought, keep) => {
          const conversation = new Conversation(session, keep);
          for (const each of taken) {
            take(conversation, each);
            const { context, said, after } = conversation.askNothing(brought);
            expect(context.some(isUser)).toBe(said.length > 0);
            expect(new Set(context).size).toBe(context.length);
            expect(context.slice(context.length - brought.length)).toEqual(brought);
            expect(context.filter((id) => after.includes(id))).toEqual(after);
          }
        }),
        { numRuns: 400 },
      );
    });
  },
);

it("A bounded session's state has only recent messages and those that the last turn's summary did not cover", () =>
  fc.assert(
    fc.property(steps, keeps, (taken, keep) => {
      const conversation = new Conversation("bounded", keep);
      for (const each of taken) {
        take(conversation, each);
        if (each.do !== "round") continue;
        expect(conversation.coveredInState()).toEqual([]);
      }
    }),
  ));

describe("conversationContext", () => {
  const context = (gap: string[], endId: string | null, state: string[]) =>
    contextOfIds({ gap, endId, recent: [], state, lastTurn: [] }, () => true);

  it.each<[string, string[], string | null, string[], string[]]>([
    ["a retried turn without its first answer", ["4", "q", "a"], "3", ["q"], ["4", "q"]],
    [
      "a fork without the abandoned tail",
      ["6", "7", "8", "9"],
      "5",
      ["4", "5", "6", "7", "q"],
      ["6", "7", "q"],
    ],
    [
      "the messages after a summary whose last message was deleted",
      ["6", "7"],
      "5",
      ["3", "4", "6", "7", "q"],
      ["6", "7", "q"],
    ],
  ])("conversationContext shows %s", (_, gap, summaryEndId, state, expected) =>
    expect(context(gap, summaryEndId, state)).toEqual(expected),
  );

  it.each<[string, string[], string | null, string[], string[]]>([
    ["nothing", [], "a1", ["q0", "a0", "q1", "a1"], ["q1", "a1"]],
    ["a reminder", [], "a1", ["q0", "a0", "q1", "a1", "r"], ["q1", "a1", "r"]],
    ["nothing, in a bounded session", [], "a1", [], ["q1", "a1"]],
    ["an answer, in a bounded session", [], "a1", ["x"], ["q1", "a1", "x"]],
    ["a result, after a gap without a user's", ["t"], "a1", ["x"], ["q1", "a1", "t", "x"]],
    ["nothing, and a user's message after the summary", ["q2"], "a1", [], ["q2"]],
  ])(
    "conversationContext shows the last turn to a run that brings %s",
    (_, gap, endId, state, expected) => {
      const sources = { gap, endId, recent: [], state, lastTurn: ["q1", "a1"] };
      expect(contextOfIds(sources, (id) => id.startsWith("q"))).toEqual(expected);
    },
  );

  it("conversationContext shows only the question of a turn of 60 answers", () => {
    const lastTurn = ["q", ...Array.from({ length: 60 }, (_, index) => `a${index}`)];
    const sources = { gap: [], endId: "a59", recent: [] };
    const isQuestion = (id: string) => id === "q";
    expect(contextOfIds({ ...sources, state: ["x"], lastTurn }, isQuestion)).toEqual(["q", "x"]);
    const held = { ...sources, state: [...lastTurn, "x"], lastTurn: [] };
    expect(contextOfIds(held, isQuestion)).toEqual(["q", "x"]);
  });

  it.each([[["q3", "q1", "a1", "q2", "a2", "a3"]], [["a3", "q2", "q1", "a1", "q3", "a2", "q1"]]])(
    "conversationContext shows reordered messages once and in their first order: %j",
    (state) => {
      const gap = ["q1", "a1", "q2", "a2", "q3", "a3"];
      expect(context(gap, null, [...state, "q4"])).toEqual([...gap, "q4"]);
    },
  );

  it("conversationContext never confuses messages without an id", () => {
    const [first, second, current] = [
      new HumanMessage("1"),
      new HumanMessage("2"),
      new HumanMessage("q"),
    ];
    const sources = { gap: [first, second], state: [current], recent: [], lastTurn: [] };
    expect(conversationContext({ ...sources, endId: null })).toEqual([first, second, current]);
    expect(conversationContext({ ...sources, endId: "0" })).toEqual([first, second, current]);
  });
});
