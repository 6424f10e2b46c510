import { BaseLanguageModel } from "@langchain/core/language_models/base";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { StringOutputParser } from "@langchain/core/output_parsers";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { callStructured } from "../../src/models/call-structured.js";
import type { TokenUsage } from "../../src/models/token-usage.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { type ProviderName, providerNames, useProviders } from "../support/providers/clients.js";
import type { Fault, Reply } from "../support/providers/provider.js";
import type { Exchange } from "../support/providers/provider-server.js";
import { code } from "../support/rejection.js";

const schema = z.object({ reasoning: z.string().default(""), steps: z.array(z.string()) });
const good = { reasoning: "…", steps: ["Open it.", "Look.", "Close it."] };
const start = useProviders();

// A streaming client counts tokens by tables that it loads from elsewhere.
beforeAll(() => void vi.spyOn(BaseLanguageModel.prototype, "getNumTokens").mockResolvedValue(1));
beforeAll(() => void vi.spyOn(console, "warn").mockReturnValue());
afterAll(() => void vi.restoreAllMocks());

/** A provider that answers by `script`, and its model. The last answer is repeated. */
const answering = (name: ProviderName, script: Reply[], options: Record<string, unknown> = {}) =>
  start(name, (_, index) => script[index] ?? script.at(-1)!, options);

/** What the provider reports of an answer. */
const reported = ({ usage }: Exchange) => ({
  inputTokens: usage?.input,
  outputTokens: usage?.output,
});

const charges: TokenUsage[] = [];
const ask = (model: BaseChatModel, timeoutMs = 60_000, onDropped = (_: number) => {}) => {
  charges.length = 0;
  return callStructured({
    model,
    name: "steps",
    schema,
    instructions: "Give the steps.",
    input: "<messages></messages>",
    timeoutMs,
    onDropped,
    charge: async (tokens) => void charges.push(tokens),
  });
};

