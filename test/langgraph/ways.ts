import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import {
  Annotation,
  type BaseCheckpointSaver,
  MessagesAnnotation,
  MessagesValue,
  MessagesZodMeta,
  MessagesZodState,
  START,
  StateGraph,
  StateSchema,
} from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { registry } from "@langchain/langgraph/zod";
import { createAgent } from "langchain";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import {
  createMemorySupervisor,
  type Memory,
  memoryAnnotation,
  memoryFields,
  memoryMiddleware,
  memoryStateFields,
  modelView,
  recallNode,
  rememberNode,
  withMemory,
} from "../../src/index.js";
import type { TurnOptions } from "../../src/langgraph/run/node-options.js";
import type { ScriptedCall } from "../../src/testing/index.js";
import { type AnyGraph, lines } from "./conversation.js";

/** An agent, its memory, and how the two ends of a turn behave. */
export interface Build extends TurnOptions {
  readonly memory: Memory;
  readonly model: BaseChatModel;
  readonly tools?: StructuredToolInterface[];
  /** @default the memory's own; null for none. */
  readonly checkpointer?: BaseCheckpointSaver | null;
  /** Of a graph of nodes. @default "StateSchema" */
  readonly state?: keyof typeof states | undefined;
}

/** States with memory's key, of each kind that LangGraph has. */
export const states = {
  Annotation: Annotation.Root({ ...MessagesAnnotation.spec, ...memoryAnnotation.spec }),
  StateSchema: new StateSchema({ messages: MessagesValue, ...memoryStateFields }),
  "MessagesZodState.extend(memoryFields)": MessagesZodState.extend(memoryFields),
  "MessagesZodState with fields of zod 3": MessagesZodState.extend({
    ...memoryFields,
    topic: z3.string().optional(),
  }),
  "an object of zod 4": z.object({
    messages: z.custom<BaseMessage[]>().register(registry, MessagesZodMeta as never),
    topic: z.string().optional(),
    ...memoryFields,
  }),
} as const;

const saverOf = ({ memory, checkpointer = memory.checkpointer() }: Build) =>
  checkpointer === null ? {} : { checkpointer };

function withNodes(build: Build) {
  const { memory, model, tools = [], session, injectAs, onError, memoryMode } = build;
  const bound = tools.length > 0 ? model.bindTools!(tools) : model;
  const state = states[build.state ?? "StateSchema"] as typeof states.StateSchema;
  const chat: typeof state.Node = async ({ messages, mnemograph }) => ({
    messages: [await bound.invoke(modelView(messages, mnemograph, injectAs))],
  });
  return (
    new StateGraph(state)
      .addNode("recall", recallNode(memory, { onError, memoryMode }))
      .addNode("chat", chat)
      .addNode("tools", new ToolNode(tools))
      .addNode("remember", rememberNode(memory, { session, onError }))
      .addEdge(START, "recall")
      .addEdge("recall", "chat")
      .addConditionalEdges(
        "chat",
        (now) => (toolsCondition(now) === "tools" ? "tools" : "remember"),
        ["tools", "remember"],
      )
      // A run that an interrupt stopped goes on without what was recalled.
      .addConditionalEdges("tools", ({ mnemograph }) => (mnemograph ? "chat" : "recall"), [
        "chat",
        "recall",
      ])
      .compile(saverOf(build))
  );
}

/** Of both ends of a turn. */
const optionsOf = ({ memory, model, tools, checkpointer, state, ...options }: Build) => options;

const builders = {
  withMemory(build: Build) {
    const { memory, model, tools = [] } = build;
    const agent = createAgent({ model, tools });
    return withMemory(agent, memory, optionsOf(build)).compile(saverOf(build));
  },
  nodes: withNodes,
  middleware(build: Build) {
    const { memory, model, tools = [] } = build;
    const middleware = [memoryMiddleware(memory, optionsOf(build))];
    return createAgent({ model, tools, middleware, ...saverOf(build) });
  },
  async supervisor(build: Build) {
    const { memory, model, tools = [] } = build;
    const supervisor = await createMemorySupervisor({
      ...optionsOf(build),
      memory,
      model,
      tools,
      planner: {},
      executor: { tools },
      prompt: "Lead.",
    });
    return supervisor.compile(saverOf(build));
  },
};

export type Way = keyof typeof builders;
export const ways = Object.keys(builders) as Way[];

/** The agent that asks `model` and calls `tools`, with memory given to it in `way`. */
export const agentIn = async (way: Way, build: Build): Promise<AnyGraph> =>
  (await builders[way](build)) as unknown as AnyGraph;

/**
 * What an agent was shown in one call of its model; a supervisor's own instructions are left out.
 */
export const shownIn = (call: ScriptedCall | undefined): string[] =>
  lines(call?.messages ?? []).filter((line) => line !== "system: Lead.");
