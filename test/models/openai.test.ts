import { BaseLanguageModel } from "@langchain/core/language_models/base";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { callStructured } from "../../src/models/call-structured.js";
import type { TokenUsage } from "../../src/models/token-usage.js";
import { useProviders } from "../support/providers/clients.js";
import type { ChatBody } from "../support/providers/openai-chat.js";
import type { Fault, Reply } from "../support/providers/provider.js";
import type { Exchange } from "../support/providers/provider-server.js";

const schema = z.object({ reasoning: z.string(), summary: z.string() });
const good = { reasoning: "…", summary: "They talked." };
const start = useProviders();

// A streaming client counts tokens by tables that it loads from elsewhere.
beforeAll(() => void vi.spyOn(BaseLanguageModel.prototype, "getNumTokens").mockResolvedValue(1));
beforeAll(() => void vi.spyOn(console, "warn").mockReturnValue());
afterAll(() => void vi.restoreAllMocks());

/** An endpoint that answers by `script`, and its model. The last answer is repeated. */
const endpoint = (
  options: { maxRetries?: number; model?: string; streaming?: boolean; maxTokens?: number },
  ...script: Reply[]
) =>
  start("chat completions", (_, index) => script[index] ?? script.at(-1)!, {
    maxRetries: 1,
    ...options,
  });
const bodiesOf = (exchanges: readonly Exchange[]) => exchanges.map(({ body }) => body as ChatBody);

/** What the endpoint reports of an answer. */
const reported = (exchange: Exchange | undefined) => ({
  inputTokens: exchange?.usage?.input,
  outputTokens: exchange?.usage?.output,
});

