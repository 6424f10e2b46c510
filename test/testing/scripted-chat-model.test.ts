import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
} from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createGate, ScriptedChatModel } from "../../src/testing/index.js";

const weather = tool(({ city }) => `Sunny in ${city}.`, {
  name: "weather",
  description: "The weather.",
  schema: z.object({ city: z.string() }),
});
const other = { type: "function", function: { name: "other", parameters: {} } };
const schema = z.object({ summary: z.string() });
const input = { messages: [new HumanMessage("hi")] };

type Replies = Extract<
  ConstructorParameters<typeof ScriptedChatModel>[0]["replies"],
  readonly unknown[]
>;
const scripted = (...replies: Replies) => new ScriptedChatModel({ replies });
const repeating = (reply: Replies[number]) =>
  new ScriptedChatModel({ replies: [reply], repeatLast: true });

/** A graph whose one node asks `talk`. */
const graphOf = (talk: (messages: BaseMessage[], config: object) => Promise<BaseMessage[]>) =>
  new StateGraph(MessagesAnnotation)
    .addNode("talk", async ({ messages }, config) => ({ messages: await talk(messages, config) }))
    .addEdge(START, "talk")
    .compile();

/** A stream's chunks, joined. */
async function joined(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk | undefined> {
  let whole: AIMessageChunk | undefined;
  for await (const chunk of stream) whole = whole?.concat(chunk) ?? chunk;
  return whole;
}

describe("the script", () => {
  test("The script answers in order, with a new message every time", async () => {
    const written = new AIMessage("two");
    const model = scripted("one", written, written);
    expect((await model.invoke("a")).text).toBe("one");
    const [second, third] = [await model.invoke("b"), await model.invoke("c")];
    expect([second.text, third.text]).toEqual(["two", "two"]);
    expect(second).not.toBe(third);
    expect([second, third]).not.toContain(written);
  });

  test("The script may be a function of messages, index and options, and may hold functions", async () => {
    const model = new ScriptedChatModel({
      replies: (messages, index, options) =>
        `${index}:${messages.at(-1)?.text}:${options.tags?.join()}`,
    });
    expect((await model.invoke("a", { tags: ["x", "y"] })).text).toBe("0:a:x,y");
    expect((await model.invoke("b")).text).toMatch(/^1:b:/);
    const holding = scripted("one", async (messages, index) => `${index} ${messages.length}`);
    await holding.invoke("a");
    expect((await holding.invoke([new SystemMessage("s"), new HumanMessage("h")])).text).toBe(
      "1 2",
    );
  });

  test("The script throws its errors as they are, in every kind of call", async () => {
    const error = new Error("overloaded");
    const model = scripted(error, error, error, error, "fine");
    await expect(model.invoke("a")).rejects.toBe(error);
    await expect(model.stream("a")).rejects.toThrow("overloaded");
    for (const includeRaw of [false, true]) {
      const structured = model.withStructuredOutput(schema, { includeRaw } as never);
      await expect(structured.invoke("a")).rejects.toThrow("overloaded");
    }
    expect((await model.invoke("a")).text).toBe("fine");
  });

  test("The script says what was asked when it has ended", async () => {
    const model = scripted("one");
    await model.invoke("a");
    await expect(model.invoke("and now?")).rejects.toThrow(
      'no reply for call 2: the script has 1. The call\'s last message is human: "and now?". Add a reply, or set repeatLast.',
    );
    expect(model.calls).toHaveLength(2);
  });

  test("The script goes on with the last reply if repeatLast is set, but needs one", async () => {
    const model = new ScriptedChatModel({ replies: ["one", "two"], repeatLast: true });
    const texts = [];
    for (let i = 0; i < 4; i++) texts.push((await model.invoke("a")).text);
    expect(texts).toEqual(["one", "two", "two", "two"]);
    await expect(
      new ScriptedChatModel({ replies: [], repeatLast: true }).invoke("a"),
    ).rejects.toThrow("no reply for call 1");
  });

  test("A scripted reply has usage, its own or estimated, and is no chunk", async () => {
    const usage_metadata = { input_tokens: 5, output_tokens: 6, total_tokens: 11 };
    const model = scripted("twelve chars", Object.assign(new AIMessage("b"), { usage_metadata }));
    const estimated = await model.invoke("four");
    expect(AIMessageChunk.isInstance(estimated)).toBe(false);
    expect(estimated.usage_metadata).toEqual({
      input_tokens: 1,
      output_tokens: 3,
      total_tokens: 4,
    });
    expect((await model.invoke("a")).usage_metadata).toEqual(usage_metadata);
  });
});

describe("recorded calls", () => {
  test("A scripted model records messages, tools and all options, through bindings and the graph around it", async () => {
    const model = scripted("ok");
    const bound = model
      .bindTools([weather], { tool_choice: "auto" })
      .withConfig({ tags: ["bound"] });
    const graph = graphOf(async (messages, config) => [
      await bound.invoke(messages, { ...config, stop: ["."] }),
    ]);
    await graph.invoke(input, {
      tags: ["outer"],
      metadata: { a: 1 },
      configurable: { thread_id: "t1" },
    });
    const call = model.calls[0];
    expect(call?.messages.map((message) => message.text)).toEqual(["hi"]);
    expect([call?.tools, call?.toolNames]).toEqual([[weather], ["weather"]]);
    expect(call?.options.tags).toEqual(expect.arrayContaining(["bound", "outer"]));
    expect(call?.options).toMatchObject({
      metadata: { a: 1 },
      configurable: { thread_id: "t1" },
      stop: ["."],
      tool_choice: "auto",
    });
  });
});

describe("scripted tool calls", () => {
  test("Tool calls get unique ids unless the script names them", async () => {
    const toolCalls = [
      { name: "weather", args: { city: "Rome" } },
      { name: "weather", args: {}, id: "mine" },
    ];
    const model = repeating({ toolCalls, text: "Looking." });
    const [first, second] = [await model.invoke("a"), await model.invoke("a")];
    expect(first.text).toBe("Looking.");
    expect(first.tool_calls?.[0]).toMatchObject({ name: "weather", args: { city: "Rome" } });
    expect(first.tool_calls?.[0]?.id).not.toBe(second.tool_calls?.[0]?.id);
    expect(first.tool_calls?.[1]?.id).toBe("mine");
  });
});

describe("streaming", () => {
  const reply = new AIMessage({
    content: "One two  three.",
    tool_calls: [{ name: "weather", args: { city: "Rome" }, id: "c1", type: "tool_call" }],
  });

  test("A stream gives words, then calls, then usage, and joined they are the answer", async () => {
    const chunks: AIMessageChunk[] = [];
    for await (const chunk of await scripted(reply).stream("a")) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.text).filter(Boolean)).toEqual(["One", " two", "  three."]);
    const whole = chunks.reduce((sum, chunk) => sum.concat(chunk));
    expect(whole.text).toBe("One two  three.");
    expect(whole.tool_calls).toMatchObject([{ name: "weather", args: { city: "Rome" }, id: "c1" }]);
    expect(whole.usage_metadata).toMatchObject({ input_tokens: 1 });
    expect(whole.response_metadata).toMatchObject({ model_name: "scripted-chat-model" });
  });

  test("A stream of core's events keeps a call that follows text", async () => {
    const message = await scripted(reply).streamEvents("a");
    expect(message.text).toBe("One two  three.");
    expect(message.tool_calls).toMatchObject([{ name: "weather", args: { city: "Rome" } }]);
  });

  test("A stream keeps a call that could not be parsed", async () => {
    const broken = { name: "weather", args: "Rome!", id: "c1", type: "invalid_tool_call" as const };
    const model = repeating(new AIMessage({ content: "", invalid_tool_calls: [broken] }));
    const whole = await joined(await model.stream("a"));
    for (const message of [whole, await model.bindTools([weather]).invoke("a")])
      expect(message?.invalid_tool_calls?.[0]).toMatchObject({ name: "weather", args: "Rome!" });
  });
});

