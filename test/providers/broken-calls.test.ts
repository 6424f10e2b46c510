import { randomUUID } from "node:crypto";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import { generateText, MissingToolResultsError, type ModelMessage, wrapLanguageModel } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryModelMiddleware } from "../../packages/ai-sdk/src/index.js";
import type { Memory } from "../../src/index.js";
import { addressOf, newThread, say } from "../langgraph/conversation.js";
import { agentIn, type Way, ways } from "../langgraph/ways.js";
import {
  aiSDKModel,
  injectAsOf,
  type ProviderName,
  providerNames,
  useProviders,
} from "../support/providers/clients.js";
import type { Script } from "../support/providers/provider.js";
import { recordingLogger } from "../support/recording-logger.js";
import { useTestDatabase } from "../support/test-database.js";

const db = useTestDatabase();
const start = useProviders();

const asks = (content: string) => new HumanMessage({ id: randomUUID(), content });
const says = (content: string) => new AIMessage({ id: randomUUID(), content });
const callsOf =
  (name: ProviderName) =>
  (...ids: (string | undefined)[]) => {
    const made = ids.map((id) => ({ ...(id && { id }), name: "send", args: { to: "Bo" } }));
    // Google's client sends only calls that are in the content.
    const content = made.map((functionCall) => ({ type: "functionCall", functionCall }));
    const fields = { id: randomUUID(), tool_calls: made };
    return new AIMessage({ ...fields, content: name === "google" ? content : "" });
  };
const result = (id: string) =>
  new ToolMessage({ id: randomUUID(), tool_call_id: id, name: "send", content: "sent" });
const [a, b] = ["aaaaaaaaa", "bbbbbbbbb"] as const;

const refusal = { type: "refusal", refusal: "No." };

/** What may follow the question of an earlier turn. */
const kinds: Record<string, (calls: ReturnType<typeof callsOf>) => BaseMessage[]> = {
  "a call without result": (calls) => [calls(a)],
  "a call without result, then an answer": (calls) => [calls(a), says("I cannot.")],
  "one of two results": (calls) => [calls(a, b), result(b)],
  "a result that came a turn later": (calls) => [calls(a), asks("Well?"), result(a), says("Sent.")],
  "a result behind an answer": (calls) => [calls(a), says("I will."), result(a)],
  "no answer to results": (calls) => [calls(a), result(a)],
  "a result without call": () => [result(a), says("Sent.")],
  "two results of one call": (calls) => [calls(a), result(a), result(a), says("Sent.")],
  "a call without id": (calls) => [calls(a, undefined), result(a), says("Sent.")],
  "an id that is used again": (calls) => [
    calls(a),
    result(a),
    says("Sent."),
    asks("Again."),
    calls(a),
  ],
  "an answer without content": () => [says("")],
  "an answer of thoughts alone": () => [
    new AIMessage({ content: [{ type: "thinking", thinking: "Hm." }] }),
  ],
  "a refusal instead of text": () => [
    new AIMessage({
      id: randomUUID(),
      content: [refusal],
      // ChatOpenAI sends this again, whatever the content is.
      response_metadata: { output: [{ type: "message", role: "assistant", content: [refusal] }] },
    }),
  ],
  "no answer": () => [],
  "arguments that are no JSON": () => [
    Object.assign(says(""), {
      invalid_tool_calls: [{ id: a, name: "send", args: '{"to' }],
      additional_kwargs: {
        tool_calls: [{ id: a, type: "function", function: { name: "send", arguments: '{"to' } }],
      },
    }),
  ],
};

/** Sends by a tool, of its own or of a member's, that asks for an approval. */
const script: Script = ({ messages, toolNames }) => {
  const { texts = [], results = [] } = messages.at(-1) ?? {};
  if (results.length > 0 || !texts.at(-1)?.endsWith("Send it.")) return "Yes.";
  const name = toolNames.includes("executor") ? "executor" : "send";
  return { calls: [{ name, args: { to: "Bo", task: "Send it." } }] };
};
const send = tool(() => interrupt("May I?"), {
  name: "send",
  description: "Sends.",
  schema: z.object({ to: z.string() }),
});

type Thread = ReturnType<typeof newThread>;
type Begin = (
  memory: Memory,
  origin: string,
  model: never,
  injectAs: ReturnType<typeof injectAsOf>,
) => (thread: Thread, messages: BaseMessage[]) => Promise<unknown>;

const inGraph =
  (way: Way, keepsState: boolean): Begin =>
  (memory, _, model, injectAs) => {
    const saver = keepsState ? {} : { checkpointer: null };
    const graph = agentIn(way, { memory, model, tools: [send], injectAs, ...saver });
    return async (thread, messages) => (await graph).invoke({ messages }, thread);
  };

