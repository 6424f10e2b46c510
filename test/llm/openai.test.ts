import { ChatOpenAI } from "@langchain/openai";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { callStructured } from "../../src/llm/call-structured.js";
import { type OpenAIStub, type StubBehaviour, startOpenAIStub } from "../support/openai-stub.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const schema = z.object({ reasoning: z.string(), summary: z.string() });
const good = { reasoning: "…", summary: "They talked." };
let stub: OpenAIStub;

afterEach(() => stub.close());

async function model(options: { maxRetries?: number; model?: string }, ...script: StubBehaviour[]) {
  stub = await startOpenAIStub(...script);
  return new ChatOpenAI({
    model: "gpt-4.1-mini",
    apiKey: "x",
    maxRetries: 1,
    ...options,
    configuration: { baseURL: stub.baseURL },
  });
}

const ask = (chat: ChatOpenAI, timeoutMs = 10_000) =>
  callStructured({
    model: chat,
    name: "conversation_summary",
    schema,
    instructions: "Summarize.",
    input: "<new_messages></new_messages>",
    timeoutMs,
  });
const code = (code: string) => expect.objectContaining({ code });

describe("structured output from an OpenAI endpoint", () => {
  it.each(["gpt-4.1-mini", "gpt-3.5-turbo"])("of %s is asked for by schema, and checked", async (name) => {
    const chat = await model({ model: name }, { structured: good });
    expect(await ask(chat)).toEqual(good);
    const [request] = stub.requests;
    const wire = JSON.stringify([request?.body.response_format, request?.body.tools]);
    expect(wire).toContain("conversation_summary");
    expect(wire).toContain('"summary":{"type":"string"');
    expect(request?.body.messages.map((message) => message.role)).toEqual(["system", "user"]);
    expect(request?.body.stream ?? false).toBe(false);
  });

  it("survives being told to come back later", async () => {
    const chat = await model({}, { status: 429, retryAfterSeconds: 1 }, { structured: good });
    expect(await ask(chat)).toEqual(good);
    const [first, second] = stub.requests.map((request) => request.at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(900);
  });

  it("survives one server error, and reports two", async () => {
    expect(await ask(await model({}, { status: 500 }, { structured: good }))).toEqual(good);
    await stub.close();
    const chat = await model({}, { status: 500 }, { status: 500 });
    await expect(ask(chat)).rejects.toThrow(code("MODEL_FAILED"));
    expect(stub.requests).toHaveLength(2);
  });

  it("is not asked for again where that cannot help", async () => {
    const chat = await model({}, { status: 401 });
    await expect(ask(chat)).rejects.toThrow(code("MODEL_FAILED"));
    expect(stub.requests).toHaveLength(1);
  });

  it.each<[string, StubBehaviour]>([
    ["prose", { text: "Sure! They talked." }],
    ["JSON cut short", { text: '{"reasoning": "…", "summ' }],
    ["another shape", { structured: { text: "They talked." } }],
    ["nothing", { text: "" }],
    ["a body that is not JSON", "malformed"],
  ])("that is %s is sent back once", async (_, bad) => {
    const chat = await model({ maxRetries: 0 }, bad, { structured: good });
    expect(await ask(chat)).toEqual(good);
    expect(stub.requests).toHaveLength(2);
    const repair = stub.requests[1]?.body.messages ?? [];
    expect(repair.map((message) => message.role)).toEqual(["system", "user", "assistant", "user"]);
    expect(JSON.stringify(repair.at(-1)?.content)).toContain("That answer cannot be used");
  });

  it.each<[string, StubBehaviour]>([
    ["prose", { text: "Sure! They talked." }],
    ["another shape", { structured: { text: "They talked." } }],
    ["a body that is not JSON", "malformed"],
  ])("that is %s twice is refused", async (_, bad) => {
    const chat = await model({ maxRetries: 0 }, bad, bad);
    await expect(ask(chat)).rejects.toThrow(code("MODEL_OUTPUT_INVALID"));
    expect(stub.requests).toHaveLength(2);
  });

  it.each<StubBehaviour & string>(["stall", "silent"])(
    "that never comes (%s) is given up at the deadline",
    async (behaviour) => {
      const chat = await model({ maxRetries: 3 }, behaviour, behaviour, behaviour, behaviour);
      const startedAt = performance.now();
      await expect(ask(chat, 300)).rejects.toThrow(code("MODEL_TIMEOUT"));
      expect(performance.now() - startedAt).toBeLessThan(3_000);
    },
  );

  it("is given up at the deadline while waiting to come back later", async () => {
    const chat = await model(
      { maxRetries: 5 },
      ...Array<StubBehaviour>(6).fill({ status: 429, retryAfterSeconds: 60 }),
    );
    const startedAt = performance.now();
    await expect(ask(chat, 300)).rejects.toThrow(code("MODEL_TIMEOUT"));
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });
});

describe("summaries by an OpenAI endpoint", () => {
  it("are made, and their failures leave the previous one in use", async () => {
    const chat = await model({ maxRetries: 0 }, { structured: good }, { status: 500 });
    const memory = summaryMemory(db, { model: chat });
    const thread = { scope: { userId: "ana" }, threadId: "openai" };
    await memory.remember({ ...thread, messages: ["1", "2", "3"].flatMap(round) });
    await memory.remember({ ...thread, messages: round("4") });
    expect(await memory.summaries.list(thread)).toMatchObject([
      { status: "completed", text: "They talked." },
      { status: "failed", error: expect.stringContaining("The model call failed") },
    ]);
    expect((await memory.recall(thread)).summary?.text).toBe("They talked.");
  });
});
