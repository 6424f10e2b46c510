import { BaseLanguageModel } from "@langchain/core/language_models/base";
import type { ChatOpenAI } from "@langchain/openai";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { callStructured } from "../../src/models/call-structured.js";
import type { TokenUsage } from "../../src/models/token-usage.js";
import { type StubBehaviour, useOpenAI } from "../support/openai-stub.js";

const schema = z.object({ reasoning: z.string(), summary: z.string() });
const good = { reasoning: "…", summary: "They talked." };
const openai = useOpenAI();

// A streaming client counts tokens by tables that it loads from elsewhere.
beforeAll(() => void vi.spyOn(BaseLanguageModel.prototype, "getNumTokens").mockResolvedValue(1));
beforeAll(() => void vi.spyOn(console, "warn").mockReturnValue());
afterAll(() => void vi.restoreAllMocks());

const model = (
  options: { maxRetries?: number; model?: string; streaming?: boolean; maxTokens?: number },
  ...script: StubBehaviour[]
) => openai.model(script, { maxRetries: 1, ...options });

/** As the stub reports it of every answer. */
const reported = { inputTokens: 12, outputTokens: 7 };

const ask = (chat: ChatOpenAI, timeoutMs = 60_000, charges: TokenUsage[] = []) =>
  callStructured({
    model: chat,
    name: "conversation_summary",
    schema,
    instructions: "Summarize.",
    input: "<new_messages></new_messages>",
    timeoutMs,
    charge: async (tokens) => void charges.push(tokens),
  });
const code = (code: string) => expect.objectContaining({ code });

