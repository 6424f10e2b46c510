import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { historyOf, knownThread, lines, say, streamed } from "./conversation.js";

const database = useTestDatabase();

/** Takes the last message for the question. */
const rewriter = () =>
  new ScriptedChatModel({
    replies: (messages) => messages.at(-1)!.text,
  });

const queryOf: Record<string, (messages: BaseMessage[]) => Promise<string> | string> = {
  "the last message": (messages) => messages.at(-1)!.text,
  "a model that reads all messages": async (messages) => (await rewriter().invoke(messages)).text,
  "a text of all messages but memory": (messages) =>
    lines(messages.filter(({ name }) => name !== "memory")).join("\n"),
};

/** LangChain's template of a retrieval agent: a query, documents, an answer. */
function retrievalAgent(generate: (messages: BaseMessage[]) => Promise<string> | string) {
  const state = Annotation.Root({
    ...MessagesAnnotation.spec,
    queries: Annotation<string[]>({ reducer: (all, more) => [...all, ...more], default: () => [] }),
    documents: Annotation<string[]>(),
  });
  const model = new ScriptedChatModel({ replies: (_, index) => `answer ${index + 1}` });
  const agent = new StateGraph(state)
    .addNode("generateQuery", async ({ messages }) => ({ queries: [await generate(messages)] }))
    .addNode("retrieve", ({ queries }) => ({ documents: [`found for ${queries.at(-1)}`] }))
    .addNode("respond", async ({ messages, documents }) => {
      const instructions = { role: "system", content: documents.join("\n") };
      const { text } = await model.invoke([instructions, ...messages]);
      return { messages: [new AIMessage(text)] };
    })
    .addEdge(START, "generateQuery")
    .addEdge("generateQuery", "retrieve")
    .addEdge("retrieve", "respond")
    .compile();
  return { agent, model };
}

it.each(Object.keys(queryOf))(
  "A retrieval agent searches for what the user said, and its state holds no word of memory: %s",
  async (from) => {
    const memory = database.memory();
    const thread = await knownThread(memory);
    const { agent, model } = retrievalAgent(queryOf[from]!);
    const graph = withMemory(agent, memory).compile({ checkpointer: memory.checkpointer() });
    const asked = ["Where can I buy a snack?", "And a drink?", "What do I like?"];
    await say(graph, asked[0]!, thread);
    const input = { messages: [{ role: "user", content: asked[1] }] };
    const chunks = await streamed(graph, input, {
      ...thread,
      streamMode: ["values", "updates", "messages"],
      subgraphs: true,
    });
    const { queries } = await say(graph, asked[2]!, thread);

    expect(
      model.calls.map(({ messages }) => lines(messages).join().split("zanzibar").length),
    ).toEqual([2, 2, 2]);
    const last = (queries as string[]).map((query) => query.split("human: ").at(-1));
    expect(last).toEqual(asked);
    const shown = JSON.stringify([queries, chunks, await historyOf(graph, thread)]);
    expect(shown).not.toMatch(/zanzibar|Long-term Memory|Previous context/);
  },
);
