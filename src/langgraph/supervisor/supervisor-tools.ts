import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import type { LooseGraph } from "../wrap/agent-graph.js";
import {
  type ResolvedSubagent,
  resolveSubagents,
  runSubagentTask,
  type SubagentGraph,
  subagentTaskDescription,
  subagentTaskSchema,
} from "./subagent.js";
import {
  loadSupervisorPeer,
  removeDelegations,
  type SupervisorGraph,
  type SupervisorParts,
  supervisorName,
} from "./supervisor-parts.js";

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
