import { randomUUID } from "node:crypto";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { parseInput } from "../../text/parse-input.js";
import { taskId } from "../run/run-identity.js";

/** A compiled graph with `messages` in its state. */
export interface SubagentGraph {
  readonly builder: unknown;
  /** Runs it on the messages of its task. */
  invoke(input: { messages: never }, config?: LangGraphRunnableConfig): Promise<unknown>;
}

/** What a subagent is made of when it is not a graph yet; it is given `memory_query` besides (`memoryTools`). */
export interface SubagentDefinition {
  readonly tools?: readonly StructuredToolInterface[];
  /** Its instructions. */
  readonly prompt?: string;
  /** @default the supervisor's model */
  readonly model?: BaseChatModel;
}

/** A compiled graph, what `createAgent` returns, or what to make an agent of. */
export type Subagent = SubagentGraph | { readonly graph: SubagentGraph } | SubagentDefinition;

/** A subagent as the supervisor knows it. */
export interface NamedSubagent {
  /** Letters, digits, `_` and `-`: it becomes part of a tool's name. */
  readonly name: string;
  /** What it is good for; the supervisor's model reads this. */
  readonly description: string;
  readonly agent: Subagent;
}

/** A subagent that is ready to work. */
export interface ResolvedSubagent {
  readonly name: string;
  readonly description: string;
  readonly graph: SubagentGraph;
}

/** Names of other nodes and tools, and state keys, which LangGraph refuses as names of nodes. */
const takenNames = [
  "supervisor",
  "memory_query",
  "hide_delegations",
  "messages",
  "structuredResponse",
  "to",
  "task",
  "result",
];

/** Providers allow tool names of 64 characters, and `transfer_to_` takes 12 of them. */
const namePattern = /^[a-zA-Z0-9_-]{1,52}$/;

/**
 * `subagents` as graphs. `makeAgent` makes the ones that are only defined.
 *
 * @throws MemoryError `INVALID_INPUT` for a name that cannot be used, or a graph without `messages`.
 */
export function resolveSubagents(
  subagents: readonly NamedSubagent[],
  makeAgent: (name: string, definition: SubagentDefinition) => SubagentGraph,
): ResolvedSubagent[] {
  const names = new Set<string>(takenNames);
  return subagents.map(({ name, description, agent }) => {
    if (!namePattern.test(name) || names.has(name)) throw badName(name);
    names.add(name);
    const given = isObject(agent) && "graph" in agent ? agent.graph : agent;
    const isGraph = isObject(given) && "invoke" in given;
    const graph = isGraph
      ? (given as SubagentGraph)
      : makeAgent(name, parseInput(definitionSchema, given, `subagent "${name}"`));
    if (!hasMessages(graph)) {
      throw new MemoryError(
        "INVALID_INPUT",
        `The subagent "${name}" must be a compiled graph with \`messages\` in its state, the result of ` +
          "createAgent, or { tools, prompt, model }.",
      );
    }
    return { name, description, graph };
  });
}

/** Arguments of every tool that gives a task to a subagent. */
export const subagentTaskSchema = z.object({
  task: z
    .string()
    .min(1)
    .describe("The whole task, in full sentences, with every fact from the conversation that it takes."),
});

/** What such a tool says of itself. */
export function subagentTaskDescription({ name, description }: ResolvedSubagent): string {
  return `${description} ${name} sees nothing of this conversation, only \`task\`.`;
}

/**
 * The text a subagent answers a task with.
 *
 * It starts from the task alone: nothing of the supervisor's conversation reaches it, and of what it says and
 * does only the last message comes back.
 */
export async function runSubagentTask(
  { name, graph }: ResolvedSubagent,
  task: string,
  config: LangGraphRunnableConfig,
): Promise<string> {
  const input = { messages: [new HumanMessage({ content: task, id: `${taskId}${randomUUID()}` })] as never };
  const output = (await graph.invoke(input, config)) as { messages: BaseMessage[] };
  return output.messages.at(-1)?.text.trim() || `(${name} finished without an answer.)`;
}

const definitionSchema: z.ZodType<SubagentDefinition> = z.strictObject({
  tools: z.array(z.custom<StructuredToolInterface>(isObject, "must be a tool")).optional(),
  prompt: z.string().optional(),
  model: z.custom<BaseChatModel>(isObject, "must be a chat model").optional(),
}) as z.ZodType<SubagentDefinition>;

function isObject(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function badName(name: string): MemoryError {
  return new MemoryError(
    "INVALID_INPUT",
    `"${name}" cannot be a subagent's name: use 1 to 52 letters, digits, "_" or "-", no name twice, ` +
      `and none of ${takenNames.join(", ")}.`,
  );
}

function hasMessages(graph: SubagentGraph): boolean {
  const { builder } = graph as { builder?: { channels?: object } };
  return builder?.channels !== undefined && "messages" in builder.channels;
}
