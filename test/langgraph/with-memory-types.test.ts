import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  MessagesAnnotation,
  MessagesValue,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { createAgent } from "langchain";
import { expectTypeOf, it } from "vitest";
import { z } from "zod";
import { withMemory } from "../../src/index.js";
import { ScriptedChatModel } from "../../src/testing/index.js";
import { useTestDatabase } from "../support/test-database.js";
import { answering, newThread } from "./conversation.js";

const database = useTestDatabase();
const hi = () => [new HumanMessage("hi")];

it("a graph's input and output are the agent's own", async () => {
  const state = Annotation.Root({ ...MessagesAnnotation.spec, mood: Annotation<"good" | "bad">() });
  const agent = new StateGraph(state, {
    input: MessagesAnnotation,
    output: Annotation.Root({ mood: state.spec.mood }),
    context: z.object({ tone: z.string() }),
  })
    .addNode("chat", () => ({ mood: "good" as const }))
    .addEdge(START, "chat")
    .compile();
  const graph = withMemory(agent, database.memory()).compile();
  const result = await graph.invoke({ messages: hi() }, { ...newThread(), context: { tone: "kind" } });

  expectTypeOf(result).toEqualTypeOf<{ mood: "good" | "bad" }>();
  expectTypeOf<typeof MessagesAnnotation.Update>().toExtend<Parameters<typeof graph.invoke>[0]>();
  // @ts-expect-error: messages are no number
  void (() => graph.invoke({ messages: 7 }, newThread()));
  // @ts-expect-error: the context is the agent's own
  void (() => graph.invoke({ messages: hi() }, { context: { tone: 7 } }));
  // @ts-expect-error: the agent has no such state key
  void result.messages;
});

it("a StateSchema's types stay", async () => {
  const schema = new StateSchema({ messages: MessagesValue, count: z.number().default(0) });
  const agent = new StateGraph(schema)
    .addNode("chat", () => ({ count: 1 }))
    .addEdge(START, "chat")
    .compile();
  const graph = withMemory(agent, database.memory()).compile();
  const result = await graph.invoke({ messages: hi() }, newThread());
  expectTypeOf(result).toEqualTypeOf<Awaited<ReturnType<typeof agent.invoke>>>();
  expectTypeOf(result.count).toBeNumber();
});

it("an agent of createAgent keeps its structured response", async () => {
  const model = new ScriptedChatModel({ replies: [{ structured: { mood: "good" } }] });
  const agent = createAgent({ model, tools: [], responseFormat: z.object({ mood: z.string() }) });
  const graph = withMemory(agent, database.memory()).compile();
  const result = await graph.invoke({ messages: hi() }, newThread());
  expectTypeOf(result.structuredResponse).toEqualTypeOf<{ mood: string }>();
  expectTypeOf(result.messages).toExtend<BaseMessage[]>();
});

it("only an agent can be wrapped", () => {
  const builder = new StateGraph(MessagesAnnotation).addNode("chat", () => ({})).addEdge(START, "chat");
  // @ts-expect-error: it is not compiled
  void (() => withMemory(builder, database.memory()));
  // @ts-expect-error: a model is no agent
  void (() => withMemory(answering(), database.memory()));
});