describe.each(providerNames)("an answer of %s", (name) => {
  it("A second question shows what the model wrote and what is wrong with it", async () => {
    const bad = { structured: { steps: null } };
    const { model, exchanges } = await answering(name, [bad, { structured: good }]);
    expect(await ask(model)).toEqual(good);
    expect(exchanges.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    const texts = exchanges[1]?.request.messages.flatMap((message) => message.texts);
    expect(texts?.at(-2)).toBe('{"steps":null}');
    expect(texts?.at(-1)).toMatch(/expected array, received null\n.*→ at steps.*"type":"array"/s);
    expect(charges).toEqual(exchanges.map(reported));
    await expect(ask((await answering(name, [bad])).model)).rejects.toThrow(
      code("MODEL_OUTPUT_INVALID"),
    );
  });

  it("A refusal is reported as one, and charged, and the model is not asked again", async () => {
    const { model, exchanges } = await answering(name, [{ refusal: "I cannot." }]);
    // A model that knows no refusals says so: that is an answer without JSON.
    const [calls, message] = name === "strict compatible" ? [2, /twice/] : [1, /refused/];
    const failure = { code: "MODEL_OUTPUT_INVALID", message: expect.stringMatching(message) };
    await expect(ask(model)).rejects.toMatchObject(failure);
    expect(exchanges).toHaveLength(calls);
    expect(charges).toEqual(exchanges.map(reported));
  });

  it.each([
    [999, 2],
    [-3, 2],
    [-16, 1],
    [25, 0],
    [1, 0],
  ])("Of an answer cut after %i characters the whole items count", async (cutAt, whole) => {
    const { model, exchanges } = await answering(name, [{ structured: good, cutAt }]);
    let dropped = 0;
    const answer = ask(model, 60_000, (items) => {
      dropped = items;
    });
    const steps = good.steps.slice(0, whole);
    const message = expect.stringMatching(/token limit.*raise maxTokens/);
    // What the client closed itself may lack its end.
    if (whole > 0) expect((await answer).steps).toEqual(expect.arrayContaining(steps));
    else await expect(answer).rejects.toMatchObject({ code: "MODEL_FAILED", message });
    expect([exchanges.length, dropped, charges.length]).toEqual([1, whole > 0 ? 1 : 0, 1]);
  });
});

describe("clients", () => {
  const json = `\`\`\`json\n${JSON.stringify(good)}\n\`\`\``;
  /** A client whose server has no tools for this model. */
  const toolless = (error = "gemma3 does not support tools") =>
    new ScriptedChatModel({
      replies: (_, __, { tools = [] }) => (tools.length > 0 ? new Error(error) : json),
    });

  it.each<[string, object]>([
    ["knows no tools", new FakeListChatModel({ responses: [json] })],
    ["is configured", toolless().withConfig({ tags: ["a"] })],
    ["is tried again", toolless().withRetry()],
    ["ends in a text", toolless().pipe(new StringOutputParser())],
    ["has a server without tools", toolless()],
  ])("A client that %s is asked in words", async (_, model) =>
    expect(await ask(model as BaseChatModel)).toEqual(good),
  );

  it("The way that worked for a client is the first one the next time", async () => {
    const model = toolless();
    for (const _ of [1, 2]) await ask(model);
    expect(model.calls.map(({ toolNames }) => toolNames.length)).toEqual([1, 1, 0, 0]);
    expect(model.calls[3]?.messages[0]?.text).toContain('"steps":{"type":"array"');
    await expect(ask(toolless("overloaded"))).rejects.toThrow(code("MODEL_FAILED"));
  });

  it("An answer that the client's own parser throws away is read", async () => {
    const thinking = { type: "enabled", budget_tokens: 1_024 };
    const options = { thinking, maxTokens: 2_048 };
    const { model, exchanges } = await answering("anthropic", [json], options);
    expect(await ask(model)).toEqual(good);
    expect(exchanges).toHaveLength(1);
  });

  it.each<Reply>([
    { structured: good },
    { structured: good, cutAt: 999 },
    { structured: good, wrapped: () => json },
  ])("A streaming client is read like others: %j", async (reply) => {
    const { model, exchanges } = await answering("chat completions", [reply], { streaming: true });
    expect((await ask(model)).steps).toEqual(good.steps);
    expect(charges).toEqual(exchanges.map(reported));
  });

  it('Incomplete JSON is asked for again, though the provider reports "stop"', async () => {
    const incomplete = { structured: good, cutAt: -5, isCut: false };
    const { model, exchanges } = await answering("responses", [incomplete, { structured: good }]);
    expect(await ask(model)).toEqual(good);
    expect(exchanges).toHaveLength(2);
  });

  it("An answer that a filter stopped fails at once", async () => {
    const filtered = { structured: good, isFiltered: true };
    const { model, exchanges } = await answering("chat completions", [filtered]);
    await expect(ask(model)).rejects.toThrow(code("MODEL_OUTPUT_INVALID"));
    expect(charges).toEqual(exchanges.map(reported));
  });
});

describe("failures of a provider", () => {
  it.each([500, 429, 401])(
    "A call that fails with %i is one request, reported and not charged",
    async (status) => {
      const failure = { status, retryAfterSeconds: 1 };
      const { model, exchanges } = await answering("chat completions", [failure], {
        maxRetries: 1,
      });
      await expect(ask(model)).rejects.toThrow(code("MODEL_FAILED"));
      expect([exchanges.length, charges.length]).toEqual([1, 0]);
    },
  );

  it.each<Fault | Reply>(["stalls", "silent", { status: 429, retryAfterSeconds: 60 }])(
    "An answer that never comes (%j) is given up at the deadline, and not charged",
    async (failure) => {
      const reply = typeof failure === "string" ? { fault: failure as Fault } : failure;
      const { model } = await answering("chat completions", [reply], { maxRetries: 3 });
      await expect(ask(model, 300)).rejects.toThrow(code("MODEL_FAILED"));
      expect(charges).toEqual([]);
    },
  );
});
