import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { conversationContext } from "../../src/conversation/conversation-context.rule.js";
import { Conversation, isUser, type Session } from "./conversation-model.js";

/** One thing that may happen to a conversation, and how often beside the others. */
const happening = <Name extends string, Fields extends object>(weight: number, name: Name, fields: Fields) => ({
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

function take(conversation: Conversation, each: Step): void {
  switch (each.do) {
    case "round":
      conversation.round(each.answers, "finished");
      break;
    case "crashBeforeAnswer":
      conversation.round(0, "crashBeforeAnswer");
      break;
    case "crashBeforeRecord":
    case "crashAfterRecord":
      conversation.round(each.answers, each.do);
      break;
    case "retryRound":
      conversation.retryRound();
      break;
    case "rollback":
      conversation.rollback(each.back);
      break;
    default:
      conversation[each.do]();
  }
}

/** How many messages that the summary covers are shown word for word. */
const keeps = fc.integer({ min: 0, max: 7 });

describe.each<Session>(["full", "bounded", "stateless"])("the context of a %s session", (session) => {
  it("has the last messages that the summary covers and all between its end and the current one, once and in order, whatever happens; before an answer its turn", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40, size: "max" }), keeps, (steps, keep) => {
        const conversation = new Conversation(session, keep);
        for (const each of steps) {
          take(conversation, each);
          const { context, expected, current } = conversation.ask();
          expect(new Set(context).size).toBe(context.length);
          expect(context.at(-1)).toBe(current);
          expect(context.slice(-expected.length)).toEqual(expected);
          const before = context.slice(0, -expected.length);
          if (before.length > 0) expect([before[0], expected[0]].map((id) => isUser(id!))).toEqual([true, false]);
        }
      }),
      { numRuns: 400 },
    );
  });

  it("has a user's message whenever one was ever said, also where the run brings none", () => {
    const others = fc.constantFrom<string[][]>([], ["reminder"], ["tool result"], ["answer x"], ["x", "y"]);
    fc.assert(
      fc.property(
        ...([fc.array(step, { minLength: 1, maxLength: 40, size: "max" }), others, keeps] as const),
        (steps, brought, keep) => {
          const conversation = new Conversation(session, keep);
          for (const each of steps) {
            take(conversation, each);
            const { context, said, after } = conversation.askNothing(brought);
            expect(context.some(isUser)).toBe(said.length > 0);
            expect(new Set(context).size).toBe(context.length);
            expect(context.slice(context.length - brought.length)).toEqual(brought);
            expect(context.filter((id) => after.includes(id))).toEqual(after);
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe("a bounded session's state", () => {
  it("holds no more than the recent messages and what the summary in use at the last turn did not cover", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 40, size: "max" }), keeps, (steps, keep) => {
        const conversation = new Conversation("bounded", keep);
        for (const each of steps) {
          take(conversation, each);
          if (each.do !== "round") continue;
          expect(conversation.coveredInState()).toEqual([]);
        }
      }),
    );
  });
});

describe("conversationContext", () => {
  const idOf = (id: string) => id;
  const context = (gap: string[], summaryEndId: string | null, state: string[]) =>
    conversationContext({
      gap,
      endId: summaryEndId,
      recent: [],
      state,
      idOf,
      lastTurn: [],
      opensTurn: () => true,
    });

  it.each<[string, string[], string | null, string[], string[]]>([
    ["a round tried again: without its first answer", ["4", "q", "a"], "3", ["q"], ["4", "q"]],
    ["a fork: the abandoned tail is left out", ["6", "7", "8", "9"], "5", ["4", "5", "6", "7", "q"], ["6", "7", "q"]],
    ["the message at the summary's end was deleted", ["6", "7"], "5", ["3", "4", "6", "7", "q"], ["6", "7", "q"]],
  ])("%s", (_, gap, summaryEndId, state, expected) => {
    expect(context(gap, summaryEndId, state)).toEqual(expected);
  });

  it.each<[string, string[], string | null, string[], string[]]>([
    ["nothing", [], "a1", ["q0", "a0", "q1", "a1"], ["q1", "a1"]],
    ["a reminder", [], "a1", ["q0", "a0", "q1", "a1", "r"], ["q1", "a1", "r"]],
    ["nothing, in a bounded session", [], "a1", [], ["q1", "a1"]],
    ["an answer, in a bounded session", [], "a1", ["x"], ["q1", "a1", "x"]],
    ["a result, after a gap without a user's", ["t"], "a1", ["x"], ["q1", "a1", "t", "x"]],
    ["nothing, and a user's message after the summary", ["q2"], "a1", [], ["q2"]],
  ])("shows the last round to a run that brings %s", (_, gap, summaryEndId, state, expected) => {
    const opensTurn = (id: string) => id.startsWith("q");
    expect(
      conversationContext({ gap, endId: summaryEndId, recent: [], state, idOf, lastTurn: ["q1", "a1"], opensTurn }),
    ).toEqual(expected);
  });

  it("shows of a turn that an agent made endless the question alone", () => {
    const lastTurn = ["q", ...Array.from({ length: 60 }, (_, index) => `a${index}`)];
    const sources = { gap: [], endId: "a59", recent: [], idOf, opensTurn: (id: string) => id === "q" };
    expect(conversationContext({ ...sources, state: ["x"], lastTurn })).toEqual(["q", "x"]);
    expect(conversationContext({ ...sources, state: [...lastTurn, "x"], lastTurn: [] })).toEqual(["q", "x"]);
  });

  it.each([[["q3", "q1", "a1", "q2", "a2", "a3"]], [["a3", "q2", "q1", "a1", "q3", "a2", "q1"]]])(
    "shows what a node put back in another order as it was said, and once: %j",
    (state) => {
      const gap = ["q1", "a1", "q2", "a2", "q3", "a3"];
      expect(context(gap, null, [...state, "q4"])).toEqual([...gap, "q4"]);
    },
  );

  it("never takes one message without an id for another", () => {
    const [first, second, current] = [{ text: "1" }, { text: "2" }, { text: "q" }];
    const sources = {
      gap: [first, second],
      state: [current],
      recent: [],
      lastTurn: [],
      idOf: () => undefined,
      opensTurn: () => true,
    };
    expect(conversationContext({ ...sources, endId: null })).toEqual([first, second, current]);
    expect(conversationContext({ ...sources, endId: "0" })).toEqual([first, second, current]);
  });
});