describe("structured output", () => {
  test("Structured output is the object of a structured reply, unchecked, under the requested name", async () => {
    const model = scripted({ structured: { summary: "short" } }, { structured: { summary: 7 } });
    const named = model.withStructuredOutput(schema, { name: "conversation_summary" });
    expect(await named.invoke("a")).toEqual({ summary: "short" });
    expect(await model.withStructuredOutput(schema).invoke("a")).toEqual({ summary: 7 });
    expect(model.calls.map((call) => call.toolNames)).toEqual([
      ["conversation_summary"],
      ["extract"],
    ]);
  });

  test.each(["v2", "v3"] as const)(
    "Structured output reaches a graph whose events are streamed as %s",
    async (version) => {
      const model = scripted({ structured: { summary: "short" } });
      const got: unknown[] = [];
      const graph = graphOf(async (_, config) => {
        got.push(await model.withStructuredOutput(schema).invoke("a", config));
        return [];
      });
      const events: AsyncIterable<unknown> =
        version === "v2"
          ? graph.streamEvents(input, { version })
          : await graph.streamEvents(input, { version });
      for await (const _ of events);
      expect(got).toEqual([{ summary: "short" }]);
    },
  );

  test("Structured output goes to the tool that is named or demanded, and is refused if that is unclear", async () => {
    const model = repeating({ structured: { a: 1 } });
    await expect(model.invoke("a")).rejects.toThrow("no tool is bound");
    await expect(model.bindTools([weather, other]).invoke("a")).rejects.toThrow(
      "the bound tools are weather, other",
    );
    for (const tool_choice of ["other", { type: "function", function: { name: "other" } }]) {
      const { tool_calls } = await model.bindTools([weather, other], { tool_choice }).invoke("a");
      expect(tool_calls?.[0]?.name).toBe("other");
    }
    const naming = scripted(
      { structured: { a: 1 }, tool: "weather" },
      { structured: {}, tool: "nope" },
    );
    const { tool_calls } = await naming.bindTools([weather, other]).invoke("a");
    expect(tool_calls?.[0]).toMatchObject({ name: "weather", args: { a: 1 } });
    await expect(naming.bindTools([weather]).invoke("a")).rejects.toThrow("there is no tool nope");
  });
});

