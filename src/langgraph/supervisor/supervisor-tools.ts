import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import {
  Annotation,
  type CompiledStateGraph,
  END,
  type LangGraphRunnableConfig,
  type MessagesAnnotation,
  START,
  type StateDefinition,
  StateGraph,
} from "@langchain/langgraph";
import { MemoryError, messageOf } from "../../errors.js";
import type { LooseGraph } from "../wrap/agent-graph.js";
import {
  type NamedSubagent,
  type ResolvedSubagent,
  resolveSubagents,
  runSubagentTask,
  type SubagentGraph,
  subagentTaskDescription,
  subagentTaskSchema,
} from "./subagent.js";

/** Whether a round's hand-overs and their results become part of the conversation. */
export type Delegations = "recorded" | "hidden";

/** Removes the tool calls and tool results of the last round: what stays is the question and the answer. */
export function removeDelegations(state: { messages: BaseMessage[] }): { messages: RemoveMessage[] } {
  const { messages } = state;
  const asked = messages.findLastIndex((message) => message.getType() === "human");
  return {
    messages: messages
      .slice(asked + 1)
      .filter((message) => message.getType() === "tool" || callsTools(message))
      .flatMap(({ id }) => (id === undefined ? [] : [new RemoveMessage({ id })])),
  };
}

function callsTools(message: BaseMessage): boolean {
  return AIMessage.isInstance(message) && (message.tool_calls?.length ?? 0) > 0;
}

/** What a supervisor is built from, in either mode. */
export interface SupervisorParts {
  readonly model: BaseChatModel;
  readonly prompt: string;
  readonly tools: readonly StructuredToolInterface[];
  /** The tools of an agent that was given `tools`: the same, and those to ask memory with in its name. */
  readonly toolsOf: (agent: string, tools: readonly StructuredToolInterface[]) => StructuredToolInterface[];
  readonly subagents: readonly NamedSubagent[];
  readonly delegations: Delegations;
}

/** A supervisor without memory. */
export type SupervisorGraph = CompiledStateGraph<
  typeof MessagesAnnotation.State,
  typeof MessagesAnnotation.Update,
  string,
  typeof MessagesAnnotation.spec,
  typeof MessagesAnnotation.spec,
  StateDefinition
>;

/** Name of the supervisor's graph, and of its node in the graph around it. */
export const supervisorName = "supervisor";

/**
 * An optional package, loaded when it is needed.
 *
 * Loaded with `import`, never `require`: these packages ship a CommonJS copy too, and it brings a second
 * LangGraph with classes of its own, which the graphs made here would not recognise.
 *
 * @throws MemoryError `PEER_MISSING` when it cannot be loaded, naming the command that installs it.
 */
export async function loadSupervisorPeer<Module>(
  packageName: string,
  load: () => Promise<Module>,
): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const detail = messageOf(cause);
    throw new MemoryError(
      "PEER_MISSING",
      `createMemorySupervisor needs ${packageName}, which cannot be loaded: run \`npm install ${packageName}\`. (${detail})`,
      { cause },
    );
  }
}

/**
 * A supervisor made by `createAgent` of `langchain`, with one tool for each subagent: `planner({ task })`.
 *
 * A subagent that fails answers its tool call with the error, as any tool of `createAgent` does.
 *
 * @throws MemoryError `PEER_MISSING`, `INVALID_INPUT`
 */
export async function supervisorWithTools(parts: SupervisorParts): Promise<SupervisorGraph> {
  const { createAgent, createMiddleware } = await loadSupervisorPeer("langchain", () => import("langchain"));
  const subagents = resolveSubagents(parts.subagents, (name, { tools = [], prompt, model = parts.model }) => {
    const systemPrompt = prompt === undefined ? {} : { systemPrompt: prompt };
    const agent = createAgent({ name, model, tools: parts.toolsOf(name, tools), ...systemPrompt });
    return agent.graph as unknown as SubagentGraph;
  });
  const team = teamGraph(subagents);
  const { graph } = createAgent({
    name: supervisorName,
    model: parts.model,
    systemPrompt: parts.prompt,
    tools: parts.toolsOf(supervisorName, [
      ...parts.tools,
      ...subagents.map((subagent) => taskTool(subagent, team)),
    ]),
    middleware:
      parts.delegations === "hidden"
        ? [createMiddleware({ name: "hide_delegations", afterAgent: removeDelegations })]
        : [],
  });
  // What a node runs inside its tools LangGraph cannot know; told so, it shows it in Studio and in state snapshots.
  // On the builder, which `withMemory` compiles anew.
  const { builder } = graph as unknown as { builder: { nodes: { tools: { subgraphs?: unknown[] } } } };
  builder.nodes.tools.subgraphs = [team];
  return graph as unknown as SupervisorGraph;
}

const TeamState = Annotation.Root({
  to: Annotation<string>,
  task: Annotation<string>,
  result: Annotation<string>,
});

/** All subagents in one graph, each a node, so that streams and Studio name the one at work. */
function teamGraph(subagents: readonly ResolvedSubagent[]): TeamGraph {
  const graph = new StateGraph(TeamState) as unknown as LooseGraph;
  for (const subagent of subagents) {
    const work = async ({ task }: typeof TeamState.State, config: LangGraphRunnableConfig) => ({
      result: await runSubagentTask(subagent, task, config),
    });
    graph.addNode(subagent.name, work, { subgraphs: [subagent.graph] }).addEdge(subagent.name, END);
  }
  graph.addConditionalEdges(
    START,
    ({ to }: typeof TeamState.State) => to,
    subagents.map(({ name }) => name),
  );
  return graph.compile({ name: "team" }) as TeamGraph;
}

interface TeamGraph {
  invoke(input: { to: string; task: string }, config: LangGraphRunnableConfig): Promise<{ result: string }>;
}

function taskTool(subagent: ResolvedSubagent, team: TeamGraph): StructuredToolInterface {
  return tool(
    async ({ task }, config: LangGraphRunnableConfig) => {
      const { result } = await team.invoke({ to: subagent.name, task }, config);
      return result;
    },
    { name: subagent.name, description: subagentTaskDescription(subagent), schema: subagentTaskSchema },
  );
}
