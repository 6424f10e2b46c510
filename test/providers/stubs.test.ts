import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import type { Runnable } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { tool as aiTool, generateText, stepCountIs, streamText } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  aiSDKModel,
  type ProviderName,
  providerNames,
  useProviders,
} from "../support/providers/clients.js";
import type { Reply, Script, Usage } from "../support/providers/provider.js";
import { refusedRequests } from "./refused-requests.js";

const start = useProviders();

const paths = {
  "chat completions": "/v1/chat/completions",
  responses: "/v1/responses",
  anthropic: "/v1/messages",
  google: "/v1beta/models/m:generateContent",
  "strict compatible": "/v1/chat/completions",
};

/** How a refusal and the end of a cut answer are told. */
const words = {
  "chat completions": {
    refused: '"refusal":"I cannot."',
    cut: /"content":"They".*"finish_reason":"length"/,
  },
  responses: { refused: '"type":"refusal"', cut: /"reason":"max_output_tokens".*"text":"They"/ },
  anthropic: {
    refused: '"stop_reason":"refusal"',
    cut: /"text":"They".*"stop_reason":"max_tokens"/,
  },
  google: { refused: '"finishReason":"SAFETY"', cut: /"text":"They".*"finishReason":"MAX_TOKENS"/ },
  "strict compatible": {
    refused: '"content":"I cannot."',
    cut: /"content":"They".*"finish_reason":"length"/,
  },
};

/** With these a provider demands its reasoning back. */
const options = {
  "chat completions": {},
  responses: {},
  anthropic: { thinking: { type: "enabled", budget_tokens: 1_024 }, maxTokens: 2_048 },
  google: {},
  "strict compatible": {},
};

const plainRequest = (name: ProviderName) => refusedRequests[name][0]![2];

const look = tool(() => "A cat.", {
  name: "look",
  description: "Looks.",
  schema: z.object({ at: z.string() }),
});
/** One script for all providers: calls once, and answers when it has the results. */
const twoLooks: Script = ({ messages }) =>
  messages.at(-1)?.results.length
    ? "Two cats."
    : {
        reasoning: "Somebody is there.",
        text: "I look.",
        calls: [
          { name: "look", args: { at: "the door" } },
          { name: "look", args: { at: "it" } },
        ],
      };

const usageOf = ({ usage_metadata: usage }: { usage_metadata?: UsageMetadata | undefined }) => [
  usage?.input_tokens,
  usage?.output_tokens,
  usage?.input_token_details?.cache_read ?? 0,
];
const reported = (usage: Usage | null | undefined) =>
  usage && [usage.input, usage.output, usage.cached];

/** The whole of an answer that comes at once or in a stream. */
async function answerOf(
  model: Runnable<BaseMessage[], AIMessageChunk>,
  messages: BaseMessage[],
  streams: boolean,
) {
  if (!streams) return model.invoke(messages);
  let whole: AIMessageChunk | undefined;
  for await (const chunk of await model.stream(messages)) whole = whole?.concat(chunk) ?? chunk;
  return whole!;
}

const post = (url: string, body: object) =>
  fetch(url, { method: "POST", body: JSON.stringify(body) });

