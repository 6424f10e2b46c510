import type { HumanMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { createAgent } from "langchain";
import type pg from "pg";
import {
  type Memory,
  memoryAnnotation,
  memoryMiddleware,
  modelView,
  recallNode,
  rememberNode,
  withMemory,
} from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";

/** A graph as its users run it. */
export interface Runnable {
  invoke(
    input: { messages: HumanMessage[] },
    config: object,
  ): Promise<{ messages: { text: string }[] }>;
  stream(input: { messages: HumanMessage[] }, config: object): Promise<AsyncIterable<unknown>>;
}

/** What the model says in every turn. */
export const answer = "That depends on the weather.";

/** Graphs with and without memory, whose model takes `latencyMs`. */
export function graphsOf(
  memory: Memory,
  { pool, schema }: { readonly pool: pg.Pool; readonly schema: string },
  latencyMs: number,
) {
  const model = new ScriptedChatModel({ replies: () => answer, latencyMs });
  const theirs = new PostgresSaver(pool, undefined, { schema });
  const ours = memory.checkpointer();
  const chat = async ({ messages }: typeof MessagesAnnotation.State) => ({
    messages: [await model.invoke(messages)],
  });
  const agent = () =>
    new StateGraph(MessagesAnnotation).addNode("chat", chat).addEdge(START, "chat");
  const State = Annotation.Root({ ...MessagesAnnotation.spec, ...memoryAnnotation.spec });
  const nodes = new StateGraph(State)
    .addNode("recall", recallNode(memory))
    .addNode("chat", async ({ messages, mnemograph }) =>
      chat({ messages: modelView(messages, mnemograph) }),
    )
    .addNode("remember", rememberNode(memory))
    .addEdge(START, "recall")
    .addEdge("recall", "chat")
    .addEdge("chat", "remember");
  const made = {
    plain: agent().compile({ checkpointer: theirs }),
    plainOnOurs: agent().compile({ checkpointer: ours }),
    createAgent: createAgent({ model, tools: [], checkpointer: theirs }),
    nodes: nodes.compile({ checkpointer: ours }),
    middleware: createAgent({
      model,
      tools: [],
      middleware: [memoryMiddleware(memory)],
      checkpointer: ours,
    }),
    withMemory: withMemory(agent().compile(), memory).compile({ checkpointer: ours }),
  };
  return made as unknown as { readonly [Name in keyof typeof made]: Runnable };
}
