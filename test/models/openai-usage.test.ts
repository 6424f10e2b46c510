import { BaseLanguageModel } from "@langchain/core/language_models/base";
import { ChatOpenAI } from "@langchain/openai";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { callStructured } from "../../src/models/call-structured.js";
import type { TokenUsage } from "../../src/models/token-usage.js";
import { type OpenAIStub, type StubBehaviour, startOpenAIStub } from "../support/openai-stub.js";

const schema = z.object({ reasoning: z.string(), summary: z.string() });
const good: StubBehaviour = { structured: { reasoning: "…", summary: "They talked." } };
const whole = JSON.stringify({ reasoning: "…", summary: "They talked." });
/** As the stub reports it of every answer. */
const reported = { inputTokens: 12, outputTokens: 7 };
let stub: OpenAIStub;

afterEach(() => stub.close());
// A streaming client counts tokens by tables that it loads from elsewhere.
beforeAll(() => void vi.spyOn(BaseLanguageModel.prototype, "getNumTokens").mockResolvedValue(1));
beforeAll(() => void vi.spyOn(console, "warn").mockReturnValue());
afterAll(() => void vi.restoreAllMocks());

/** What was charged for a call that meets `script`, whatever became of it. */
async function charged(options: object, ...script: StubBehaviour[]): Promise<TokenUsage[]> {
  stub = await startOpenAIStub(...script);
  const charges: TokenUsage[] = [];
  const model = new ChatOpenAI({
    ...{ model: "gpt-4.1-mini", apiKey: "x", maxRetries: 0, configuration: { baseURL: stub.baseURL } },
    ...options,
  });
  const call = callStructured({
    ...{ model, name: "conversation_summary", schema, timeoutMs: 2_000 },
    ...{ instructions: "Summarize what was said.", input: "<new_messages></new_messages>" },
    charge: async (tokens) => void charges.push(tokens),
  });
  await call.catch(() => {});
  return charges;
}

describe.each(["gpt-4.1-mini", "gpt-3.5-turbo"])("a call of %s", (model) => {
  it.each([false, true])("is charged once, as the endpoint reports it; streaming: %s", async (streaming) => {
    expect(await charged({ model, streaming }, good)).toEqual([reported]);
  });

  it.each<[string, StubBehaviour]>([
    ["of another shape", { structured: { text: "They talked." } }],
    ["that is no JSON", { text: "Sure! They talked." }],
  ])("whose answer is sent back is charged twice: one %s", async (_, bad) => {
    const [first, second, ...more] = await charged({ model }, bad, good);
    expect([second, more]).toEqual([reported, []]);
    // A client that throws the answer away throws its report away as well: then it is counted.
    expect(first?.inputTokens).toBeGreaterThanOrEqual(12);
    expect(first?.outputTokens).toBeGreaterThan(0);
  });

  it.each([false, true])("whose answer was cut by the limit is charged; streaming: %s", async (streaming) => {
    const cut = { written: whole.slice(0, -3), finish: "length" };
    const [first, ...more] = await charged({ model, streaming, maxTokens: 30 }, cut);
    expect(more).toEqual([]);
    // By the report, or by the limit.
    expect([7, 30]).toContain(first?.outputTokens);
    expect(first?.inputTokens).toBeGreaterThanOrEqual(12);
  });

  it("that a filter stopped is charged, and not as if it had been cut", async () => {
    const filtered = { written: whole, finish: "content_filter" };
    const [first, ...more] = await charged({ model, maxTokens: 300 }, filtered);
    expect(more).toEqual([]);
    expect(first?.inputTokens).toBeGreaterThanOrEqual(12);
    expect(first?.outputTokens).toBeLessThan(300);
  });

  it("that was refused is charged", async () => {
    expect(await charged({ model }, { refusal: "I cannot help with that." })).toEqual([reported]);
  });

  it.each<StubBehaviour>([{ status: 500 }, { status: 429 }, { status: 401 }, "silent"])(
    "that was never answered is not charged: %j",
    async (failure) => {
      expect(await charged({ model }, failure)).toEqual([]);
    },
  );
});
