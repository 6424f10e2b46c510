import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import fc from "fast-check";
import { ClearToolUsesEdit, contextEditingMiddleware, createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryMiddleware } from "../../src/index.js";
import { withoutOldResults } from "../../src/messages/tool-results.rule.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { newThread, say, transcript } from "./conversation.js";

const database = useTestDatabase();
const resultOf = (part: number) => `part ${part}: ${"word ".repeat(4_000)}`;
const isLine = (message: BaseMessage) => message.text.startsWith("[Result of read_part, 5,");
const results = Array.from({ length: 20 }, (_, part) => resultOf(part));
const readPart = tool(({ part }) => resultOf(part), {
  name: "read_part",
  description: "Reads a part.",
  schema: z.object({ part: z.number() }),
});

/** Asked to read, its agent calls its tool twenty times, `atOnce` in parallel. */
function reader(
  middleware: readonly unknown[],
  memory: ReturnType<typeof database.memory>,
  atOnce = 1,
) {
  const model = new ScriptedChatModel({
    replies: (messages) => {
      const asked = messages.findLastIndex((message) => message.getType() === "human");
      const read = tools(messages.slice(asked)).length;
      if (read === 20 || !messages[asked]!.text.endsWith("Read it.")) return "Done.";
      const call = (_: unknown, place: number) => ({
        name: "read_part",
        args: { part: read + place },
      });
      return { toolCalls: Array.from({ length: atOnce }, call) };
    },
  });
  const agent = createAgent({
    model,
    tools: [readPart],
    middleware,
    checkpointer: memory.checkpointer(),
  } as never);
  const ask = (text: string, thread: object) =>
    say(agent, text, { ...thread, recursionLimit: 100 });
  return { model, ask };
}

const tools = (messages: readonly BaseMessage[]) =>
  messages.filter((message) => message.getType() === "tool");

describe("tool loops", () => {
  it("A run of 20 results of 5,000 tokens ends with a small prompt, and all are recorded whole", async () => {
    const memory = database.memory();
    const { model, ask } = reader([memoryMiddleware(memory)], memory);
    const thread = newThread();
    const { messages } = await ask("Read it.", thread);

    const last = tools(model.calls.at(-1)!.messages);
    expect(last.map(isLine).lastIndexOf(true)).toBe(17);
    expect(last[0]!.text).toBe(
      "[Result of read_part, 5,002 tokens, not shown any more. If you need it, repeat the call, unless that would do something twice.]",
    );
    expect(last.slice(18).map(({ text }) => text)).toEqual([resultOf(18), resultOf(19)]);
    expect(tools(messages).map(({ text }) => text)).toEqual(results);
    expect((await transcript(database, thread)).filter((text) => text.startsWith("part"))).toEqual(
      results,
    );
  });

  it.each([
    ["before", 1, {}],
    ["after", 1, {}],
    ["before", 5, {}],
    ["before", 5, { clearToolInputs: true, keep: { messages: 0 } }],
    ["after", 5, { clearToolInputs: true, keep: { messages: 0 } }],
  ] as const)(
    "contextEditingMiddleware %s memory changes nothing recorded (%i calls at once, %j)",
    async (order, atOnce, edit) => {
      const memory = database.memory({ config: { context: { toolResultTokens: 1_000_000 } } });
      const edits = [new ClearToolUsesEdit({ trigger: { tokens: 12_000 }, ...edit })];
      const both = [contextEditingMiddleware({ edits }), memoryMiddleware(memory)];
      const { model, ask } = reader(order === "before" ? both : both.toReversed(), memory, atOnce);
      const thread = newThread();
      for (const text of ["Read it.", "Thank you."]) {
        expect(tools((await ask(text, thread)).messages).map((result) => result.text)).toEqual(
          results,
        );
        expect(
          tools(model.calls.at(-1)!.messages).some((result) => result.text === "[cleared]"),
        ).toBe(true);
      }
      const recorded = await transcript(database, thread);
      expect(recorded.filter((text) => text.startsWith("part"))).toEqual(results);
      expect(recorded.filter((text) => text.includes('[calls read_part {"part"'))).toHaveLength(
        20 / atOnce,
      );
      expect(recorded).toHaveLength(1 + 20 / atOnce + 20 + 1 + 2);
    },
  );

  it("Replaced tool results stay replaced, prompts keep their prefix, and results are bounded", () => {
    const calls = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 4 });
    const anyCalls = fc.array(calls, { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(anyCalls, fc.integer({ min: 200, max: 4_000 }), (sizes, most) => {
        const messages: BaseMessage[] = [new HumanMessage("Go.")];
        let before: string[] = [];
        for (const [call, group] of sizes.entries()) {
          const called = group.map((_, place) => ({
            id: `${call}.${place}`,
            name: "find",
            args: {},
          }));
          messages.push(new AIMessage({ content: "", tool_calls: called }));
          for (const [place, { id }] of called.entries())
            messages.push(
              new ToolMessage({ content: "word".repeat(group[place]!), tool_call_id: id }),
            );
          const shown = withoutOldResults(messages, most).map(({ text }) => text);
          const isWhole = shown.map((text, place) => text === messages[place]!.text);
          const changed = before.flatMap((text, place) =>
            text === shown[place] ? [] : [messages[place]!.text === text],
          );
          const lastTokens = group.reduce((sum, tokens) => sum + tokens, 0);
          const linesTokens = 40 * shown.length;
          // A step leaves half of the room for what comes.
          const bound =
            changed.length > 0 ? most / 2 + lastTokens : Math.max(most, most / 2 + lastTokens);
          expect(changed).not.toContain(false);
          expect(isWhole.slice(-group.length)).not.toContain(false);
          expect(shown.join("").length / 4).toBeLessThanOrEqual(bound + linesTokens);
          before = shown;
        }
      }),
    );
  });
});
