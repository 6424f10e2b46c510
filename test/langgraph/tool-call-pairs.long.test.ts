import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { type Memory, modelView, type Recalled, withMemory } from "../../src/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { addressOf, newThread, summarizing } from "./conversation.js";

const database = useTestDatabase();

interface Round {
  readonly input: BaseMessage;
  readonly answers: readonly BaseMessage[];
}

/** Plain rounds, tool calls one by one and in parallel, a missing result, and a call answered by the next input. */
function conversation(): Round[] {
  const says = (text: string) => new AIMessage({ id: `ai-${text}`, content: text });
  const calls = (...ids: string[]) =>
    new AIMessage({
      id: `ai-${ids[0]}`,
      content: "",
      tool_calls: ids.map((id) => ({ type: "tool_call", name: "look", args: {}, id })),
    });
  const result = (id: string) =>
    new ToolMessage({ id: `tool-${id}`, tool_call_id: id, content: `saw ${id}` });
  return Array.from({ length: 2 }, (_, lap) => {
    const at = (name: string) => `${name}${lap}`;
    const asks = (name: string) => new HumanMessage({ id: `human-${at(name)}`, content: at(name) });
    return [
      { input: asks("plain"), answers: [says(at("plain"))] },
      { input: asks("one"), answers: [calls(at("a")), result(at("a")), says(at("one"))] },
      {
        input: asks("parallel"),
        answers: [
          calls(at("b"), at("c"), at("d")),
          ...["d", "b", "c"].map((id) => result(at(id))),
          says(at("parallel")),
        ],
      },
      { input: asks("missing"), answers: [calls(at("e"), at("f")), result(at("f")), says(at("missing"))] },
      { input: asks("left open"), answers: [calls(at("g"))] },
      { input: result(at("g")), answers: [says(at("answered late"))] },
      {
        input: asks("chain"),
        answers: ["h", "i", "j"].flatMap((id) => [calls(at(id)), result(at(id))]).concat(says(at("chain"))),
      },
    ];
  }).flat();
}

/** The conversation with memory; `look` is given what an agent is shown in each round, and what it should be. */
async function converse(
  session: "full" | "bounded",
  windowMessages: number,
  look: (shown: BaseMessage[], expected: BaseMessage[]) => void,
) {
  const keepRecentMessages = windowMessages % 5;
  const memory = database.memory({
    model: summarizing(),
    config: { summaries: { windowMessages, afterSeq: windowMessages % 7, keepRecentMessages } },
  });
  let recalled: Recalled | undefined;
  const watched: Memory = {
    ...memory,
    recall: async (input) => {
      recalled = await memory.recall(input);
      return recalled;
    },
  };
  let round: Round;
  let shown: BaseMessage[] = [];
  const agent = new StateGraph(MessagesAnnotation)
    .addNode("chat", ({ messages }) => {
      shown = messages;
      return { messages: [...round.answers] };
    })
    .addEdge(START, "chat")
    .compile();
  const graph = withMemory(agent, watched, { session }).compile({ checkpointer: new MemorySaver() });
  const thread = newThread();
  const said: BaseMessage[] = [];
  for (round of conversation()) {
    await graph.invoke({ messages: [round.input] }, thread);
    said.push(round.input);
    const end = (recalled?.summary?.endSeq ?? -1) + 1;
    const kept = end - keepRecentMessages;
    const isHuman = (message: BaseMessage) => message.getType() === "human";
    const from =
      keepRecentMessages === 0 ? kept : said.slice(0, Math.max(0, kept) + 1).findLastIndex(isHuman);
    // Of what a summary covers, calls that lack a result are not shown again.
    const isBroken = ({ id }: BaseMessage) => /^(ai-e|tool-f)\d/.test(id ?? "");
    const expected = said.slice(from).filter((message, index) => index >= end - from || !isBroken(message));
    look(talkOf(shown), expected);
    // What an agent without a checkpointer would have been shown.
    look(talkOf(modelView([round.input], recalled)), expected);
    said.push(...round.answers);
  }
  return memory.summaries.list(addressOf(thread));
}

function talkOf(messages: readonly BaseMessage[]): BaseMessage[] {
  return messages.filter((message) => message.getType() !== "system");
}

/** Ids of tool calls whose results are in `messages` without the call before them. */
function orphans(messages: BaseMessage[]): string[] {
  const called = new Set<string | undefined>();
  return messages.flatMap((message) => {
    if (AIMessage.isInstance(message)) for (const { id } of message.tool_calls ?? []) called.add(id);
    return ToolMessage.isInstance(message) && !called.has(message.tool_call_id) ? [message.tool_call_id] : [];
  });
}

it.each([
  ["full", Array.from({ length: 19 }, (_, index) => index + 2)],
  ["bounded", [2, 3, 5, 8, 14, 20]],
] as const)(
  "a %s session never shows a tool's result without its call, nor loses a message, with windows of %j",
  async (session, windows) => {
    for (const windowMessages of windows) {
      const summaries = await converse(session, windowMessages, (shown, expected) => {
        expect(shown.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
        expect(orphans(shown)).toEqual([]);
      });
      expect(summaries.length).toBeGreaterThan(3);
    }
  },
  120_000,
);
