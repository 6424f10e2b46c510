import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, interrupt } from "@langchain/langgraph";
import {
  tool as aiTool,
  generateText,
  type ModelMessage,
  stepCountIs,
  streamText,
  wrapLanguageModel,
} from "ai";
import { z } from "zod";
import { memoryModelMiddleware, memoryQueryToolFor } from "../../packages/ai-sdk/src/index.js";
import { consentTool, type Memory, memoryQueryTool } from "../../src/index.js";
import type { TurnOptions } from "../../src/langgraph/run/node-options.js";
import { addressOf, type newThread, streamed, userOf } from "../langgraph/conversation.js";
import { agentIn, type Way, ways } from "../langgraph/ways.js";
import { aiSDKModel } from "../support/providers/clients.js";
import type { ModelRequest, Reply } from "../support/providers/provider.js";
import { candidate } from "../support/task-model.js";

/** What the user says in each turn; the model does what the words ask. */
export const turns: readonly string[] = [
  "Hello.",
  "Look at the sea.",
  "I work at the bakery of my aunt.",
  "Look at the sea and the sky.",
  "Buy bread.",
  "Tell me a long story.",
  "Look at the sun.",
  "Plan a trip.",
  "Tell me a long story about bread.",
  "Ask memory.",
  "Do I work?",
  "Yes, remember Porto.",
  "Tell me a long story about aunts.",
  "Look at the sea and the moon.",
  "Look at nothing.",
  "Tell me a long story about boats.",
  "Buy flour.",
  "Plan nothing.",
  "Tell me a long story about the moon.",
  "Goodbye.",
];

const calling = (...calls: { name: string; args: object }[]): Reply => ({
  text: "One moment.",
  reasoning: "It has to be done.",
  calls,
});

/** What the model calls where the user says so; a model without the tool answers. */
const deeds: readonly [
  RegExp,
  (said: string, prompt: string) => { name: string; args: object }[],
][] = [
  [
    /^Look at (.+)\.$/,
    (said) => {
      const places = said.slice("Look at ".length, -1).split(" and ");
      return places.map((at) => ({ name: "look", args: at === "nothing" ? {} : { at } }));
    },
  ],
  [/^Buy/, (said) => [{ name: "buy", args: { what: said } }]],
  [/^Plan/, (task) => ["planner", "executor"].map((name) => ({ name, args: { task } }))],
  [/^Ask memory/, () => [{ name: "memory_query", args: { query: "aunt's bakery" } }]],
  [
    /^Yes, remember/,
    (quote, prompt) => {
      const proposal = /- ([0-9a-f]{8,}): city: Porto/.exec(prompt)?.[1];
      const args = { proposal, decision: "approve", quote };
      return proposal ? [{ name: "memory_consent", args }] : [];
    },
  ],
];

const works = ["summary", "facts", "insights", "verdicts"];

/** What a request of memory's own work asks for. A model that thinks cannot be made to call a tool. */
export const workOf = ({ schemas }: ModelRequest): string | undefined =>
  works.find((work) => Object.hasOwn(schemas[0]?.schema.properties ?? {}, work));

/** Answers the agent and its subagents, and does memory's own work. */
export function replyTo(request: ModelRequest): Reply {
  const prompt = [request.system, ...request.messages.flatMap(({ texts }) => texts)].join("\n");
  const work = workOf(request);
  if (work === "summary") return { structured: { reasoning: "", summary: "They talked." } };
  if (work === "facts") return learned(prompt);
  if (work) return { structured: { [work]: [] } };
  const { results, texts } = request.messages.at(-1)!;
  if (results.length > 0) return "It is done.";
  const said = turns.find((turn) => texts.join("\n").endsWith(turn)) ?? "";
  const [, deed] = deeds.find(([words]) => words.test(said)) ?? [];
  const calls = (deed?.(said, prompt) ?? []).filter(({ name }) => request.toolNames.includes(name));
  if (calls.length > 0) return calling(...calls);
  return said.includes("story")
    ? `Once upon a time. ${"The moon rose. ".repeat(400)}`
    : "So it is.";
}

const learned = (prompt: string): Reply => ({
  structured: {
    reasoning: "",
    facts: prompt.includes("bakery of my aunt")
      ? [candidate("The user works at the bakery.", "I work at the bakery of my aunt")]
      : [],
  },
});

