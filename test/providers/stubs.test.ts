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
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { providerNames, reasoningOptions, useProviders } from "../support/providers/clients.js";
import type { Script, Usage } from "../support/providers/provider.js";
import { plainRequests, refusedRequests } from "./refused-requests.js";

const start = useProviders();

const paths = {
  "chat completions": "/v1/chat/completions",
  responses: "/v1/responses",
  anthropic: "/v1/messages",
  google: "/v1beta/models/m:generateContent",
  "strict compatible": "/v1/chat/completions",
};

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
    "Refuses %s, and no request that keeps the rule",
    async (_, refused, error, accepted = plainRequests[name]) => {
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
    const response = await post(origin + paths[name], plainRequests[name]);
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringMatching(/maxim|exceeds/),
    ]);
  });

  it.each([false, true])(
    "Its client gets parallel calls, an answer and all usage, streaming %s",
    async (streams) => {
      const { model, exchanges } = await start(name, twoLooks, reasoningOptions[name]);
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
});

it("Anthropic's prompt is cached up to its last breakpoint", async () => {
  const { origin, exchanges } = await start("anthropic", () => "Yes.");
  const system = [{ type: "text", text: "Be kind.", cache_control: { type: "ephemeral" } }];
  for (const content of ["Hello.", "Good morning."])
    await post(`${origin}/v1/messages`, {
      ...plainRequests.anthropic,
      system,
      messages: [{ role: "user", content }],
    });
  const [first, second] = exchanges.map(({ usage }) => usage);
  expect(first).toMatchObject({ cached: 0, written: second?.cached });
  expect(second).toMatchObject({ cached: expect.toSatisfy((tokens) => tokens > 0), written: 0 });
});
