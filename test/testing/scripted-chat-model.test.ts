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
  const own = new AIMessage({
    content: "b",
    usage_metadata: { input_tokens: 5, output_tokens: 6, total_tokens: 11 },
  });
  const model = new ScriptedChatModel({ replies: ["twelve chars", own] });
  const estimated = await model.invoke("four");
  expect(AIMessageChunk.isInstance(estimated)).toBe(false);
  expect(estimated.usage_metadata).toEqual({ input_tokens: 1, output_tokens: 3, total_tokens: 4 });
  expect((await model.invoke("a")).usage_metadata).toEqual({
    input_tokens: 5,
    output_tokens: 6,
    total_tokens: 11,
  });
});
