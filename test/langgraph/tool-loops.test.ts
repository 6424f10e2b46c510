import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { ClearToolUsesEdit, contextEditingMiddleware, createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryMiddleware } from "../../src/index.js";
import { withoutOldResults } from "../../src/langgraph/wrap/tool-results.rule.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { newThread, say, transcript } from "./conversation.js";

const database = useTestDatabase();
const resultOf = (part: number) => `part ${part}: ${"word ".repeat(4_000)}`;
const isLine = (message: BaseMessage) => message.text.startsWith("[Result of read_part, 5,");
const readPart = tool(({ part }) => resultOf(part), {
  name: "read_part",
  description: "Reads a part.",
  schema: z.object({ part: z.number() }),
});

/** An agent that calls its tool twenty times before it answers, so many at once. */
function reader(middleware: readonly unknown[], memory: ReturnType<typeof database.memory>, atOnce = 1) {
  const model = new ScriptedChatModel({
    replies: (messages) => {
      const read = messages.filter((message) => message.getType() === "tool").length;
      const part = (place: number) => ({ name: "read_part", args: { part: read + place } });
      return read < 20 ? { toolCalls: Array.from({ length: atOnce }, (_, place) => part(place)) } : "Read.";
    },
  });
  const checkpointer = memory.checkpointer();
  const agent = createAgent({ model, tools: [readPart], middleware, checkpointer } as never);
  return { model, read: (thread: object) => say(agent, "Read it.", { ...thread, recursionLimit: 100 }) };
}

const tools = (messages: readonly BaseMessage[]) =>
  messages.filter((message) => message.getType() === "tool");

describe("prompt 6: tool loops", () => {
  it("prompt 6: a run of 20 results of 5,000 tokens ends with a small prompt, and records them whole", async () => {
    const memory = database.memory();
    const { model, read } = reader([memoryMiddleware(memory)], memory);
    const thread = newThread();
    const { messages } = await read(thread);

    const last = tools(model.calls.at(-1)!.messages);
    expect(last.map(isLine).lastIndexOf(true)).toBe(17);
    expect(last[0]!.text).toBe(
      "[Result of read_part, 5,002 tokens, not shown any more. If you need it, repeat the call, unless that would do something twice.]",
    );
    expect(last.slice(18).map(({ text }) => text)).toEqual([resultOf(18), resultOf(19)]);
    const whole = Array.from({ length: 20 }, (_, part) => resultOf(part));
    expect(tools(messages).map(({ text }) => text)).toEqual(whole);
    expect((await transcript(database, thread)).filter((text) => text.startsWith("part"))).toEqual(whole);
  });

  it.each([
    ["before", 1, {}],
    ["after", 1, {}],
    ["before", 5, {}],
    ["before", 5, { clearToolInputs: true, keep: { messages: 0 } }],
    ["after", 5, { clearToolInputs: true, keep: { messages: 0 } }],
  ] as const)(
    "prompt 6: contextEditingMiddleware %s memory changes nothing recorded, %i calls at once, %j",
    async (order, atOnce, edit) => {
      const memory = database.memory({ config: { context: { toolResultTokens: 1_000_000 } } });
      const edits = [new ClearToolUsesEdit({ trigger: { tokens: 12_000 }, ...edit })];
      const both = [contextEditingMiddleware({ edits }), memoryMiddleware(memory)];
      const { model, read } = reader(order === "before" ? both : both.toReversed(), memory, atOnce);
      const thread = newThread();
      for (const turn of [1, 2]) {
        const { messages } = await read(thread);
        expect(tools(messages).map(({ text }) => text)).toEqual(
          Array.from({ length: 20 }, (_, part) => resultOf(part)),
        );
        expect(messages.length, `turn ${turn}`).toBe(1 + 20 / atOnce + 20 + 1 + (turn - 1) * 2);
      }
      expect(
        tools(model.calls.at(-2)!.messages).filter(({ text }) => text === "[cleared]").length,
      ).toBeGreaterThan(9);
      const recorded = await transcript(database, thread);
      expect(recorded.filter((text) => text.startsWith("part"))).toHaveLength(20);
      expect(recorded.filter((text) => text.includes('[calls read_part {"part"'))).toHaveLength(20 / atOnce);
      expect(recorded).toHaveLength(1 + 20 / atOnce + 20 + 1 + 2);
    },
  );

  it("prompt 6: what is replaced stays so, prompts keep their prefix between steps, and results have a bound", () => {
    const turns = fc.array(fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 30,
    });
    fc.assert(
      fc.property(turns, fc.integer({ min: 200, max: 4_000 }), (sizes, most) => {
        const messages: BaseMessage[] = [new HumanMessage("Go.")];
        let before: string[] = [];
        for (const [call, group] of sizes.entries()) {
          const ids = group.map((_, place) => `${call}.${place}`);
          messages.push(
            new AIMessage({ content: "", tool_calls: ids.map((id) => ({ id, name: "find", args: {} })) }),
          );
          for (const [place, tokens] of group.entries())
            messages.push(new ToolMessage({ content: "word".repeat(tokens), tool_call_id: ids[place]! }));
          const shown = withoutOldResults(messages, most, [{ name: "find" }]);
          const texts = shown.map(({ text }) => text);
          const isReplaced = (text: string, place: number) => text !== messages[place]!.text;
          // Monotone: only whole results become lines.
          for (const [place, text] of before.entries())
            expect(text === texts[place] || !isReplaced(text, place)).toBe(true);
          const lastGroup = group.reduce((sum, tokens) => sum + tokens, 0);
          const small = 60 * texts.length;
          const total = texts.join("").length / 4;
          expect(total).toBeLessThanOrEqual(Math.max(most, lastGroup + most / 2) + small);
          expect(
            texts
              .slice(-group.length)
              .some((text, place) => isReplaced(text, texts.length - group.length + place)),
          ).toBe(false);
          // A step leaves half, so that the next is as much away.
          const isStep = before.some((text, place) => text !== texts[place]);
          if (isStep) expect(total).toBeLessThanOrEqual(most / 2 + lastGroup + small);
          before = texts;
        }
      }),
    );
  });
});
