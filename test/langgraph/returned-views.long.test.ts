import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
} from "@langchain/core/messages";
import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import {
  type Memory,
  memoryAnnotation,
  modelView,
  recallNode,
  rememberNode,
} from "../../src/index.js";
import { memoryPreface } from "../../src/messages/recalled-mark.js";
import type { InjectAs } from "../../src/prompt/turn-messages.js";
import type { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import {
  type AnyGraph,
  addressOf,
  agentWithMemory,
  answering,
  knownThread,
  lines,
  newThread,
  say,
  summarizing,
  transcript,
} from "./conversation.js";

const database = useTestDatabase();
const config = { summaries: { afterSeq: 5 } };

const roles: Readonly<Record<string, string>> = {
  human: "user",
  ai: "assistant",
  system: "system",
};
const plain = (message: BaseMessage, ...keys: ("content" | "id")[]) => ({
  role: roles[message.getType()],
  ...Object.fromEntries(keys.map((key) => [key, message[key]])),
});

/** What a node may return of its view. */
const returns: Record<string, (view: BaseMessage[]) => unknown[]> = {
  whole: (view) => view,
  "the block alone": (view) => view.slice(0, 1),
  backwards: (view) => view.toReversed(),
  "through JSON": (view) => mapStoredMessagesToChatMessages(mapChatMessagesToStoredMessages(view)),
  "as plain objects, without marks": (view) =>
    view.map((message) => plain(message, "content", "id")),
  "the block as a plain object, without mark and id": (view) =>
    view
      .filter((message) => message.getType() === "system" || message.name === "memory")
      .map((message) => plain(message, "content")),
};

/** A hand-built graph whose node returns its view, or a part of it, with its answer. */
function byHand(memory: Memory, give: (view: BaseMessage[]) => unknown[], injectAs: InjectAs) {
  const model = answering();
  const graph = new StateGraph({ ...MessagesAnnotation.spec, ...memoryAnnotation.spec })
    .addNode("recall", recallNode(memory))
    .addNode("chat", async ({ messages, mnemograph }) => {
      const view = modelView(messages, mnemograph, injectAs);
      return { messages: [...give(view), await model.invoke(view)] as BaseMessage[] };
    })
    .addNode("check", async ({ messages, mnemograph }) => ({
      messages: [await model.invoke(modelView(messages, mnemograph, injectAs))],
    }))
    .addNode("remember", rememberNode(memory))
    .addEdge(START, "recall")
    .addEdge("recall", "chat")
    .addEdge("chat", "check")
    .addEdge("check", "remember")
    .compile({ checkpointer: memory.checkpointer() });
  return { graph, model };
}
function wrapped(memory: Memory, give: (view: BaseMessage[]) => unknown[], injectAs: InjectAs) {
  const build = (model: ScriptedChatModel) =>
    new StateGraph(MessagesAnnotation)
      .addNode("chat", async ({ messages }) => ({
        messages: [...give(messages), await model.invoke(messages)] as BaseMessage[],
      }))
      .addNode("check", async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, "chat")
      .addEdge("chat", "check")
      .compile();
  return agentWithMemory(memory, { injectAs, build });
}

const cases = Object.keys(returns).flatMap((give) =>
  (["message", "system", "text"] as const).flatMap((injectAs) =>
    (["by hand", "within withMemory"] as const).map((where) => [give, injectAs, where] as const),
  ),
);

describe("a node that returns its view", () => {
  it.each(cases)(
    "A returned view (%s, as %s, %s) changes neither the conversation nor the next prompt",
    async (give, injectAs, where) => {
      const memory = database.memory({ model: summarizing(), config });
      const thread = await knownThread(memory);
      // Said where no checkpoint holds it.
      const earlier = [new HumanMessage("early"), new AIMessage("bird")];
      await memory.record({ ...addressOf(thread), messages: earlier });
      const make = where === "by hand" ? byHand : wrapped;
      const { graph, model } = make(memory, returns[give]!, injectAs);
      const said = ["early", "bird"];
      for (const round of [1, 2, 3]) {
        const { messages } = await say(graph, `question ${round}`, thread);
        said.push(`question ${round}`, `answer ${2 * round - 1}`, `answer ${2 * round}`);
        expect(lines(messages).join()).not.toMatch(/Long-term Memory|Previous context/);
        expect(new Set(lines(messages)).size).toBe(messages.length);
        expect(await transcript(database, thread)).toEqual(said);
      }
      const calls = model.calls.filter((_, index) => where === "by hand" || index % 2 === 0);
      for (const { messages } of calls) {
        const shown = lines(messages).join("\n");
        expect(shown.match(/zanzibar/g)).toHaveLength(1);
        expect(shown.split(memoryPreface)).toHaveLength(2);
        for (const text of ["early", "question 1"])
          expect(shown.split(`human: ${text}`).length).toBeLessThan(3);
      }
      const last = lines(calls.at(-1)!.messages).at(-1);
      expect(last).toMatch(where === "by hand" ? /answer 5$/ : /question 3$/);
      const { values } = await (graph as unknown as AnyGraph).getState(thread);
      expect(JSON.stringify(values)).not.toMatch(/zanzibar|early/);
    },
  );

  it("No memory block is summarised, not even one that an assistant repeated", async () => {
    const model = summarizing();
    const memory = database.memory({ model, config: { summaries: { afterSeq: 1 } } });
    const address = addressOf(newThread());
    const block = "<memory>\n- instrument: cello\n</memory>";
    await memory.remember({
      ...address,
      messages: [
        new HumanMessage("Hi. [Previous context: cello]\n\nWhat do you know?"),
        new AIMessage(`I was told ${block} and ## nothing else.`),
      ],
    });
    const [prompt] = model.calls.map(({ messages }) => lines(messages).join("\n"));
    expect(prompt).toContain("What do you know?");
    expect(prompt).toContain("and ## nothing else.");
    expect(prompt).not.toContain("cello");
  });
});
