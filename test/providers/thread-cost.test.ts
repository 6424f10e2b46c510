import { tool } from "@langchain/core/tools";
import { generateText, streamText, wrapLanguageModel } from "ai";
import { expect, it } from "vitest";
import { z } from "zod";
import { memoryModelMiddleware } from "../../packages/ai-sdk/src/index.js";
import { type AnyGraph, addressOf, newThread } from "../langgraph/conversation.js";
import { agentIn } from "../langgraph/ways.js";
import {
  aiSDKModel,
  injectAsOf,
  providerNames,
  reasoningOptions,
  useProviders,
} from "../support/providers/clients.js";
import type { Reply } from "../support/providers/provider.js";
import type { Exchange } from "../support/providers/provider-server.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const start = useProviders();

const look = tool(() => "A cat.", {
  name: "look",
  description: "Looks.",
  schema: z.object({ at: z.string() }),
});

/** The replies of each turn. */
const turns: readonly (readonly Reply[])[] = [
  [
    {
      reasoning: "Somebody is there.",
      text: "I look.",
      calls: [
        { name: "look", args: { at: "the door" } },
        { name: "look", args: { at: "it" } },
      ],
    },
    { reasoning: "Two of them.", text: "Two cats." },
  ],
  ["You are welcome."],
  [{ refusal: "I cannot help with that." }],
  [{ text: "They walked along the wall for an hour.", cutAt: 12 }],
  [{ status: 500 }],
  [{ fault: "closes" }],
  ["Here I am again."],
];

const steps = { title: "Cats", steps: ["Open the door."] };
const wrapped = () => "Let me think about it.";
/** The replies to each background call: a bad answer is asked for again. */
const tasks: readonly (readonly Reply[])[] = [
  [{ structured: steps }],
  [{ structured: steps, wrapped }, { structured: steps }],
  [{ structured: steps, cutAt: 15 }],
  [{ refusal: "I cannot write that." }],
  [{ status: 500 }],
];

/** What some requests took, as the provider reported it. */
function taken(exchanges: readonly Exchange[]) {
  const usages = exchanges.flatMap(({ usage }) => usage ?? []);
  const sum = (field: "input" | "cached" | "output") =>
    usages.reduce((total, usage) => total + usage[field], 0);
  return {
    calls: usages.length,
    input: sum("input"),
    cached: sum("cached"),
    output: sum("output"),
  };
}

const shown = (of: {
  calls: number;
  promptTokens: number | null;
  cachedTokens: number | null;
  outputTokens: number;
}) => ({
  calls: of.calls,
  input: of.promptTokens ?? 0,
  cached: of.cachedTokens ?? 0,
  output: of.outputTokens,
});

const frontCases = providerNames.flatMap((name) =>
  [false, true].map((streams) => ({ name, streams })),
);
it.each(frontCases)(
  "What a thread cost is what the provider reported, to the token: $name, streaming $streams",
  async ({ name, streams }) => {
    const replies = turns.flat();
    const { model, exchanges } = await start(
      name,
      (_, index) => replies[index] ?? "",
      reasoningOptions[name],
    );
    const memory = db.memory();
    const options = { memory, model: model as never, tools: [look], injectAs: injectAsOf(name) };
    const agent: AnyGraph = await agentIn("middleware", options);
    const thread = newThread();
    const made: (readonly Exchange[])[] = [];
    for (const [turn] of turns.entries()) {
      const before = exchanges.length;
      const input = { messages: [{ role: "user", content: `Question ${turn}` }] };
      const config = { ...thread, streamMode: "messages" };
      try {
        if (streams) for await (const _ of await agent.stream(input, config));
        else await agent.invoke(input, thread);
      } catch {
        // Turns 4 and 5 fail.
      }
      made.push(exchanges.slice(before));
    }
    expect(exchanges.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    const cost = await memory.threads.cost(addressOf(thread));
    expect(cost.turns.toReversed().map(shown)).toEqual(made.map(taken));
    expect(shown(cost.total)).toEqual(taken(exchanges));
  },
);

it.each(providerNames)(
  "What background calls cost is what the provider reported, to the token, on %s",
  async (name) => {
    let replies: Reply[] = [];
    const back = await start(name, () => replies.shift() ?? "Nothing.");
    const memory = db.memory({ model: back.model, config: { memories: { extract: false } } });
    const address = addressOf(newThread());
    await memory.remember({
      ...address,
      messages: [{ role: "user", content: "How do I let cats in?" }],
    });
    for (const task of tasks) {
      replies = [...task];
      await memory.procedures.write(address).catch(() => {});
      const { calls, input, output } = taken(back.exchanges);
      expect((await memory.threads.cost(address)).background).toEqual([
        { kind: "procedure", calls, inputTokens: input, outputTokens: output },
      ]);
    }
    expect(back.exchanges.flatMap(({ refused }) => refused ?? [])).toEqual([]);
  },
);

it.each([false, true])(
  "What a thread of the AI SDK cost is what was reported, streaming %s",
  async (streams) => {
    const { origin, exchanges } = await start("chat completions", () => ({
      reasoning: "Hm.",
      text: "Yes.",
    }));
    const memory = db.memory();
    const address = addressOf(newThread());
    const middleware = memoryModelMiddleware(memory, address);
    const model = wrapLanguageModel({ model: aiSDKModel(origin), middleware });
    for (const prompt of ["Hello.", "And then?"]) {
      if (streams) await streamText({ model, prompt }).text;
      else await generateText({ model, prompt });
    }
    const cost = await memory.threads.cost(address);
    expect(shown(cost.total)).toEqual(taken(exchanges));
  },
);
