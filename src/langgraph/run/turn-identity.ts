import type { BaseMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Memory } from "../../memory.js";
import { delegatedThread } from "../../scope/scope.js";
import { opensTurn } from "../../text/inserted-message.js";
import { graphNamespace, isWithinTool, type RunIdentity, runIdentity } from "./run-identity.js";
import { keptByRun } from "./run-state.js";

interface Turn {
  readonly identity: RunIdentity;
  /** The thread that the run names. */
  readonly threadId: string;
  /** Ids of the messages that were said to the graph. */
  readonly said: ReadonlySet<string | undefined>;
}

/** Turns of a run, by the namespaces of its graphs. */
const turnsOf = keptByRun(() => new Map<string, Turn>());

/**
 * Whose turn a graph with memory takes. A graph that an agent's tool started, or that another graph with memory gave
 * a message of its own, was given a task: its turn belongs to a thread beside the conversation.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`
 */
export function turnIdentity(
  config: LangGraphRunnableConfig,
  memory: Memory,
  messages: readonly BaseMessage[],
  agent: string | undefined,
): RunIdentity {
  const { scope, threadId } = runIdentity(config, memory);
  const namespace = graphNamespace(config);
  const turns = turnsOf(config);
  const begun = turns?.get(namespace);
  if (begun?.threadId === threadId) return begun.identity;
  const said = messages.filter(opensTurn).map(({ id }) => id);
  const isTask = [...(turns ?? [])].some(
    ([outer, turn]) =>
      turn.threadId === threadId &&
      isWithin(namespace, outer) &&
      said.length > 0 &&
      !turn.said.has(said.at(-1)),
  );
  const isDelegated = isTask || isWithinTool(config);
  const own = isDelegated ? delegatedThread(threadId, agent ?? nodesOf(namespace)) : threadId;
  const identity = { scope, threadId: own };
  turns?.set(namespace, { identity, threadId, said: new Set(said) });
  return identity;
}

/** Numbers count the graphs that one node started: those are beside each other. */
function isWithin(namespace: string, outer: string): boolean {
  if (namespace === outer) return false;
  if (outer === "") return true;
  return namespace.startsWith(`${outer}|`) && /^[^|]*:/.test(namespace.slice(outer.length + 1));
}

/** The nodes' names, without LangGraph's ids of tasks. */
function nodesOf(namespace: string): string {
  return namespace
    .split("|")
    .flatMap((node) => (node.includes(":") ? node.slice(0, node.lastIndexOf(":")) : []))
    .join(".");
}
