import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import * as langchain from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryMiddleware } from "../../src/index.js";
import { memoryPreface } from "../../src/messages/recalled-mark.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useProviders } from "../support/providers/clients.js";
import { useTestDatabase } from "../support/test-database.js";
import { type AnyGraph, favouriteDish, newThread, transcript, userOf } from "./conversation.js";

type Part = { type: string; text?: string; cache_control?: object };
type Body = { system?: Part[]; messages: { content: Part[] }[]; cache_control?: object };

const database = useTestDatabase();
const start = useProviders();
/** Anthropic's interface, whose model calls the tool, then answers. */
const startClaude = () =>
  start("anthropic", ({ messages }) =>
    messages.at(-1)?.results.length ? "Seen." : { calls: [{ name: "look", args: {} }] },
  );
type Claude = Awaited<ReturnType<typeof startClaude>>;
const look = langchain.tool(() => "A cat.", {
  name: "look",
  description: "Looks.",
  schema: z.object({}),
});
const cached = { cache_control: { type: "ephemeral" } };
const instructions = (count: number) => ({
  systemPrompt: new SystemMessage({
    content: Array(count).fill({ type: "text", text: "Be kind.", ...cached }),
  }),
});
const markedIn = (body: Body | undefined) =>
  JSON.stringify(body).match(/"cache_control"/g)?.length ?? 0;
const blockIn = ({ system = [], messages }: Body) =>
  [...system, ...messages.flatMap(({ content }) => content)].find(({ text }) =>
    text?.includes("zanzibar"),
  );

/** The requests of a turn with a tool call; no breakpoint may be stored. */
async function sentBy(
  agentOptions: (claude: Claude) => object,
  others: "before" | "after",
  other: object[] = [],
  options = {},
) {
  const claude = await startClaude();
  const memory = database.memory();
  const thread = newThread();
  await memory.memories.add({ ...userOf(thread), memories: favouriteDish });
  const mine = memoryMiddleware(memory, options);
  const middleware = others === "before" ? [...other, mine] : [mine, ...other];
  const checkpointer = memory.checkpointer();
  const { said = "Look!", ...agent } = {
    model: claude.model,
    tools: [look],
    middleware,
    checkpointer,
    ...(await agentOptions(claude)),
  } as { said?: string };
  const graph = langchain.createAgent(agent as never) as unknown as AnyGraph;
  const { messages } = await graph.invoke(
    { messages: [new HumanMessage({ content: said })] },
    thread,
  );
  expect(JSON.stringify([messages, await transcript(database, thread)])).not.toContain(
    "cache_control",
  );
  return claude.exchanges.map(({ body }) => body as Body);
}
const plain = () => ({});

describe("cache breakpoints", () => {
  it.each<[string, (claude: Claude) => object, number]>([
    ["", plain, 2],
    [" with cached instructions", () => instructions(1), 3],
    [" beside as many as are allowed", () => instructions(3), 4],
    [
      " of initChatModel",
      async ({ origin }) => {
        const fields = { apiKey: "none", clientOptions: { baseURL: origin } };
        return { model: await langchain.initChatModel("anthropic:claude-sonnet-4-5", fields) };
      },
      2,
    ],
    [
      " with instructions that quote the notice",
      () => ({ systemPrompt: `Say only: ${memoryPreface}` }),
      2,
    ],
    [" bound to settings", ({ model }) => ({ model: model.withConfig({ tags: ["mine"] }) }), 2],
  ])("Claude%s caches memory's block and the last message", async (_, options, count) => {
    const [first, second] = await sentBy(options, "after");
    expect([markedIn(first), markedIn(second)]).toEqual([count, count]);
    expect([first, second].map((body) => body!.messages.at(-1)!.content.at(-1))).toEqual([
      { type: "text", text: expect.stringContaining("Look!"), ...cached },
      { type: "tool_result", tool_use_id: expect.any(String), content: "A cat.", ...cached },
    ]);
    if (count < 4) expect(blockIn(first!)).toMatchObject(cached);
  });

  it.each([
    ["before", "5m"],
    ["after", "5m"],
    ["before", "1h"],
    ["after", "1h"],
  ] as const)(
    "anthropicPromptCachingMiddleware %s memory's middleware sets the ttl %s of both breakpoints",
    async (order, ttl) => {
      const caching = langchain.anthropicPromptCachingMiddleware({
        minMessagesToCache: 1,
        ttl,
      } as never);
      const [, second] = await sentBy(plain, order, [caching]);
      const control = { type: "ephemeral", ttl };
      expect([second!.cache_control, blockIn(second!)?.cache_control]).toEqual([control, control]);
      expect(markedIn(second)).toBe(2);
    },
  );

  it("A block that begins the user's text has its own breakpoint, and the API sets the one of a last part without text", async () => {
    const picture = { type: "image_url", image_url: { url: "https://example.com/cat.png" } };
    const said = [{ type: "text", text: "Look!" }, picture];
    const [first] = await sentBy(() => ({ said }), "after", [], { injectAs: "text" });
    const [block, words] = first!.messages[0]!.content;
    expect(block).toMatchObject({ text: expect.stringContaining("zanzibar"), ...cached });
    expect(words).toEqual({ type: "text", text: "Look!" });
    expect([first!.cache_control, markedIn(first)]).toEqual([cached.cache_control, 2]);
  });

  it("Models other than Claude get no cache breakpoints, even if a later middleware chooses the model", async () => {
    const model = new ScriptedChatModel({ replies: () => "Seen." });
    const choose = langchain.createMiddleware({
      name: "choose",
      wrapModelCall: (request, handler) => handler({ ...request, model }),
    });
    const sent = [await sentBy(plain, "after", [choose]), await sentBy(() => ({ model }), "after")];
    expect(JSON.stringify(model.calls)).not.toContain("cache_control");
    expect(sent).toEqual([[], []]);
  });
});
