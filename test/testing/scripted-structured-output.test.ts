import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "../../src/testing/index.js";

const weather = tool(({ city }) => `Sunny in ${city}.`, {
  name: "weather",
  description: "The weather.",
  schema: z.object({ city: z.string() }),
});
const schema = z.object({ summary: z.string() });

describe("structured output", () => {
  test("is the object of a structured reply, under whatever name was demanded", async () => {
    const model = new ScriptedChatModel({
      replies: [{ structured: { summary: "short" } }],
      repeatLast: true,
    });
    expect(await model.withStructuredOutput(schema, { name: "conversation_summary" }).invoke("a")).toEqual({
      summary: "short",
    });
    expect(await model.withStructuredOutput(schema).invoke("a")).toEqual({ summary: "short" });
    expect(model.calls.map((call) => call.toolNames)).toEqual([["conversation_summary"], ["extract"]]);
  });

  test("comes with the raw message, usage included", async () => {
    const model = new ScriptedChatModel({ replies: [{ structured: { summary: "short" } }] });
    const { raw, parsed } = await model.withStructuredOutput(schema, { includeRaw: true }).invoke("a");
    expect(parsed).toEqual({ summary: "short" });
    expect(raw).toBeInstanceOf(AIMessage);
    expect(raw).toMatchObject({ usage_metadata: { total_tokens: expect.any(Number) } });
  });

  test("from a text reply is malformed: an error, or null beside the raw message", async () => {
    const model = new ScriptedChatModel({ replies: ["I would rather chat."], repeatLast: true });
    await expect(model.withStructuredOutput(schema).invoke("a")).rejects.toThrow(
      "No tool calls found in the response.",
    );
    const { raw, parsed } = await model.withStructuredOutput(schema, { includeRaw: true }).invoke("a");
    expect(parsed).toBeNull();
    expect(raw.text).toBe("I would rather chat.");
  });

  test("is not checked against the schema", async () => {
    const model = new ScriptedChatModel({ replies: [{ structured: { summary: 7 } }] });
    expect(await model.withStructuredOutput(schema).invoke("a")).toEqual({ summary: 7 });
  });

  test("throws the script's error with and without the raw message", async () => {
    const model = new ScriptedChatModel({ replies: [new Error("overloaded")], repeatLast: true });
    await expect(model.withStructuredOutput(schema).invoke("a")).rejects.toThrow("overloaded");
    await expect(model.withStructuredOutput(schema, { includeRaw: true }).invoke("a")).rejects.toThrow(
      "overloaded",
    );
  });

  test.each(["v2", "v3"] as const)("works in a graph whose events are streamed as %s", async (version) => {
    const model = new ScriptedChatModel({ replies: [{ structured: { summary: "short" } }] });
    const got: unknown[] = [];
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("sum", async (_state, config) => {
        got.push(await model.withStructuredOutput(schema).invoke("a", config));
        return {};
      })
      .addEdge(START, "sum")
      .compile();
    const input = { messages: [new HumanMessage("hi")] };
    const events: AsyncIterable<unknown> =
      version === "v2"
        ? graph.streamEvents(input, { version })
        : await graph.streamEvents(input, { version });
    for await (const _ of events);
    expect(got).toEqual([{ summary: "short" }]);
  });

  test("needs to know which tool is meant", async () => {
    const model = new ScriptedChatModel({
      replies: [
        { structured: {} },
        { structured: {} },
        { structured: { a: 1 }, tool: "weather" },
        { structured: {}, tool: "nope" },
      ],
    });
    const other = { type: "function", function: { name: "other", parameters: {} } };
    await expect(model.invoke("a")).rejects.toThrow("no tool is bound");
    await expect(model.bindTools([weather, other]).invoke("a")).rejects.toThrow(
      "the bound tools are weather, other",
    );
    expect((await model.bindTools([weather, other]).invoke("a")).tool_calls?.[0]).toMatchObject({
      name: "weather",
      args: { a: 1 },
    });
    await expect(model.bindTools([weather]).invoke("a")).rejects.toThrow("there is no tool nope");
  });

  test("goes to the tool that tool_choice demands", async () => {
    const model = new ScriptedChatModel({ replies: [{ structured: {} }], repeatLast: true });
    const other = { type: "function", function: { name: "other", parameters: {} } };
    for (const tool_choice of ["other", { type: "function", function: { name: "other" } }])
      expect(
        (await model.bindTools([weather, other], { tool_choice }).invoke("a")).tool_calls?.[0]?.name,
      ).toBe("other");
  });
});
