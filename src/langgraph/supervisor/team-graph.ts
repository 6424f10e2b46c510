import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import {
  Annotation,
  END,
  type LangGraphRunnableConfig,
  START,
  StateGraph,
} from "@langchain/langgraph";
import { z } from "zod";
import { internalApi } from "../../internal-api.js";
import type { Memory } from "../../memory.js";
import { withAdvice } from "../../turns/explain-refusal.js";
import type { Recalled } from "../../turns/recalled.js";
import { modelView } from "../nodes/model-view.js";
import { continueOnError, type TurnOptions } from "../run/node-options.js";
import { runIdentity, runMode, runTimeZone } from "../run/run-identity.js";
import { memoryKey } from "../run/state-fields.js";
import type { AgentGraph, LooseGraph } from "../wrap/agent-graph.js";
import { invokeStreamed } from "../wrap/agent-stream.js";
import { withoutRecalled } from "../wrap/call-agent.js";

const TeamState = Annotation.Root({
  to: Annotation<string>,
  task: Annotation<string>,
  result: Annotation<string>,
});

interface TeamGraph {
  invoke(
    input: { to: string; task: string },
    config: LangGraphRunnableConfig,
  ): Promise<{ result: string }>;
}

type TaskOptions = Pick<TurnOptions, "injectAs" | "onError" | "minTrust" | "memoryMode">;

/** One node for each subagent, so that streams and Studio name it. */
export function teamGraph(
  subagents: readonly (readonly [name: string, graph: AgentGraph])[],
  memory: Memory,
  options: TaskOptions,
): TeamGraph {
  const team = new StateGraph(TeamState) as unknown as LooseGraph;
  for (const [name, graph] of subagents) {
    const recall = taskRecall(graph, memory, { ...options, agent: name });
    const work = async ({ task }: typeof TeamState.State, config: LangGraphRunnableConfig) => {
      // The same in a resumed run, so that what it was shown is found again.
      const said = new HumanMessage({
        content: task,
        id: String(config.configurable?.checkpoint_ns),
      });
      const shown = {
        state: [said],
        view: modelView([said], await recall(config), options.injectAs),
      };
      const { agentConfig } = withoutRecalled(graph, config, shown, "messages");
      const answer = invokeStreamed(graph, { messages: shown.view }, agentConfig, shown);
      const { messages } = await withAdvice(answer, options.injectAs);
      const last = (messages as BaseMessage[]).at(-1);
      return { result: last?.text.trim() || `(${name} finished without an answer.)` };
    };
    team.addNode(name, work, { subgraphs: [graph] }).addEdge(name, END);
  }
  const names = subagents.map(([name]) => name);
  team.addConditionalEdges(START, ({ to }: typeof TeamState.State) => to, names);
  return team.compile({ name: "team" }) as TeamGraph;
}

/** Finds what is always shown to `agent`; null for a graph that has memory itself. */
function taskRecall(
  { builder }: AgentGraph,
  memory: Memory,
  { onError, agent, minTrust, memoryMode }: TaskOptions & { readonly agent: string },
) {
  const hasMemory = memoryKey in builder.channels || "memory.before_agent" in builder.nodes;
  return async (config: LangGraphRunnableConfig): Promise<Recalled | null> => {
    if (hasMemory || (runMode(config) ?? memoryMode) === "passive") return null;
    let recalled: Recalled | null = null;
    await continueOnError(memory, { node: "recall", onError }, config, async () => {
      const reader = { agent, minTrust, timeZone: runTimeZone(config) };
      recalled = await internalApi(memory).recallForTask({
        ...runIdentity(config, memory),
        ...reader,
      });
    });
    return recalled;
  };
}

const taskSchema = z.object({
  task: z
    .string()
    .min(1)
    .describe(
      "The whole task, in full sentences, with every fact from the conversation that it takes.",
    ),
});

/** The tool by which the supervisor gives `name` a task. */
export function taskTool(
  { name, description }: { readonly name: string; readonly description: string },
  team: TeamGraph,
): StructuredToolInterface {
  const give = async ({ task }: { task: string }, config: LangGraphRunnableConfig) =>
    (await team.invoke({ to: name, task }, config)).result;
  const described = `${description} ${name} sees only \`task\` of this conversation.`;
  return tool(give, { name, description: described, schema: taskSchema });
}
