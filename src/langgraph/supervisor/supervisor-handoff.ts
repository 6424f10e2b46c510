import { type BaseMessage, RemoveMessage, ToolMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import { END, type LangGraphRunnableConfig, Send } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
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
} from "./supervisor-tools.js";

/** A task on its way to a subagent. */
interface Handoff {
  readonly to: string;
  readonly task: string;
}
/** The same with the message that will hold the result. */
type PendingHandoff = Handoff & { readonly announcement: ToolMessage };

interface State {
  messages: BaseMessage[];
}

const hideNode = "hide_delegations";

/**
 * A supervisor of `@langchain/langgraph-supervisor` that hands tasks over to subagents, each a node beside it.
 *
 * The package's own hand-off takes no task and passes the whole conversation on, so it is given no agents:
 * its supervisor gets hand-off tools that take a task, and the subagents' nodes are added here. Several
 * hand-offs in one message run side by side. Every tool call is answered with its subagent's result.
 *
 * @throws MemoryError `PEER_MISSING`, `INVALID_INPUT`
 */
export async function supervisorWithHandoffs(parts: SupervisorParts): Promise<SupervisorGraph> {
  const { createSupervisor } = await loadSupervisorPeer(
    "@langchain/langgraph-supervisor",
    () => import("@langchain/langgraph-supervisor"),
  );
  const subagents = resolveSubagents(parts.subagents, (name, { tools = [], prompt, model = parts.model }) => {
    const agent = createReactAgent({
      name,
      llm: model,
      tools: parts.toolsOf(name, tools),
      ...(prompt !== undefined && { prompt }),
    });
    return agent as unknown as SubagentGraph;
  });

  const graph = createSupervisor({
    agents: [],
    llm: parts.model,
    prompt: parts.prompt,
    tools: parts.toolsOf(supervisorName, [...parts.tools, ...subagents.map(handoffTool)]),
    supervisorName,
  }) as unknown as LooseGraph;
  for (const subagent of subagents) {
    graph
      .addNode(subagent.name, workOn(subagent), { subgraphs: [subagent.graph] })
      .addEdge(subagent.name, supervisorName);
  }
  const end = parts.delegations === "hidden" ? hideNode : END;
  if (end === hideNode) graph.addNode(hideNode, removeDelegations).addEdge(hideNode, END);
  graph.addConditionalEdges(supervisorName, (state) => nextSteps(state, end), [
    ...subagents.map(({ name }) => name),
    supervisorName,
    end,
  ]);
  return graph.compile({ name: supervisorName }) as SupervisorGraph;
}

function handoffTool(subagent: ResolvedSubagent): StructuredToolInterface {
  const name = `transfer_to_${subagent.name}`;
  return tool(
    ({ task }, config: LangGraphRunnableConfig & { toolCall?: { id?: string } }) =>
      new ToolMessage({
        name,
        tool_call_id: config.toolCall?.id ?? "",
        content: `Handed over to ${subagent.name}.`,
        artifact: { to: subagent.name, task } satisfies Handoff,
      }),
    {
      name,
      description: subagentTaskDescription(subagent),
      schema: subagentTaskSchema,
      // Leaves the supervisor's own loop, so that the graph around it can pass the task on.
      returnDirect: true,
    },
  );
}

/** To the subagents that were handed a task; back to the supervisor when a hand-off was malformed; else the end. */
function nextSteps({ messages }: State, end: string): string | Send[] {
  const results = messages.slice(messages.findLastIndex((message) => message.getType() !== "tool") + 1);
  if (results.length === 0) return end;
  const handoffs = results.flatMap((announcement): PendingHandoff[] =>
    ToolMessage.isInstance(announcement) && isHandoff(announcement.artifact)
      ? [{ ...announcement.artifact, announcement }]
      : [],
  );
  return handoffs.length === 0 ? supervisorName : handoffs.map((handoff) => new Send(handoff.to, handoff));
}

function isHandoff(artifact: unknown): artifact is Handoff {
  return typeof artifact === "object" && artifact !== null && "to" in artifact && "task" in artifact;
}

/** The node of a subagent: its result takes the place of the announcement as the answer to the tool call. */
function workOn(subagent: ResolvedSubagent) {
  return async ({ task, announcement }: PendingHandoff, config: LangGraphRunnableConfig) => {
    const content = await runSubagentTask(subagent, task, config);
    const { id, tool_call_id, name = subagent.name } = announcement;
    const result = new ToolMessage({ content, tool_call_id, name });
    return { messages: [...(id === undefined ? [] : [new RemoveMessage({ id })]), result] };
  };
}