describe("structured output from an OpenAI endpoint", () => {
  it.each(["gpt-4.1-mini", "gpt-3.5-turbo"])(
    "Structured output of %s is asked for by schema, and checked",
    async (name) => {
      expect(await ask(await model({ model: name }, { structured: good }))).toEqual(good);
      const [request] = openai.requests;
      const wire = JSON.stringify([request?.body.response_format, request?.body.tools]);
      expect(wire).toContain("conversation_summary");
      expect(wire).toContain('"summary":{"type":"string"');
      expect(request?.body.messages.map((message) => message.role)).toEqual(["system", "user"]);
      expect(request?.body.stream ?? false).toBe(false);
    },
  );

  it("A model call survives a 429 with Retry-After", async () => {
    expect(
      await ask(await model({}, { status: 429, retryAfterSeconds: 1 }, { structured: good })),
    ).toEqual(good);
    const [first, second] = openai.requests.map((request) => request.at);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThan(900);
  });

  it("A model call survives one server error, and reports two", async () => {
    expect(await ask(await model({}, { status: 500 }, { structured: good }))).toEqual(good);
    const chat = await model({}, { status: 500 }, { status: 500 });
    await expect(ask(chat)).rejects.toThrow(code("MODEL_FAILED"));
    expect(openai.requests).toHaveLength(2);
  });

  it("A model call is not retried after a 401", async () => {
    const chat = await model({}, { status: 401 });
    await expect(ask(chat)).rejects.toThrow(code("MODEL_FAILED"));
    expect(openai.requests).toHaveLength(1);
  });

  it.each<StubBehaviour>([{ status: 500 }, { status: 429 }, { status: 401 }, "silent"])(
    "An answer that never came is not charged: %j",
    async (failure) => {
      const charges: TokenUsage[] = [];
      await expect(ask(await model({ maxRetries: 0 }, failure), 2_000, charges)).rejects.toThrow(
        code("MODEL_FAILED"),
      );
      expect(charges).toEqual([]);
    },
  );

  it.each<[string, StubBehaviour]>([
    ["prose", { text: "Sure! They talked." }],
    ["JSON cut short", { text: '{"reasoning": "…", "summ' }],
    ["another shape", { structured: { text: "They talked." } }],
    ["nothing", { text: "" }],
    ["a body that is not JSON", "malformed"],
  ])("An answer that is %s is sent back once, and charged", async (_, bad) => {
    const chat = await model({ maxRetries: 0 }, bad, { structured: good });
    const charges: TokenUsage[] = [];
    expect(await ask(chat, 60_000, charges)).toEqual(good);
    // A client that throws the answer away throws its report away as well: then it is counted.
    if (bad !== "malformed") expect(charges[0]?.inputTokens).toBeGreaterThanOrEqual(12);
    expect(charges.at(-1)).toEqual(reported);
    expect(openai.requests).toHaveLength(2);
    const repair = openai.requests[1]?.body.messages ?? [];
    expect(repair.map((message) => message.role)).toEqual(["system", "user", "assistant", "user"]);
    expect(JSON.stringify(repair.at(-1)?.content)).toContain("That answer cannot be used");
  });

  it.each<[string, StubBehaviour]>([
    ["prose", { text: "Sure! They talked." }],
    ["another shape", { structured: { text: "They talked." } }],
    ["a body that is not JSON", "malformed"],
  ])("An answer that is %s twice is refused", async (_, bad) => {
    const chat = await model({ maxRetries: 0 }, bad, bad);
    await expect(ask(chat)).rejects.toThrow(code("MODEL_OUTPUT_INVALID"));
    expect(openai.requests).toHaveLength(2);
  });

  it.each<[string, string, StubBehaviour]>([
    ["wrapped once more", "gpt-4.1-mini", { structured: { conversation_summary: good } }],
    ["in JSON in JSON", "gpt-3.5-turbo", { structured: { arguments: JSON.stringify(good) } }],
    ["in a fence", "gpt-3.5-turbo", { text: `\`\`\`json\n${JSON.stringify(good)}\n\`\`\`` }],
    ["after some prose", "gpt-3.5-turbo", { text: `Sure! ${JSON.stringify(good)}` }],
  ])("An answer that is %s is taken at once", async (_, name, odd) =>
    expect(await ask(await model({ maxRetries: 0, model: name }, odd))).toEqual(good),
  );

  const whole = JSON.stringify(good);
  describe.each(["gpt-4.1-mini", "gpt-3.5-turbo"])("answers of %s", (name) => {
    describe.each([false, true])("with streaming %s", (streaming) => {
      const options = { maxRetries: 0, model: name, streaming };

      it("An answer is charged once, as the endpoint reports it", async () => {
        const charges: TokenUsage[] = [];
        await ask(await model(options, { structured: good }), 60_000, charges);
        expect(charges).toEqual([reported]);
      });

      it.each([whole, whole.slice(0, -3), '{"reasoning":"…",', ""])(
        "An answer cut by the token limit is a charged failure: %s",
        async (written) => {
          const charges: TokenUsage[] = [];
          const cut = await model({ ...options, maxTokens: 30 }, { written, finish: "length" });
          const message = expect.stringMatching(/token limit.*raise maxTokens/);
          await expect(ask(cut, 60_000, charges)).rejects.toMatchObject({
            code: "MODEL_FAILED",
            message,
          });
          // By the report, or by the limit.
          expect(charges).toHaveLength(1);
          expect([7, 30]).toContain(charges[0]?.outputTokens);
          expect(charges[0]?.inputTokens).toBeGreaterThanOrEqual(12);
        },
      );

      it("An answer stopped by a filter fails immediately and is not charged up to the limit", async () => {
        const charges: TokenUsage[] = [];
        const chat = await model(
          { ...options, maxTokens: 300 },
          { written: whole, finish: "content_filter" },
        );
        await expect(ask(chat, 60_000, charges)).rejects.toThrow(code("MODEL_OUTPUT_INVALID"));
        expect(charges).toHaveLength(1);
        expect(charges[0]?.inputTokens).toBeGreaterThanOrEqual(12);
        expect(charges[0]?.outputTokens).toBeLessThan(300);
      });

      it("A refused answer fails and is charged", async () => {
        const charges: TokenUsage[] = [];
        const refusal = { refusal: "I cannot help with that." };
        const refused = ask(await model(options, refusal, refusal), 60_000, charges);
        await expect(refused).rejects.toThrow(code("MODEL_OUTPUT_INVALID"));
        expect(charges[0]).toEqual(reported);
      });

      it('An answer of incomplete JSON is retried, though the provider reports "stop"', async () => {
        expect(
          await ask(await model(options, { written: whole.slice(0, -3) }, { structured: good })),
        ).toEqual(good);
        expect(openai.requests).toHaveLength(2);
      });
    });
  });

  it.each<StubBehaviour & string>(["stall", "silent"])(
    "An answer that never comes (%s) is given up at the deadline",
    async (behaviour) => {
      const chat = await model({ maxRetries: 3 }, behaviour, behaviour, behaviour, behaviour);
      await expect(ask(chat, 300)).rejects.toThrow(code("MODEL_FAILED"));
    },
  );

  it("A model call is given up at the deadline during Retry-After", async () => {
    const busy = Array<StubBehaviour>(6).fill({ status: 429, retryAfterSeconds: 60 });
    const chat = await model({ maxRetries: 5 }, ...busy);
    await expect(ask(chat, 300)).rejects.toThrow(code("MODEL_FAILED"));
    expect(openai.requests).toHaveLength(1);
  });
});
