import { BaseLanguageModel } from "@langchain/core/language_models/base";
import { ChatOpenAI } from "@langchain/openai";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { callStructured } from "../../src/models/call-structured.js";
import { type OpenAIStub, type StubBehaviour, startOpenAIStub } from "../support/openai-stub.js";
import { round } from "../support/spoken.js";
import { summaryMemory } from "../support/summary-memory.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const schema = z.object({ reasoning: z.string(), summary: z.string() });
const good = { reasoning: "…", summary: "They talked." };
let stub: OpenAIStub;

afterEach(() => stub.close());

// A streaming client counts tokens by tables that it loads from elsewhere.
beforeAll(() => void vi.spyOn(BaseLanguageModel.prototype, "getNumTokens").mockResolvedValue(1));
beforeAll(() => void vi.spyOn(console, "warn").mockReturnValue());
afterAll(() => void vi.restoreAllMocks());

async function model(
  options: { maxRetries?: number; model?: string; streaming?: boolean },
  ...script: StubBehaviour[]
) {
  stub = await startOpenAIStub(...script);
  return new ChatOpenAI({
    model: "gpt-4.1-mini",
    apiKey: "x",
    maxRetries: 1,
    ...options,
    configuration: { baseURL: stub.baseURL },
  });
}

const ask = (chat: ChatOpenAI, timeoutMs = 60_000) =>
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

  it.each<[string, string, StubBehaviour]>([
    ["wrapped once more", "gpt-4.1-mini", { structured: { conversation_summary: good } }],
    ["in JSON in JSON", "gpt-3.5-turbo", { structured: { arguments: JSON.stringify(good) } }],
    ["in a fence", "gpt-3.5-turbo", { text: `\`\`\`json\n${JSON.stringify(good)}\n\`\`\`` }],
    ["after some prose", "gpt-3.5-turbo", { text: `Sure! ${JSON.stringify(good)}` }],
  ])("that is %s is taken at once", async (_, name, odd) => {
    expect(await ask(await model({ maxRetries: 0, model: name }, odd))).toEqual(good);
  });

  const whole = JSON.stringify(good);
  describe.each(["gpt-4.1-mini", "gpt-3.5-turbo"])("of %s", (name) => {
    describe.each([false, true])("streaming: %s", (streaming) => {
      const options = { maxRetries: 0, model: name, streaming };

      it.each([whole, whole.slice(0, -3), '{"reasoning":"…",', ""])(
        "cut by the token limit is a failure, whatever is there: %s",
        async (written) => {
          const asking = ask(await model(options, { written, finish: "length" }));
          await expect(asking).rejects.toMatchObject({
            code: "MODEL_FAILED",
            message: expect.stringMatching(/token limit.*raise maxTokens/),
          });
        },
      );

      it("stopped by a filter is a failure at once", async () => {
        const filtered = ask(await model(options, { written: whole, finish: "content_filter" }));
        await expect(filtered).rejects.toThrow(code("MODEL_OUTPUT_INVALID"));
      });

      it("refused is none", async () => {
        const refusal = { refusal: "I cannot help with that." };
        const refused = ask(await model(options, refusal, refusal));
        await expect(refused).rejects.toThrow(code("MODEL_OUTPUT_INVALID"));
      });

      it("that was never closed is asked for again, though the provider says that it is done", async () => {
        const chat = await model(options, { written: whole.slice(0, -3) }, { structured: good });
        expect(await ask(chat)).toEqual(good);
        expect(stub.requests).toHaveLength(2);
      });
    });
  });

  it.each<StubBehaviour & string>(["stall", "silent"])(
    "that never comes (%s) is given up at the deadline",
    async (behaviour) => {
      const chat = await model({ maxRetries: 3 }, behaviour, behaviour, behaviour, behaviour);
      await expect(ask(chat, 300)).rejects.toThrow(code("MODEL_FAILED"));
    },
  );

  it("is given up at the deadline while waiting to come back later", async () => {
    const chat = await model(
      { maxRetries: 5 },
      ...Array<StubBehaviour>(6).fill({ status: 429, retryAfterSeconds: 60 }),
    );
    const startedAt = performance.now();
    await expect(ask(chat, 300)).rejects.toThrow(code("MODEL_FAILED"));
    // The first return alone would come after a minute.
    expect(performance.now() - startedAt).toBeLessThan(60_000);
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
