import { BaseLanguageModel } from "@langchain/core/language_models/base";
import type { ChatOpenAI } from "@langchain/openai";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { MemoryItem } from "../../../src/memories/item/memory.js";
import { useProviders } from "../../support/providers/clients.js";
import type { ChatBody } from "../../support/providers/openai-chat.js";
import type { Reply } from "../../support/providers/provider.js";
import { useTestDatabase } from "../../support/test-database.js";
import { openThread } from "../../support/thread-facts.js";

const db = useTestDatabase();
const config = { insights: { enabled: true }, upkeep: { retryDelayMs: 0 } };
const start = useProviders();

// A streaming client counts tokens by tables that it loads from elsewhere.
beforeAll(() => void vi.spyOn(BaseLanguageModel.prototype, "getNumTokens").mockResolvedValue(1));
beforeAll(() => void vi.spyOn(console, "warn").mockReturnValue());
afterAll(() => void vi.restoreAllMocks());
type Limits = Partial<Record<"temperature" | "max_tokens" | "max_completion_tokens", number>>;

/** Runs the graph on a user of one fact, with an OpenAI model that answers by `script`. */
async function run(options: Record<string, unknown>, ...script: Reply[]) {
  const reply = (_: unknown, index: number): Reply => script[index] ?? { status: 404 };
  const { model, exchanges } = await start("chat completions", reply, options);
  const { memory, scope } = openThread(db, { model, config });
  await memory.memories.add({ scope, memories: { text: "The user drinks tea." } });
  return {
    ...(await memory.graphs().insights.invoke({ scope })),
    model: model as ChatOpenAI,
    sent: () => exchanges.map(({ body }) => body as ChatBody & Limits),
    memory,
    scope,
    insights: await listed(memory.memories.list({ scope, kinds: ["insight"] })),
  };
}

const listed = async (found: Promise<MemoryItem[]>) => (await found).map(({ text }) => text);
const good = {
  insights: [{ summary: "The user is calm.", tags: ["calm"], importance: 2, evidence: [1] }],
};

describe("insights from an OpenAI endpoint", () => {
  describe.each([false, true])("with streaming %s", (streaming) => {
    it.each(["gpt-4.1-mini", "gpt-3.5-turbo"])(
      "Insights are requested from %s at temperature 0 and 220 tokens",
      async (model) => {
        const options = { model, streaming, temperature: 0.9 };
        const { status, insights, model: own, sent } = await run(options, { structured: good });
        expect([status, insights]).toEqual(["completed", ["The user is calm."]]);
        expect(sent()).toMatchObject([{ temperature: 0, max_tokens: 220 }]);
        const [body] = sent();
        expect(JSON.stringify(body?.tools)).toContain("user_insights");
        expect(body?.messages.map(({ role }) => role)).toEqual(["system", "user"]);
        expect(JSON.stringify(body?.messages[1])).toContain("The user drinks tea.");
        expect([own.temperature, own.maxTokens]).toEqual([0.9, undefined]);
      },
    );

    it("Insights that the token limit cuts within the first fail, and are then requested one at a time", async () => {
      const cut = { structured: good, cutAt: 40 };
      const whole = { structured: good };
      const { status, error, memory, scope, insights, sent } = await run({ streaming }, cut, whole);
      expect([status, error?.code, insights]).toEqual(["failed", "MODEL_FAILED", []]);
      expect(await memory.graphs().insights.invoke({ scope })).toMatchObject({
        status: "completed",
      });
      const systems = sent().map(({ messages }) => JSON.stringify(messages[0]));
      expect(systems[0]).toContain("one to 3 insights");
      expect(systems[1]).toContain("Give one insight,");
    });
  });

  it("Insights take no more tokens than the model's own limit, however it was set", async () => {
    const few = await run({ maxTokens: 100 }, { structured: good });
    expect(few.sent()).toMatchObject([{ max_tokens: 100 }]);
    const many = await run({ maxCompletionTokens: 5_000 }, { structured: good });
    expect(many.sent()).toMatchObject([{ max_tokens: 220 }]);
  });

  it("Insights are requested without limits if the endpoint refuses them, as for reasoning models", async () => {
    const refused = await run({ model: "o4-mini" }, { status: 400 }, { structured: good });
    expect(refused.status).toBe("completed");
    const [limited, plain] = refused.sent();
    expect(limited).toMatchObject({ max_completion_tokens: 220 });
    expect([plain?.temperature, plain?.max_tokens, plain?.max_completion_tokens]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("Insights are not requested again at once after another endpoint error", async () => {
    const { status, sent } = await run({}, { status: 500 });
    expect([status, sent().length]).toEqual(["failed", 1]);
  });
});