describe.each(providerNames)("the stub of %s", (name) => {
  it.each(refusedRequests[name])(
    "Refuses %s, and takes its smallest sibling",
    async (_, refused, accepted, error) => {
      const { origin, exchanges } = await start(name, () => "Yes.");
      const url = origin + paths[name];
      const response = await post(url, refused);
      expect(JSON.stringify(await response.json())).toContain(JSON.stringify(error).slice(1, -1));
      expect(response.status).toBe(error.includes("not persisted") ? 404 : 400);
      expect((await post(url, accepted)).status).toBe(200);
      expect(exchanges.map((exchange) => exchange.refused !== null)).toEqual([true, false]);
    },
  );

  it("Refuses a request that is longer than its window", async () => {
    const { origin } = await start(name, () => "Yes.", { contextTokens: 5 });
    const response = await post(origin + paths[name], plainRequest(name));
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringMatching(/maxim|exceeds/),
    ]);
  });

  it("Tells a refusal, a cut answer, a rate limit and a failure as the provider does", async () => {
    const replies: Reply[] = [
      { refusal: "I cannot." },
      { text: "They talked.", cutAt: 4 },
      { status: 429, retryAfterSeconds: 7 },
      { status: 500 },
    ];
    const { origin } = await start(name, (_, index) => replies[index] ?? "");
    const ask = () => post(origin + paths[name], plainRequest(name));
    const [refused, cut, limited, failed] = [await ask(), await ask(), await ask(), await ask()];
    expect(await refused.text()).toContain(words[name].refused);
    expect(await cut.text()).toMatch(words[name].cut);
    expect(limited.status).toBe(429);
    expect(limited.headers.get("retry-after") ?? (await limited.text())).toMatch(/^7$|"7s"/);
    expect(failed.status).toBe(500);
  });

  it.each([false, true])(
    "Its client gets parallel calls, an answer and all usage, streaming %s",
    async (streams) => {
      const { model, exchanges } = await start(name, twoLooks, options[name]);
      const bound = model.bindTools!([look]);
      const question = [new SystemMessage("Be kind."), new HumanMessage("Who is there?")];
      const calling = await answerOf(bound, question, streams);
      expect(calling.tool_calls?.map(({ args }) => args)).toEqual([
        { at: "the door" },
        { at: "it" },
      ]);
      const results = calling.tool_calls!.map(
        ({ id, name: called }) =>
          new ToolMessage({ content: "A cat.", tool_call_id: id!, name: called }),
      );
      const answer = await answerOf(bound, [...question, calling, ...results], streams);
      expect([calling.text, answer.text]).toEqual(["I look.", "Two cats."]);
      expect([calling, answer].map(usageOf)).toEqual(exchanges.map(({ usage }) => reported(usage)));
      expect(exchanges[1]?.usage?.cached).toBe(
        name === "anthropic" ? 0 : exchanges[0]?.usage?.input,
      );
    },
  );

  it("Its client gets structured output, and sees what is wrapped around it", async () => {
    const structured = { city: "Lisbon" };
    const wrapped = (json: string) => `Sure!\n${json}`;
    const { model, exchanges } = await start(name, (_, index) =>
      index === 0 ? { structured } : { structured, wrapped },
    );
    const schema = z.object({ city: z.string() });
    expect(await model.withStructuredOutput(schema, { name: "place" }).invoke("Where?")).toEqual(
      structured,
    );
    expect(exchanges[0]?.request.wanted?.schema).toHaveProperty("properties.city");
    expect((await model.invoke("Where?")).text).toBe('Sure!\n{"city":"Lisbon"}');
  });

  it("Its client fails where the socket closes in mid-answer", async () => {
    const { model, exchanges } = await start(name, () => ({ fault: "closes" }));
    await expect(answerOf(model, [new HumanMessage("Hello.")], false)).rejects.toThrow();
    await expect(answerOf(model, [new HumanMessage("Hello.")], true)).rejects.toThrow();
    expect(exchanges.map(({ usage }) => usage)).toEqual([null, null]);
  });
});

it("Anthropic's prompt is cached up to its last breakpoint", async () => {
  const { origin, exchanges } = await start("anthropic", () => "Yes.");
  const system = [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }];
  for (const content of ["Hello.", "Good morning."])
    await post(`${origin}/v1/messages`, {
      ...plainRequest("anthropic"),
      system,
      messages: [{ role: "user", content }],
    });
  const [first, second] = exchanges.map(({ usage }) => usage);
  expect(first).toMatchObject({ cached: 0, written: second?.cached });
  expect(second).toMatchObject({ cached: expect.toSatisfy((tokens) => tokens > 0), written: 0 });
});

it("The AI SDK runs a tool loop against chat completions, and streams with usage", async () => {
  const { origin, exchanges } = await start("chat completions", twoLooks);
  const model = aiSDKModel(origin);
  const tools = {
    look: aiTool({ inputSchema: z.object({ at: z.string() }), execute: () => "A cat." }),
  };
  const loop = { model, tools, prompt: "Who is there?", stopWhen: stepCountIs(2) };
  expect((await generateText(loop)).text).toBe("Two cats.");
  const stream = streamText(loop);
  expect(await stream.text).toBe("Two cats.");
  const { inputTokens, outputTokens, inputTokenDetails } = (await stream.finalStep).usage;
  expect([inputTokens, outputTokens, inputTokenDetails.cacheReadTokens]).toEqual(
    reported(exchanges[3]?.usage),
  );
});
