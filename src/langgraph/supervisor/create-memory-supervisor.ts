import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type AIMessage, type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  type MessagesAnnotation,
  START,
  type StateDefinition,
  StateGraph,
} from "@langchain/langgraph";
import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { chatModel } from "../../input/parse-input.js";
import type { Memory } from "../../memory.js";
import { checkPeer, refuseMissing } from "../../peers.js";
import { checkOptions, type TurnOptions } from "../run/node-options.js";
import { memoryQueryTool } from "../tools/memory-query-tool.js";
import type { AgentGraph, LooseGraph } from "../wrap/agent-graph.js";
import { callOnTask } from "../wrap/call-agent.js";
import {
  type CompiledAgent,
  type CreatedAgent,
  type WithMemoryOptions,
  withMemory,
  withMemoryOptions,
} from "../wrap/with-memory.js";

/** A subagent made by `createAgent`; it gets `memory_query` unless it has a tool of that name. */
export interface SubagentDefinition {
  /** @default the supervisor's for the executor, else none */
  readonly tools?: readonly StructuredToolInterface[];
  /** @default the planner's and the executor's own, else none */
  readonly prompt?: string;
  /** @default the supervisor's model */
  readonly model?: BaseChatModel;
}

/** A compiled graph with `messages`, a result of `createAgent`, or its definition. */
export type Subagent = CompiledAgent | CreatedAgent<object> | SubagentDefinition;

interface NamedSubagent {
  /** The name of its tool: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly description: string;
  readonly agent: Subagent;
}

export interface MemorySupervisorOptions extends Omit<WithMemoryOptions, "agent" | "messagesKey"> {
  /** The model of the supervisor and of subagents without their own. It must call tools. */
  readonly model: BaseChatModel;
  readonly memory: Memory;
  /**
   * Turns a goal into steps.
   * @default an agent of `model` that answers with a short numbered list
   */
  readonly planner?: Subagent | undefined;
  /** Carries out one step. @default an agent of `model` with `tools` */
  readonly executor?: Subagent | undefined;
  readonly agents?: readonly NamedSubagent[];
  /** For the supervisor and the default executor. @default none */
  readonly tools?: readonly StructuredToolInterface[];
  /** Replaces the supervisor's default instructions. */
  readonly prompt?: string;
  /**
   * "recorded": tool calls and results are remembered. "hidden": only question and answer.
   * @default "recorded"
   */
  readonly delegations?: "recorded" | "hidden";
}

const isObject = (value: unknown) => typeof value === "object" && value !== null;
const toolList = z.array(z.custom<StructuredToolInterface>(isObject, "must be a tool"));

/** `withMemory` checks graphs later. */
const subagentSchema = z.union([
  z.custom<CompiledAgent>((value) => isObject(value) && "invoke" in (value as object)),
  z.strictObject({
    tools: toolList.optional(),
    prompt: z.string().optional(),
    model: chatModel.optional(),
  }),
]);

/** Includes state keys, which LangGraph refuses as node names. */
const takenNames = [
  "supervisor",
  "memory_query",
  "messages",
  "structuredResponse",
  "to",
  "task",
  "result",
];

/** Providers allow 64 characters. */
const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;

const subagentName = z
  .string()
  .refine((name) => namePattern.test(name) && !takenNames.includes(name), {
    error: `must be 1 to 64 letters, digits, "_" or "-", and none of ${takenNames.join(", ")}`,
  });

const supervisorOptions = withMemoryOptions.omit({ agent: true, messagesKey: true }).extend({
  model: chatModel,
  memory: z.unknown(),
  planner: subagentSchema.optional(),
  executor: subagentSchema.optional(),
  agents: z
    .array(z.strictObject({ name: subagentName, description: z.string(), agent: subagentSchema }))
    .optional(),
  tools: toolList.optional(),
  prompt: z.string().optional(),
  delegations: z.enum(["recorded", "hidden"]).optional(),
});

export type MemorySupervisor = StateGraph<
  unknown,
  typeof MessagesAnnotation.State,
  typeof MessagesAnnotation.Update,
  string,
  typeof MessagesAnnotation.spec,
  typeof MessagesAnnotation.spec,
  StateDefinition
>;

const defaultPrompt = `You lead a small team and talk with the user. Answer yourself what you can answer from the conversation.
Give planning to the planner and doing to the executor. When something takes both, have it planned first, then have each step carried out.
What they answer is for you: tell the user the outcome in your own words.`;

const plannerPrompt = "Turn the task into a short numbered list of steps. No introduction.";
const executorPrompt = "Carry out the task and report the result in a few sentences.";

/**
 * A supervisor with memory, a planner and an executor: an uncompiled graph recall → supervisor →
 * remember. The supervisor is an agent of `createAgent` with one tool for each subagent; it sees
 * the summary, later messages, and the current one. A subagent sees its task, before it what memory
 * always shows, and returns only its last message, or the error. Each agent reads the categories of
 * its allowlist: "supervisor", "planner", "executor", and the others' names.
 * @example
 * ```ts
 * const supervisor = await createMemorySupervisor({ model, memory });
 * const graph = supervisor.compile({ checkpointer: memory.checkpointer() });
 * ```
 * @throws MemoryError `PEER_MISSING` without `langchain`; `INVALID_INPUT` for an invalid subagent,
 * name or option
 */