const byPromptFor: Begin =
  (memory, _, model: { invoke(prompt: object): Promise<BaseMessage> }, injectAs) =>
  async (thread, [asked]) => {
    const query = asked!.text;
    const { messages, shown } = await memory.promptFor({ ...addressOf(thread), query, injectAs });
    const answer = await model.invoke(messages);
    await memory.remember({ ...addressOf(thread), messages: [asked!, answer], shown });
  };

/** The AI SDK refuses calls without a result itself. */
const byAISDK =
  (sendsAll: boolean): Begin =>
  (memory, origin, _, injectAs) => {
    const said = new Map<Thread, ModelMessage[]>();
    return async (thread, given) => {
      const middleware = memoryModelMiddleware(memory, { ...addressOf(thread), injectAs });
      const model = wrapLanguageModel({ model: aiSDKModel(origin), middleware });
      const earlier = (sendsAll && said.get(thread)) || [];
      const messages = [...earlier, ...given.map(asModelMessage)];
      const { response } = await generateText({ model, messages });
      said.set(thread, [...messages, ...response.messages]);
    };
  };

const toolName = "send";
function asModelMessage(message: BaseMessage): ModelMessage {
  if (HumanMessage.isInstance(message)) return { role: "user", content: message.text };
  if (ToolMessage.isInstance(message)) {
    const output = { type: "text" as const, value: message.text };
    const part = {
      type: "tool-result" as const,
      toolCallId: message.tool_call_id,
      toolName,
      output,
    };
    return { role: "tool", content: [part] };
  }
  const { tool_calls: made = [], text } = message as AIMessage;
  const parts = made.map(({ id: toolCallId = "", args: input }) => {
    return { type: "tool-call" as const, toolCallId, toolName, input };
  });
  return {
    role: "assistant",
    content: [...(text ? [{ type: "text" as const, text }] : []), ...parts],
  };
}

const speaksChat = (name: ProviderName) => ["chat completions", "strict compatible"].includes(name);

/** Each goes on with a thread: from what it keeps itself, or from the transcript. */
const waysOf = (
  name: ProviderName,
): [way: string, from: "state" | "transcript", begin: Begin][] => [
  ...ways.flatMap(
    (way): ReturnType<typeof waysOf> => [
      [way, "state", inGraph(way, true)],
      [way, "transcript", inGraph(way, false)],
    ],
  ),
  ["promptFor", "transcript", byPromptFor],
  ...(speaksChat(name)
    ? ([
        ["the AI SDK", "state", byAISDK(true)],
        ["the AI SDK", "transcript", byAISDK(false)],
      ] satisfies ReturnType<typeof waysOf>)
    : []),
];

async function started(name: ProviderName) {
  const provider = await start(name, script);
  return { ...provider, model: provider.model as never };
}

const expected = { refused: [], answered: 2 };

describe.each(providerNames)("after a broken call, on %s", (name) => {
  it.each(waysOf(name))(
    "No later request of %s is refused, from its %s",
    async (_, from, begin) => {
      const memory = db.memory();
      const { model, origin, exchanges } = await started(name);
      const ask = begin(memory, origin, model, injectAsOf(name));
      const outcome: Record<string, unknown> = {};
      for (const [kind, broken] of Object.entries(kinds)) {
        const thread = newThread();
        const history = [asks("Write to Bo."), ...broken(callsOf(name))];
        if (from === "transcript")
          await memory.remember({ ...addressOf(thread), messages: history });
        const before = exchanges.length;
        try {
          await ask(thread, [...(from === "state" ? history : []), asks("And then?")]);
          await ask(thread, [asks("Thanks.")]);
        } catch (error) {
          outcome[kind] = MissingToolResultsError.isInstance(error) ? expected : error;
        }
        const made = exchanges.slice(before);
        const refused = made.flatMap((exchange) => exchange.refused ?? []);
        outcome[kind] ??= { refused, answered: made.length };
      }
      expect(outcome).toEqual(
        Object.fromEntries(Object.keys(kinds).map((kind) => [kind, expected])),
      );
    },
  );

  it.each(ways)("An approval that is never answered ends no conversation: %s", async (way) => {
    const logger = recordingLogger();
    const memory = db.memory({ logger });
    const { model, exchanges } = await started(name);
    const graph = await agentIn(way, { memory, model, tools: [send], injectAs: injectAsOf(name) });
    const thread = newThread();
    for (const text of ["Hello.", "Send it.", "Never mind.", "Send it.", "Thanks."])
      await say(graph, text, thread);
    expect(exchanges.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    expect(exchanges.length).toBe(way === "supervisor" ? 7 : 5);
    const warned = logger.lines.filter((line) => line.includes("without an answer"));
    expect(warned.length).toBe(way === "middleware" ? 1 : 0);
  });
});
