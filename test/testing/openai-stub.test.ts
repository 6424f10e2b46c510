import { type AIMessageChunk, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, type ChatOpenAIFields } from "@langchain/openai";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type OpenAIStub, type StubBehaviour, startOpenAIStub } from "../support/openai-stub.js";

let stub: OpenAIStub | undefined;
afterEach(() => stub?.close());

const schema = z.object({ reasoning: z.string(), summary: z.string() });
const answer = { reasoning: "why", summary: "short" };

async function openAI(fields: ChatOpenAIFields, ...script: StubBehaviour[]): Promise<ChatOpenAI> {
  stub = await startOpenAIStub(...script);
  return new ChatOpenAI({
    model: "gpt-4.1-mini",
    apiKey: "test",
    maxRetries: 0,
    ...fields,
    configuration: { baseURL: stub.baseURL },
  });
}

function structured(model: ChatOpenAI) {
  return model.withStructuredOutput(schema, { name: "conversation_summary", includeRaw: true });
}

async function elapsed(work: Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work;
  return performance.now() - started;
}

describe("answers", () => {
  test("text, with usage and the recorded request", async () => {
    const model = await openAI({}, { text: "Hello there." });
    const message = await model.invoke("hi");
    expect(message.text).toBe("Hello there.");
    expect(message.usage_metadata).toMatchObject({ input_tokens: 12, output_tokens: 7, total_tokens: 19 });
    expect(stub?.requests).toHaveLength(1);
    expect(stub?.requests[0]?.body).toMatchObject({
      model: "gpt-4.1-mini",
      messages: [{ role: "user", content: "hi" }],
    });
    expect(stub?.requests[0]?.headers.authorization).toBe("Bearer test");
  });

  test("text as a stream of words, with usage", async () => {
    const model = await openAI({}, { text: "One two three." });
    const chunks: AIMessageChunk[] = [];
    for await (const chunk of await model.stream("hi")) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.text).filter(Boolean)).toEqual(["One", " two", " three."]);
    expect(chunks.reduce((sum, chunk) => sum.concat(chunk)).usage_metadata).toMatchObject({
      total_tokens: 19,
    });
  });

  test("structured output by JSON schema, the default for gpt-4.1-mini", async () => {
    const model = await openAI({}, { structured: answer });
    const { raw, parsed } = await structured(model).invoke("hi");
    expect(parsed).toEqual(answer);
    expect((raw as BaseMessage).text).toBe(JSON.stringify(answer));
    expect(stub?.requests[0]?.body.response_format).toMatchObject({
      type: "json_schema",
      json_schema: { name: "conversation_summary", strict: true },
    });
  });

  test("structured output by function calling", async () => {
    const model = await openAI({}, { structured: answer });
    const call = model.withStructuredOutput(schema, {
      name: "conversation_summary",
      method: "functionCalling",
    });
    expect(await call.invoke("hi")).toEqual(answer);
    expect(stub?.requests[0]?.body.tool_choice).toMatchObject({ function: { name: "conversation_summary" } });
  });

  test("tool calls, streamed or not", async () => {
    const weather = tool(() => "Sunny.", {
      name: "weather",
      description: "The weather.",
      schema: z.object({ city: z.string() }),
    });
    const model = await openAI({}, { structured: { city: "Rome" } }, { structured: { city: "Oslo" } });
    const bound = model.bindTools([weather]);
    expect((await bound.invoke("hi")).tool_calls).toMatchObject([
      { name: "weather", args: { city: "Rome" } },
    ]);
    let whole: AIMessageChunk | undefined;
    for await (const chunk of await bound.stream("hi")) whole = whole?.concat(chunk) ?? chunk;
    expect(whole?.tool_calls).toMatchObject([{ name: "weather", args: { city: "Oslo" } }]);
  });

  test("a script can be continued; after its end a request fails without retries", async () => {
    const model = await openAI({ maxRetries: 3 }, { text: "one" });
    stub?.enqueue({ text: "two" });
    expect([(await model.invoke("hi")).text, (await model.invoke("hi")).text]).toEqual(["one", "two"]);
    await expect(model.invoke("hi")).rejects.toThrow("the stub's script has no request 3");
    expect(stub?.requests).toHaveLength(3);
  });
});