describe("cancelling", () => {
  test("An abort ends a hanging call with the signal's reason", async () => {
    const model = repeating("hang");
    const controller = new AbortController();
    const { signal } = controller;
    const structured = model.withStructuredOutput(schema, { includeRaw: true });
    const calls = [
      model.invoke("a", { signal }),
      structured.invoke("a", { signal }),
      model.stream("a", { signal }),
    ];
    setTimeout(() => controller.abort(new Error("enough")), 20);
    for (const call of calls) await expect(call).rejects.toThrow("enough");
  });

  test.each<[string, Partial<ConstructorParameters<typeof ScriptedChatModel>[0]>]>([
    ["a call that hangs", { replies: ["hang"] }],
    ["the wait at a gate", { gate: createGate() }],
    ["the latency", { latencyMs: 60_000 }],
    ["a slow reply", { replies: [() => new Promise<string>(() => {})] }],
  ])("A timeout or a signal ends %s", async (_, options) => {
    const model = new ScriptedChatModel({ replies: ["ok"], repeatLast: true, ...options });
    for (const how of [{ timeout: 20 }, { signal: AbortSignal.timeout(20) }])
      await expect(model.invoke("a", how)).rejects.toMatchObject({ name: "TimeoutError" });
    expect(options.gate?.waiting ?? 0).toBe(0);
  });

  test("A signal that has aborted before is noticed by a gate, whether it is open or not", async () => {
    const signal = AbortSignal.abort(new Error("too late"));
    for (const open of [false, true])
      await expect(createGate({ open }).wait(signal)).rejects.toThrow("too late");
  });

  test("An abort before the call means that the model is not called", async () => {
    const model = scripted("ok");
    await expect(model.invoke("a", { signal: AbortSignal.abort() })).rejects.toThrow();
    expect(model.calls).toEqual([]);
  });
});
