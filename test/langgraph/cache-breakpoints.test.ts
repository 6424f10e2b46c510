import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { ChatAnthropic } from "@langchain/anthropic";
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import {
  anthropicPromptCachingMiddleware,
  createAgent,
  createMiddleware,
  initChatModel,
  tool,
} from "langchain";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryMiddleware } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { type AnyGraph, addressOf, favouriteDish, newThread, transcript } from "./conversation.js";

type Part = { type: string; text?: string; cache_control?: object };
type Body = { system?: string | Part[]; messages: { content: string | Part[] }[]; cache_control?: object };

const database = useTestDatabase();
const bodies: Body[] = [];
/** Anthropic's interface: a call of the tool, then an answer. */
const server = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const body: Body = JSON.parse(text);
  bodies.push(body);
  const isAnswered = JSON.stringify(body.messages.at(-1)).includes("tool_result");
  const call = { type: "tool_use", id: `call_${bodies.length}`, name: "look", input: {} };
  const content = isAnswered ? [{ type: "text", text: "Seen." }] : [call];
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify({
      ...{
        id: `msg_${bodies.length}`,
        type: "message",
        role: "assistant",
        model: "claude-sonnet-4-5",
        content,
      },
      ...{ stop_reason: isAnswered ? "end_turn" : "tool_use", usage: { input_tokens: 1, output_tokens: 1 } },
    }),
  );
});
const clientOptions = () => ({ baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
const fields = () => ({
  model: "claude-sonnet-4-5",
  apiKey: "none",
  clientOptions: clientOptions(),
  maxRetries: 0,
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => server.close());

const look = tool(() => "A cat.", { name: "look", description: "Looks.", schema: z.object({}) });
const five = { type: "ephemeral" };
const fiveMinutes = { type: "ephemeral", ttl: "5m" };
const hour = { type: "ephemeral", ttl: "1h" };
const markedIn = (body: Body) => JSON.stringify(body).match(/"cache_control"/g)?.length ?? 0;
const endOf = (content: string | Part[]) => (typeof content === "string" ? content : content.at(-1));
const blockIn = (content: string | Part[]) =>
  typeof content !== "string" && content.find(({ text }) => text?.trimEnd().endsWith("</memory>"));

interface Case {
  readonly middleware?: (memory: object) => unknown[];
  readonly systemPrompt?: unknown;
  readonly model?: () => Promise<unknown> | unknown;
  readonly said?: unknown;
}

async function talk(
  { middleware = (memory) => [memory], systemPrompt, model, said = "Look!" }: Case,
  options = {},
) {
  bodies.length = 0;
  const memory = database.memory();
  const thread = newThread();
  await memory.memories.add(favouriteDish, { scope: addressOf(thread).scope });
  const agent = createAgent({
    model: await (model?.() ?? new ChatAnthropic(fields())),
    ...{
      tools: [look],
      middleware: middleware(memoryMiddleware(memory, options)),
      checkpointer: memory.checkpointer(),
    },
    ...(systemPrompt !== undefined && { systemPrompt }),
  } as never);
  const { messages } = await (agent as unknown as AnyGraph).invoke(
    { messages: [new HumanMessage({ content: said } as never)] },
    thread,
  );
  const recorded = await transcript(database, thread);
  expect(JSON.stringify([messages, recorded])).not.toContain("cache_control");
  return bodies;
}

describe("prompt 7: breakpoints", () => {
  const cached = { type: "text", text: "Be kind.", cache_control: five };
  it.each<[string, Case, number]>([
    ["without instructions", {}, 2],
    [
      "with instructions that are cached",
      { systemPrompt: new SystemMessage({ content: [cached] } as never) },
      3,
    ],
    [
      "beside as many as are allowed",
      {
        systemPrompt: new SystemMessage({
          content: [1, 2, 3].map((n) => ({ ...cached, text: `Be kind ${n}.` })),
        } as never),
      },
      4,
    ],
    ["of initChatModel", { model: () => initChatModel("anthropic:claude-sonnet-4-5", fields() as never) }, 2],
    ["bound to settings", { model: () => new ChatAnthropic(fields()).withConfig({ tags: ["mine"] }) }, 2],
  ])("prompt 7: Claude %s is told to cache the block and the last message", async (_, given, count) => {
    const [first, second] = await talk(given);
    expect([first, second].map((body) => markedIn(body!))).toEqual([count, count]);
    expect([endOf(first!.messages.at(-1)!.content), endOf(second!.messages.at(-1)!.content)]).toEqual([
      { type: "text", text: expect.stringContaining("Look!"), cache_control: five },
      { type: "tool_result", tool_use_id: "call_1", content: "A cat.", cache_control: five },
    ]);
    if (count < 4) expect(blockIn(first!.system!)).toMatchObject({ cache_control: five });
  });

  it.each([
    ["before", undefined, fiveMinutes],
    ["after", undefined, fiveMinutes],
    ["before", "1h", hour],
    ["after", "1h", hour],
  ] as const)(
    "prompt 7: beside anthropicPromptCachingMiddleware %s it, ttl %s",
    async (order, ttl, control) => {
      const caching = anthropicPromptCachingMiddleware({
        minMessagesToCache: 1,
        ...(ttl && { ttl }),
      } as never);
      const middleware = (memory: object) => (order === "before" ? [caching, memory] : [memory, caching]);
      const [, second] = await talk({ middleware });
      expect(second!.cache_control).toEqual(control);
      expect(blockIn(second!.system!)).toMatchObject({ cache_control: control });
      expect(markedIn(second!)).toBe(2);
    },
  );

  it("prompt 7: a block in the user's message ends there, and a last part that is no text is marked by the API", async () => {
    const picture = { type: "image_url", image_url: { url: "https://example.com/cat.png" } };
    const [first] = await talk({ said: [{ type: "text", text: "Look!" }, picture] }, { injectAs: "user" });
    const [{ content }] = first!.messages as [{ content: Part[] }];
    expect(content[0]).toMatchObject({ text: expect.stringContaining("zanzibar"), cache_control: five });
    expect(content[0]!.text).not.toContain("Look!");
    expect(first!.cache_control).toEqual(five);
    expect(markedIn(first!)).toBe(2);
  });

  it("prompt 7: other models get nothing, also where other middleware chose them after memory", async () => {
    const other = new ScriptedChatModel({ replies: () => "Seen." });
    const choose = createMiddleware({
      name: "choose",
      wrapModelCall: (request, handler) => handler({ ...request, model: other }),
    });
    await talk({ middleware: (memory) => [memory, choose] });
    await talk({ model: () => other });
    expect(JSON.stringify(other.calls)).not.toContain("cache_control");
    expect(bodies).toEqual([]);
  });
});