export interface Talk {
  /** One turn, with all that was shown to the program that runs it. */
  say(text: string, streams: boolean): Promise<unknown>;
  /** The messages that the graph keeps; null where there is none. */
  kept(): Promise<BaseMessage[] | null>;
}

interface TalkOptions extends TurnOptions {
  readonly memory: Memory;
  readonly model: BaseChatModel;
  /** Of the provider's server. */
  readonly origin: string;
  readonly thread: ReturnType<typeof newThread>;
}

const placeSchema = z.object({ at: z.string() });
const goodsSchema = z.object({ what: z.string() });

async function graphTalk(way: Way, options: TalkOptions): Promise<Talk> {
  const { origin: _, thread, ...build } = options;
  const look = tool(({ at }) => `saw ${at}`, {
    name: "look",
    description: "Looks.",
    schema: placeSchema,
  });
  const buy = tool(({ what }) => `${what} ${interrupt("Sure?")}`, {
    name: "buy",
    description: "Buys.",
    schema: goodsSchema,
  });
  const tools = [look, buy, memoryQueryTool(build.memory), consentTool(build.memory)];
  const graph = await agentIn(way, { ...build, tools });
  const streamMode = ["messages" as const, "values" as const, "custom" as const];
  const run = (input: unknown, streams: boolean) =>
    streams ? streamed(graph, input, { ...thread, streamMode }) : graph.invoke(input, thread);
  return {
    async say(text, streams) {
      const shown = [await run({ messages: [new HumanMessage(text)] }, streams)];
      if ((await graph.getState(thread)).next.length > 0)
        shown.push(await run(new Command({ resume: "yes" }), streams));
      return shown;
    },
    kept: async () => (await graph.getState(thread)).values.messages,
  };
}

function aiSDKTalk({ memory, origin, thread, injectAs }: TalkOptions): Talk {
  const middleware = memoryModelMiddleware(memory, { ...addressOf(thread), injectAs });
  const model = wrapLanguageModel({ model: aiSDKModel(origin), middleware });
  const tools = {
    look: aiTool({ inputSchema: placeSchema, execute: ({ at }) => `saw ${at}` }),
    buy: aiTool({ inputSchema: goodsSchema, execute: ({ what }) => what, needsApproval: true }),
    memory_query: memoryQueryToolFor(memory, userOf(thread)),
  };
  const messages: ModelMessage[] = [];
  const run = async (streams: boolean) => {
    const call = { model, tools, messages, stopWhen: stepCountIs(4) };
    if (!streams) return generateText(call);
    const { content, responseMessages } = streamText(call);
    return { content: await content, responseMessages: await responseMessages };
  };
  return {
    async say(text, streams) {
      messages.push({ role: "user", content: text });
      const { content, responseMessages } = await run(streams);
      messages.push(...responseMessages);
      const asked = content.find((part) => part.type === "tool-approval-request");
      if (!asked) return content;
      const { approvalId } = asked;
      const answer = { type: "tool-approval-response" as const, approvalId, approved: true };
      messages.push({ role: "tool", content: [answer] });
      const resumed = await run(streams);
      messages.push(...resumed.responseMessages);
      return [content, resumed.content];
    },
    kept: async () => null,
  };
}

function plainTalk({ memory, model, thread, injectAs }: TalkOptions): Talk {
  const address = addressOf(thread);
  return {
    async say(query) {
      const { messages, shown } = await memory.promptFor({ ...address, query, injectAs });
      const answer = await model.invoke(messages);
      await memory.remember({ ...address, messages: [new HumanMessage(query), answer], shown });
      return answer;
    },
    kept: async () => null,
  };
}

const others = { "AI SDK": aiSDKTalk, "plain code": plainTalk };

export type WayIn = Way | keyof typeof others;
export const waysIn: readonly WayIn[] = [...ways, "AI SDK", "plain code"];

/** A conversation of an agent that has memory in `way`. */
export const talkIn = async (way: WayIn, options: TalkOptions): Promise<Talk> =>
  way === "AI SDK" || way === "plain code" ? others[way](options) : graphTalk(way, options);
