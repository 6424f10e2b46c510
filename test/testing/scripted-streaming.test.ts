import { AIMessage, type AIMessageChunk, HumanMessage } from "@langchain/core/messages";
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

describe("streaming", () => {
  const reply = new AIMessage({
    content: "One two  three.",
    tool_calls: [{ name: "weather", args: { city: "Rome" }, id: "c1", type: "tool_call" }],
  });

  test("gives words, then calls, then usage; joined they are the answer", async () => {
    const model = new ScriptedChatModel({ replies: [reply] });
    const chunks: AIMessageChunk[] = [];
    for await (const chunk of await model.stream("a")) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.text).filter(Boolean)).toEqual(["One", " two", "  three."]);
    const whole = chunks.reduce((sum, chunk) => sum.concat(chunk));
    expect(whole.text).toBe("One two  three.");
    expect(whole.tool_calls).toMatchObject([{ name: "weather", args: { city: "Rome" }, id: "c1" }]);
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 1 });
    expect(whole.response_metadata).toMatchObject({ model_name: "scripted-chat-model" });
  });

  test("keeps a call that follows text in core's stream of events", async () => {
    const model = new ScriptedChatModel({ replies: [reply] });
    const message = await model.streamEvents("a");
    expect(message.text).toBe("One two  three.");
    expect(message.tool_calls).toMatchObject([{ name: "weather", args: { city: "Rome" } }]);
  });

  test("reaches a graph's stream of messages word by word", async () => {
    const model = new ScriptedChatModel({ replies: ["One two three."] });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("talk", async (state) => ({ messages: [await model.invoke(state.messages)] }))
      .addEdge(START, "talk")
      .compile();
    const words: string[] = [];
    for await (const [message] of await graph.stream(
      { messages: [new HumanMessage("hi")] },
      { streamMode: "messages" },
    ))
      words.push(message.text);
    expect(words.filter(Boolean)).toEqual(["One", " two", " three."]);
  });

  test("keeps a call that could not be parsed", async () => {
    const broken = new AIMessage({
      content: "",
      invalid_tool_calls: [{ name: "weather", args: "Rome!", id: "c1", type: "invalid_tool_call" }],
    });
    const model = new ScriptedChatModel({ replies: [broken], repeatLast: true });
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await model.stream("a")) whole = whole?.concat(chunk) ?? chunk;
    expect(whole?.invalid_tool_calls?.[0]).toMatchObject({ name: "weather", args: "Rome!" });
    expect((await model.bindTools([weather]).invoke("a")).invalid_tool_calls?.[0]).toMatchObject({
      name: "weather",
      args: "Rome!",
    });
  });

  test("throws the script's error", async () => {
    const model = new ScriptedChatModel({ replies: [new Error("overloaded")] });
    await expect(model.stream("a")).rejects.toThrow("overloaded");
  });
});
