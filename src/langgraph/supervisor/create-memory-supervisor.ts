import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { MessagesAnnotation, StateDefinition, StateGraph } from "@langchain/langgraph";
import { z } from "zod";
import type { Memory } from "../../memory.js";
import { checkOptions } from "../run/node-options.js";
import { memoryQueryTool } from "../tools/memory-query-tool.js";
import { type WithMemoryOptions, withMemory, withMemoryOptions } from "../wrap/with-memory.js";
import type { NamedSubagent, Subagent } from "./subagent.js";
import { supervisorWithHandoffs } from "./supervisor-handoff.js";
import { type Delegations, supervisorName, supervisorWithTools } from "./supervisor-tools.js";

/** How to create a supervisor. */
export interface MemorySupervisorOptions extends Omit<WithMemoryOptions, "agent" | "messagesKey"> {
  /** The supervisor's model, and that of every subagent that names none. It must be able to call tools. */
  readonly model: BaseChatModel;
  readonly memory: Memory;
  /** Turns a goal into steps. @default an agent of `model`, told to answer with a short numbered list of steps */
  readonly planner?: Subagent | undefined;
  /** Carries out one step. @default an agent of `model` with `tools`, told to do the task and report the result */
  readonly executor?: Subagent | undefined;
  /** Further subagents. */
  readonly agents?: readonly NamedSubagent[];
  /** Tools of the supervisor itself, and of the executor where none is given. @default none */
  readonly tools?: readonly StructuredToolInterface[];
  /** The supervisor's instructions, in place of the default ones. */
  readonly prompt?: string;
  /**
   * "handoff": subagents are nodes beside the supervisor, by `@langchain/langgraph-supervisor`. "tools": they
   * are tools of an agent made by `langchain`. Each mode needs its package installed. @default "handoff"
   */
  readonly mode?: "handoff" | "tools";
  /**
   * "recorded": tool calls and their results are part of the conversation, so the supervisor remembers what it
   * delegated. "hidden": only the user's message and the final answer are; the rest stays in the checkpoints
   * of the supervisor's subgraph. @default "recorded"
   */
  readonly delegations?: Delegations;
  /**
   * Whether the supervisor, and each subagent that is not a graph yet, gets the tool `memory_query`, bound to its
   * own name: "supervisor", "planner", … . Their models must then be able to call tools. Who brings a tool of
   * that name keeps it. @default true
   */
  readonly memoryTools?: boolean;
}

const supervisorOptions = withMemoryOptions.omit({ agent: true, messagesKey: true }).extend({
  model: z.custom<BaseChatModel>(
    (value) => typeof value === "object" && value !== null,
    "must be a chat model",
  ),
  memory: z.unknown().optional(),
  planner: z.unknown().optional(),
  executor: z.unknown().optional(),
  agents: z
    .array(
      z.strictObject({
        name: z.unknown().optional(),
        description: z.string(),
        agent: z.unknown().optional(),
      }),
    )
    .optional(),
  tools: z.array(z.unknown()).optional(),
  prompt: z.string().optional(),
  mode: z.enum(["handoff", "tools"]).optional(),
  delegations: z.enum(["recorded", "hidden"]).optional(),
  memoryTools: z.boolean().optional(),
});

/** A supervisor's graph, not compiled yet. */
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
 * A supervisor with memory, a planner and an executor: an uncompiled graph recall → supervisor → remember, to
 * compile with a checkpointer.
 *
 * The supervisor is shown the summary, what came after it, and the current message. A subagent is shown its
 * task and nothing else of the conversation; only its last message comes back.
 *
 * Where allowlists are configured, each reads the categories of its own: "supervisor", "planner", "executor", and
 * the names of the others. See `readableCategories` for what all of them read.
 *
 * @example
 * ```ts
 * const supervisor = await createMemorySupervisor({ model, memory });
 * const graph = supervisor.compile({ checkpointer: memory.checkpointer() });
 * ```
 * @throws MemoryError `PEER_MISSING` naming the package to install (`@langchain/langgraph-supervisor`); `INVALID_INPUT` for a subagent that is no
 *   agent, or whose name cannot be used, and for options that there are not.
 */
export async function createMemorySupervisor(options: MemorySupervisorOptions): Promise<MemorySupervisor> {
  checkOptions(options?.memory, supervisorOptions, options, "createMemorySupervisor");
  const { model, memory, agents = [], tools = [], ...given } = options;
  const {
    planner = { prompt: plannerPrompt },
    executor = { prompt: executorPrompt, tools },
    ...others
  } = given;
  const { prompt = defaultPrompt, mode, delegations = "recorded", memoryTools = true, ...round } = others;
  const build = mode === "tools" ? supervisorWithTools : supervisorWithHandoffs;
  const toolsOf = (agent: string, own: readonly StructuredToolInterface[]) => {
    const query = memoryQueryTool(memory, { agent });
    const asks = memoryTools && !own.some(({ name }) => name === query.name);
    return asks ? [...own, query] : [...own];
  };
  const supervisor = await build({
    model,
    tools,
    toolsOf,
    prompt,
    delegations,
    subagents: [
      { name: "planner", description: "Turns a goal into a short list of steps.", agent: planner },
      { name: "executor", description: "Carries out one step and reports the result.", agent: executor },
      ...agents,
    ],
  });
  return withMemory(supervisor, memory, { ...round, agent: supervisorName });
}