export async function createMemorySupervisor(
  options: MemorySupervisorOptions,
): Promise<MemorySupervisor> {
  checkOptions(options?.memory, supervisorOptions, options, "createMemorySupervisor");
  const { model, memory, agents = [], tools = [], planner, executor, ...given } = options;
  const { prompt = defaultPrompt, delegations, ...turn } = given;
  const { createAgent, createMiddleware } = await loadLangchain();

  const toolsOf = (agent: string, own: readonly StructuredToolInterface[] = []) => {
    const query = memoryQueryTool(memory, { agent });
    return own.some(({ name }) => name === query.name) ? [...own] : [...own, query];
  };
  const graphOf = ({ name, agent }: NamedSubagent): AgentGraph => {
    if ("invoke" in agent) return requireMessages(name, "graph" in agent ? agent.graph : agent);
    const { graph } = createAgent({
      name,
      model: agent.model ?? model,
      tools: toolsOf(name, agent.tools),
      ...(agent.prompt !== undefined && { systemPrompt: agent.prompt }),
    });
    return graph as unknown as AgentGraph;
  };
  const subagents: NamedSubagent[] = [
    {
      name: "planner",
      description: "Turns a goal into a short list of steps.",
      agent: withDefaults(planner, { prompt: plannerPrompt }),
    },
    {
      name: "executor",
      description: "Carries out one step and reports the result.",
      agent: withDefaults(executor, { prompt: executorPrompt, tools }),
    },
    ...agents,
  ];
  const names = subagents.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) < index);
  if (twice !== undefined)
    throw new MemoryError("INVALID_INPUT", `Two subagents are named "${twice}": rename one.`);
  const graphs = new Map(subagents.map((subagent) => [subagent.name, graphOf(subagent)]));
  const team = teamGraph(graphs, memory, turn);
  const hide = createMiddleware({ name: "hide_delegations", afterAgent: removeDelegations });
  const { graph } = createAgent({
    name: "supervisor",
    model,
    systemPrompt: prompt,
    tools: toolsOf("supervisor", [
      ...tools,
      ...subagents.map((subagent) => taskTool(subagent, team)),
    ]),
    middleware: delegations === "hidden" ? [hide] : [],
  });
  // Shows the team in Studio. Set on the builder, which `withMemory` compiles again.
  const { builder } = graph as unknown as {
    builder: { nodes: { tools: { subgraphs?: unknown[] } } };
  };
  builder.nodes.tools.subgraphs = [team];
  const agent = graph as unknown as CompiledAgent;
  return withMemory(agent, memory, { ...turn, agent: "supervisor" }) as MemorySupervisor;
}

/** What a definition leaves out; a graph brings everything. */
function withDefaults(agent: Subagent = {}, defaults: SubagentDefinition): Subagent {
  if ("invoke" in agent) return agent;
  const given = Object.entries(agent).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(given) };
}

/** Never `require`: the CommonJS copy brings a second LangGraph, whose classes differ. */
async function loadLangchain() {
  checkPeer("langchain");
  return await import("langchain").catch(refuseMissing("createMemorySupervisor", "langchain"));
}

function requireMessages(name: string, graph: object): AgentGraph {
  const { builder } = graph as { builder?: { channels?: object } };
  if (builder?.channels && "messages" in builder.channels) return graph as AgentGraph;
  throw new MemoryError(
    "INVALID_INPUT",
    `The subagent "${name}" must be a compiled graph with \`messages\` in its state, the result of createAgent, ` +
      "or { tools, prompt, model }.",
  );
}

const TeamState = Annotation.Root({
  to: Annotation<string>,
  task: Annotation<string>,
  result: Annotation<string>,
});

/** One node for each subagent, so that streams and Studio name it. */
function teamGraph(
  subagents: ReadonlyMap<string, AgentGraph>,
  memory: Memory,
  options: TurnOptions,
): AgentGraph {
  const team = new StateGraph(TeamState) as unknown as LooseGraph;
  for (const [name, graph] of subagents) {
    const call = callOnTask(graph, memory, { ...options, agent: name });
    const work = async ({ task }: typeof TeamState.State, config: LangGraphRunnableConfig) => {
      const messages = await call(task, config);
      return { result: messages.at(-1)?.text.trim() };
    };
    team.addNode(name, work, { subgraphs: [graph] }).addEdge(name, END);
  }
  team.addConditionalEdges(START, ({ to }: typeof TeamState.State) => to, [...subagents.keys()]);
  return team.compile({ name: "team" }) as AgentGraph;
}

const taskSchema = z.object({
  task: z
    .string()
    .min(1)
    .describe(
      "The whole task, in full sentences, with every fact from the conversation that it takes.",
    ),
});

function taskTool({ name, description }: NamedSubagent, team: AgentGraph): StructuredToolInterface {
  const give = async ({ task }: { task: string }, config: LangGraphRunnableConfig) => {
    const { result } = await team.invoke({ to: name, task }, config);
    // Undefined also where it commands the graph around it, such as to hand over.
    return result || `(${name} finished without an answer.)`;
  };
  const described = `${description} ${name} sees only \`task\` of this conversation.`;
  return tool(give, { name, description: described, schema: taskSchema });
}

/** Keeps the question and the answer. */
function removeDelegations({ messages }: { messages: BaseMessage[] }) {
  const asked = messages.findLastIndex((message) => message.getType() === "human");
  const delegations = messages
    .slice(asked + 1)
    .filter((message) => message.getType() === "tool" || (message as AIMessage).tool_calls?.length);
  const ids = delegations.flatMap(({ id }) => id ?? []);
  return { messages: ids.map((id) => new RemoveMessage({ id })) };
}