describe("failures", () => {
  test("429 with retry-after: waited for, then answered", async () => {
    const model = await openAI(
      { maxRetries: 1 },
      { status: 429, retryAfterSeconds: 1 },
      { structured: answer },
    );
    expect((await structured(model).invoke("hi")).parsed).toEqual(answer);
    const [first, second] = stub?.requests ?? [];
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1000);
  });

  test("429 without retry-after: not retried by the client", async () => {
    const model = await openAI({ maxRetries: 3 }, { status: 429 });
    await expect(model.invoke("hi")).rejects.toMatchObject({ status: 429, name: "RateLimitCapacityError" });
    expect(stub?.requests).toHaveLength(1);
  });

  test("500: retried, then answered", async () => {
    const model = await openAI({ maxRetries: 1 }, { status: 500 }, { structured: answer });
    expect((await structured(model).invoke("hi")).parsed).toEqual(answer);
    expect(stub?.requests).toHaveLength(2);
  });

  test("a body that is not JSON: an error", async () => {
    const model = await openAI({}, "malformed", "malformed");
    await expect(model.invoke("hi")).rejects.toThrow(SyntaxError);
    await expect(structured(model).invoke("hi")).rejects.toThrow(SyntaxError);
  });

  test("content that is not JSON, or not of the schema: an error even with includeRaw, and one that is retried", async () => {
    const model = await openAI({}, { text: "I would rather chat." }, { structured: { summary: 7 } });
    await expect(structured(model).invoke("hi")).rejects.toThrow(SyntaxError);
    await expect(structured(model).invoke("hi")).rejects.toMatchObject({ name: "$ZodError" });
    const retrying = await openAI(
      { maxRetries: 1 },
      { text: "I would rather chat." },
      { structured: answer },
    );
    expect((await structured(retrying).invoke("hi")).parsed).toEqual(answer);
  });

  test("an answer without the demanded call: null beside the raw message", async () => {
    const model = await openAI({}, { text: "I would rather chat." });
    const call = model.withStructuredOutput(schema, {
      name: "conversation_summary",
      method: "functionCalling",
      includeRaw: true,
    });
    const { raw, parsed } = await call.invoke([new HumanMessage("hi")]);
    expect(parsed ?? null).toBeNull();
    expect(raw.text).toBe("I would rather chat.");
  });

  test.each(["stall", "silent"] as const)("%s: a timeout of the call ends it quickly", async (behaviour) => {
    const model = await openAI({}, behaviour, behaviour, behaviour);
    const calls = [
      () => model.invoke("hi", { timeout: 150 }),
      () => model.invoke("hi", { signal: AbortSignal.timeout(150) }),
      () => structured(model).invoke("hi", { timeout: 150 }),
    ];
    for (const call of calls)
      expect(await elapsed(expect(call()).rejects.toThrow(/abort/i))).toBeLessThan(1000);
  });

  test("silent: the client's own timeout ends it; stall: it does not, it only waits for headers", async () => {
    const silent = await openAI({ timeout: 150 }, "silent");
    expect(
      await elapsed(expect(silent.invoke("hi")).rejects.toMatchObject({ name: "TimeoutError" })),
    ).toBeLessThan(1000);
    await stub?.close();
    const stalled = await openAI({ timeout: 50 }, "stall");
    const call = stalled.invoke("hi");
    const outcome = await Promise.race([
      call.catch(() => "ended"),
      new Promise((resolve) => setTimeout(resolve, 400, "waiting")),
    ]);
    expect(outcome).toBe("waiting");
    await stub?.close();
    await expect(call).rejects.toThrow();
  });
});

test("close cuts stalled requests", async () => {
  const model = await openAI({}, "stall");
  const call = expect(model.invoke("hi")).rejects.toThrow();
  while (stub?.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await stub?.close();
  await call;
});

test("anything but chat completions is refused", async () => {
  stub = await startOpenAIStub({ text: "hi" });
  expect((await fetch(`${stub.baseURL}/models`)).status).toBe(404);
  expect(stub.requests).toEqual([]);
});