const ask = (chat: BaseChatModel, timeoutMs = 60_000, charges: TokenUsage[] = []) =>
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
      const { model, exchanges } = await endpoint({ model: name }, { structured: good });
      expect(await ask(model)).toEqual(good);
      const [body] = bodiesOf(exchanges);
      const wire = JSON.stringify([body?.response_format, body?.tools]);
      expect(wire).toContain("conversation_summary");
      expect(wire).toContain('"summary":{"type":"string"');
      expect(body?.messages.map((message) => message.role)).toEqual(["system", "user"]);
      expect(body?.stream ?? false).toBe(false);
    },
  );

  it("A model call survives a 429 with Retry-After", async () => {
    const at: number[] = [];
    const busyOnce = (_: unknown, index: number): Reply => {
      at.push(performance.now());
      return index === 0 ? { status: 429, retryAfterSeconds: 1 } : { structured: good };
    };
    const { model } = await start("chat completions", busyOnce, { maxRetries: 1 });
    expect(await ask(model)).toEqual(good);
    const [first = 0, second = 0] = at;
    expect(second - first).toBeGreaterThan(900);
  });

  it("A model call survives one server error, and reports two", async () => {
    const once = await endpoint({}, { status: 500 }, { structured: good });
    expect(await ask(once.model)).toEqual(good);
    const { model, exchanges } = await endpoint({}, { status: 500 });
    await expect(ask(model)).rejects.toThrow(code("MODEL_FAILED"));
    expect(exchanges).toHaveLength(2);
  });

  it("A model call is not retried after a 401", async () => {
    const { model, exchanges } = await endpoint({}, { status: 401 });
    await expect(ask(model)).rejects.toThrow(code("MODEL_FAILED"));
    expect(exchanges).toHaveLength(1);
  });

  it.each<Reply>([{ status: 500 }, { status: 429 }, { status: 401 }, { fault: "silent" }])(
    "An answer that never came is not charged: %j",
    async (failure) => {
      const charges: TokenUsage[] = [];
      const { model } = await endpoint({ maxRetries: 0 }, failure);
      await expect(ask(model, 2_000, charges)).rejects.toThrow(code("MODEL_FAILED"));
      expect(charges).toEqual([]);
    },
  );

  it.each<[string, Reply]>([
    ["prose", "Sure! They talked."],
    ["JSON cut short", '{"reasoning": "…", "summ'],
    ["another shape", { structured: { text: "They talked." } }],
    ["nothing", ""],
    ["a body that is not JSON", { fault: "garbles" }],
  ])("An answer that is %s is sent back once, and charged", async (_, bad) => {
    const { model, exchanges } = await endpoint({ maxRetries: 0 }, bad, { structured: good });
    const charges: TokenUsage[] = [];
    expect(await ask(model, 60_000, charges)).toEqual(good);
    // A client that throws the answer away throws its report away as well: then it is counted.
    if (exchanges[0]?.usage) expect(charges[0]?.inputTokens).toBeGreaterThanOrEqual(12);
    expect(charges.at(-1)).toEqual(reported(exchanges[1]));
    expect(exchanges).toHaveLength(2);
    const repair = bodiesOf(exchanges)[1]?.messages ?? [];
    expect(repair.map((message) => message.role)).toEqual(["system", "user", "assistant", "user"]);
    expect(JSON.stringify(repair.at(-1)?.content)).toContain("That answer cannot be used");
  });

  it.each<[string, Reply]>([
    ["prose", "Sure! They talked."],
    ["another shape", { structured: { text: "They talked." } }],
    ["a body that is not JSON", { fault: "garbles" }],
  ])("An answer that is %s twice is refused", async (_, bad) => {
    const { model, exchanges } = await endpoint({ maxRetries: 0 }, bad);
    await expect(ask(model)).rejects.toThrow(code("MODEL_OUTPUT_INVALID"));
    expect(exchanges).toHaveLength(2);
  });

  it.each<[string, string, Reply]>([
    ["wrapped once more", "gpt-4.1-mini", { structured: { conversation_summary: good } }],
    ["in JSON in JSON", "gpt-3.5-turbo", { structured: { arguments: JSON.stringify(good) } }],
    ["in a fence", "gpt-3.5-turbo", `\`\`\`json\n${JSON.stringify(good)}\n\`\`\``],
    ["after some prose", "gpt-3.5-turbo", `Sure! ${JSON.stringify(good)}`],
  ])("An answer that is %s is taken at once", async (_, name, odd) => {
    const { model, exchanges } = await endpoint({ maxRetries: 0, model: name }, odd);
    expect(await ask(model)).toEqual(good);
    expect(exchanges).toHaveLength(1);
  });

  describe.each(["gpt-4.1-mini", "gpt-3.5-turbo"])("answers of %s", (name) => {
    describe.each([false, true])("with streaming %s", (streaming) => {
      const options = { maxRetries: 0, model: name, streaming };

      it("An answer is charged once, as the endpoint reports it", async () => {
        const charges: TokenUsage[] = [];
        const { model, exchanges } = await endpoint(options, { structured: good });
        await ask(model, 60_000, charges);
        expect(charges).toEqual([reported(exchanges[0])]);
      });

      it.each([999, -3, '{"reasoning":"…",'.length, 0])(
        "An answer cut by the token limit is a charged failure: %i characters",
        async (cutAt) => {
          const charges: TokenUsage[] = [];
          const cut = { structured: good, cutAt };
          const { model, exchanges } = await endpoint({ ...options, maxTokens: 30 }, cut);
          const message = expect.stringMatching(/token limit.*raise maxTokens/);
          await expect(ask(model, 60_000, charges)).rejects.toMatchObject({
            code: "MODEL_FAILED",
            message,
          });
          // By the report, or by the limit.
          expect(charges).toHaveLength(1);
          expect([exchanges[0]?.usage?.output || 1, 30]).toContain(charges[0]?.outputTokens);
          expect(charges[0]?.inputTokens).toBeGreaterThanOrEqual(12);
        },
      );

      it("An answer stopped by a filter fails immediately and is not charged up to the limit", async () => {
        const charges: TokenUsage[] = [];
        const filtered = { structured: good, isFiltered: true };
        const { model } = await endpoint({ ...options, maxTokens: 300 }, filtered);
        await expect(ask(model, 60_000, charges)).rejects.toThrow(code("MODEL_OUTPUT_INVALID"));
        expect(charges).toHaveLength(1);
        expect(charges[0]?.inputTokens).toBeGreaterThanOrEqual(12);
        expect(charges[0]?.outputTokens).toBeLessThan(300);
      });

      it("A refused answer fails and is charged", async () => {
        const charges: TokenUsage[] = [];
        const refusal = { refusal: "I cannot help with that." };
        const { model, exchanges } = await endpoint(options, refusal);
        await expect(ask(model, 60_000, charges)).rejects.toThrow(code("MODEL_OUTPUT_INVALID"));
        expect(charges[0]).toEqual(reported(exchanges[0]));
      });

      it('An answer of incomplete JSON is retried, though the provider reports "stop"', async () => {
        const incomplete = { structured: good, cutAt: -3, isCut: false };
        const { model, exchanges } = await endpoint(options, incomplete, { structured: good });
        expect(await ask(model)).toEqual(good);
        expect(exchanges).toHaveLength(2);
      });
    });
  });

  it.each<Fault>(["stalls", "silent"])(
    "An answer that never comes (%s) is given up at the deadline",
    async (fault) => {
      const { model } = await endpoint({ maxRetries: 3 }, { fault });
      await expect(ask(model, 300)).rejects.toThrow(code("MODEL_FAILED"));
    },
  );

  it("A model call is given up at the deadline during Retry-After", async () => {
    const busy = { status: 429, retryAfterSeconds: 60 };
    const { model, exchanges } = await endpoint({ maxRetries: 5 }, busy);
    await expect(ask(model, 300)).rejects.toThrow(code("MODEL_FAILED"));
    expect(exchanges).toHaveLength(1);
  });
});
