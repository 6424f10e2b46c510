import { AIMessage, AIMessageChunk, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { createGate, ScriptedChatModel } from "../../src/testing/index.js";

const weather = tool(({ city }) => `Sunny in ${city}.`, {
  name: "weather",
  description: "The weather.",
  schema: z.object({ city: z.string() }),
});
const schema = z.object({ summary: z.string() });

describe("the script", () => {
  test("answers in order, a new message every time", async () => {
    const written = new AIMessage("two");
    const model = new ScriptedChatModel({ replies: ["one", written, written] });
    expect((await model.invoke("a")).text).toBe("one");
    const [second, third] = [await model.invoke("b"), await model.invoke("c")];
    expect([second.text, third.text]).toEqual(["two", "two"]);
    expect(second).not.toBe(third);
    expect([second, third]).not.toContain(written);
  });

  test("may be a function of the messages, the index and the options", async () => {
    const model = new ScriptedChatModel({
      replies: (messages, index, options) => `${index}:${messages.at(-1)?.text}:${options.tags?.join()}`,
    });
    expect((await model.invoke("a", { tags: ["x", "y"] })).text).toBe("0:a:x,y");
    expect((await model.invoke("b")).text).toMatch(/^1:b:/);
  });

  test("may hold functions among its replies", async () => {
    const model = new ScriptedChatModel({
      replies: ["one", async (messages, index) => `${index} ${messages.length}`],
    });
    await model.invoke("a");
    expect((await model.invoke([new SystemMessage("s"), new HumanMessage("h")])).text).toBe("1 2");
  });

  test("throws its errors as they are", async () => {
    const error = new Error("overloaded");
    const model = new ScriptedChatModel({ replies: [error, "fine"] });
    await expect(model.invoke("a")).rejects.toBe(error);
    expect((await model.invoke("a")).text).toBe("fine");
  });

  test("says what was asked when it has ended", async () => {
    const model = new ScriptedChatModel({ replies: ["one"] });
    await model.invoke("a");
    await expect(model.invoke("and now?")).rejects.toThrow(
      'no reply for call 2: the script has 1. The call\'s last message is human: "and now?". Add a reply, or set repeatLast.',
    );
    expect(model.calls).toHaveLength(2);
  });

  test("goes on with the last reply when told to, but needs one", async () => {
    const model = new ScriptedChatModel({ replies: ["one", "two"], repeatLast: true });
    const texts = [];
    for (let i = 0; i < 4; i++) texts.push((await model.invoke("a")).text);
    expect(texts).toEqual(["one", "two", "two", "two"]);
    await expect(new ScriptedChatModel({ replies: [], repeatLast: true }).invoke("a")).rejects.toThrow(
      "no reply for call 1",
    );
  });

  test("answers concurrent calls in the order of their arrival", async () => {
    const model = new ScriptedChatModel({ replies: ["one", "two", "three"] });
    const answers = await Promise.all(["a", "b", "c"].map((text) => model.invoke(text)));
    expect(answers.map((answer) => answer.text)).toEqual(["one", "two", "three"]);
  });
});

describe("what it records", () => {
  test("messages, tools, and all options, through bindings too", async () => {
    const model = new ScriptedChatModel({ replies: ["ok"] });
    await model
      .bindTools([weather], { tool_choice: "auto" })
      .withConfig({ tags: ["bound"] })
      .invoke("hi", { tags: ["called"], metadata: { a: 1 }, configurable: { thread_id: "t1" }, stop: ["."] });
    const call = model.calls[0];
    expect(call?.messages.map((message) => message.text)).toEqual(["hi"]);
    expect(call?.tools).toEqual([weather]);
    expect(call?.toolNames).toEqual(["weather"]);
    expect(call?.options.tags).toEqual(expect.arrayContaining(["bound", "called"]));
    expect(call?.options).toMatchObject({
      metadata: { a: 1 },
      configurable: { thread_id: "t1" },
      stop: ["."],
      tool_choice: "auto",
    });
  });

  test("a call that is still held", async () => {
    const gate = createGate();
    const model = new ScriptedChatModel({ replies: ["ok"], gate });
    const answer = model.invoke("hi");
    await vi.waitUntil(() => gate.waiting === 1);
    expect(model.calls).toHaveLength(1);
    gate.open();
    expect((await answer).text).toBe("ok");
  });

  test("tags of the graph around it", async () => {
    const model = new ScriptedChatModel({ replies: ["ok"] });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("talk", async (state, config) => ({ messages: [await model.invoke(state.messages, config)] }))
      .addEdge(START, "talk")
      .compile();
    await graph.invoke(
      { messages: [new HumanMessage("hi")] },
      { tags: ["outer"], configurable: { thread_id: "t1" } },
    );
    expect(model.calls[0]?.options.tags).toContain("outer");
    expect(model.calls[0]?.options.configurable).toMatchObject({ thread_id: "t1" });
  });
});

describe("tool calls", () => {
  test("get unique ids unless the script names them", async () => {
    const reply = {
      toolCalls: [
        { name: "weather", args: { city: "Rome" } },
        { name: "weather", args: {}, id: "mine" },
      ],
      text: "Looking.",
    };
    const model = new ScriptedChatModel({ replies: [reply], repeatLast: true });
    const [first, second] = [await model.invoke("a"), await model.invoke("a")];
    expect(first.text).toBe("Looking.");
    expect(first.tool_calls?.[0]).toMatchObject({ name: "weather", args: { city: "Rome" } });
    expect(first.tool_calls?.[0]?.id).not.toBe(second.tool_calls?.[0]?.id);
    expect(first.tool_calls?.[1]?.id).toBe("mine");
  });

  test("drive an agent", async () => {
    const model = new ScriptedChatModel({
      replies: [
        { toolCalls: [{ name: "weather", args: { city: "Rome" } }] },
        (messages) => `It says: ${messages.at(-1)?.text}`,
      ],
    });
    const { messages } = await createAgent({ model, tools: [weather] }).invoke({
      messages: [new HumanMessage("Weather?")],
    });
    expect(messages.map((message) => message.type)).toEqual(["human", "ai", "tool", "ai"]);
    expect(messages.at(-1)?.text).toBe("It says: Sunny in Rome.");
    expect(model.calls.map((call) => call.toolNames)).toEqual([["weather"], ["weather"]]);
  });
});

describe("cancelling", () => {
  test("ends a hanging call at once, with the signal's reason", async () => {
    const model = new ScriptedChatModel({ replies: ["hang"], repeatLast: true });
    const controller = new AbortController();
    const started = performance.now();
    const plain = model.invoke("a", { signal: controller.signal });
    const structured = model
      .withStructuredOutput(schema, { includeRaw: true })
      .invoke("a", { signal: controller.signal });
    const stream = model.stream("a", { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("enough")), 20);
    for (const call of [plain, structured, stream]) await expect(call).rejects.toThrow("enough");
    expect(performance.now() - started).toBeLessThan(500);
  });

  test("ends it on a timeout too", async () => {
    const model = new ScriptedChatModel({ replies: ["hang"] });
    await expect(model.invoke("a", { timeout: 20 })).rejects.toMatchObject({ name: "TimeoutError" });
  });

  test("leaves the gate, the latency and a slow reply", async () => {
    const signal = (): AbortSignal => AbortSignal.timeout(20);
    const gate = createGate();
    await expect(
      new ScriptedChatModel({ replies: ["ok"], gate }).invoke("a", { signal: signal() }),
    ).rejects.toMatchObject({ name: "TimeoutError" });
    expect(gate.waiting).toBe(0);
    const slow = new ScriptedChatModel({ replies: ["ok"], latencyMs: 60_000 });
    await expect(slow.invoke("a", { signal: signal() })).rejects.toMatchObject({ name: "TimeoutError" });
    const never = new ScriptedChatModel({ replies: [() => new Promise<string>(() => {})] });
    await expect(never.invoke("a", { signal: signal() })).rejects.toMatchObject({ name: "TimeoutError" });
  });

  test("before the call means the model is not called", async () => {
    const model = new ScriptedChatModel({ replies: ["ok"] });
    await expect(model.invoke("a", { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(model.calls).toEqual([]);
  });
});

test("an answer without tools is an AIMessage with usage", async () => {
  const usage_metadata = { input_tokens: 5, output_tokens: 6, total_tokens: 11 };
  const model = new ScriptedChatModel({
    replies: ["twelve chars", Object.assign(new AIMessage("b"), { usage_metadata })],
  });
  const estimated = await model.invoke("four");
  expect(AIMessageChunk.isInstance(estimated)).toBe(false);
  expect(estimated.usage_metadata).toEqual({ input_tokens: 1, output_tokens: 3, total_tokens: 4 });
  expect((await model.invoke("a")).usage_metadata).toEqual(usage_metadata);
});
