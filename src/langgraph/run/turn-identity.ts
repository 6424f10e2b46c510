import { isDeepStrictEqual } from "node:util";
import type { BaseMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Memory } from "../../memory.js";
import { opensTurn } from "../../messages/inserted-message.js";
import { addressKey, delegatedMark } from "../../scope/scope.js";
import { graphNamespace, isWithinTool, type RunIdentity, runIdentity } from "./run-identity.js";
import { keptByRun } from "./run-state.js";

/**
 * Turns of a run by graph namespace: the thread that the run names, and ids of the user's messages.
 */
const turnsOfRun = keptByRun(
  () =>
    new Map<
      string,
      { identity: RunIdentity; named: string; said: ReadonlySet<string | undefined> }
    >(),
);

/**
 * The thread of a graph's turn. A graph that an agent's tool started, or that another graph with
 * memory gave its own message, has a task: its turn gets a thread beside the conversation.
 */
export function turnIdentity(
  config: LangGraphRunnableConfig,
  memory: Memory,
  messages: readonly BaseMessage[],
  agent: string | undefined,
): RunIdentity {
  const { scope, threadId: named } = runIdentity(config, memory);
  const namespace = graphNamespace(config);
  const turns = turnsOfRun(config);
  const begun = turns?.get(namespace);
  if (begun?.named === named) return begun.identity;
  const said = messages.filter(opensTurn).map(({ id }) => id);
  // Numbers count the parallel graphs of one node.
  const isTask = [...(turns ?? [])].some(
    ([outer, turn]) =>
      turn.named === named &&
      isDeepStrictEqual(turn.identity.scope, scope) &&
      namespace.startsWith(outer) &&
      /^\|?[^|]*:/.test(namespace.slice(outer.length)) &&
      said.length > 0 &&
      !turn.said.has(said.at(-1)),
  );
  // Node names without LangGraph's task ids.
  const by = agent ?? namespace.replace(/:[^|]*|\|\d+(?=\||$)/g, "");
  const threadId = isTask || isWithinTool(config) ? `${named}${delegatedMark}${by}` : named;
  const identity = { scope, threadId };
  turns?.set(namespace, { identity, named, said: new Set(said) });
  const latest = said.at(-1);
  if (threadId === named && latest !== undefined) noteMessage(identity, latest);
  return identity;
}

export interface AnsweredMessage {
  readonly threadId: string;
  readonly messageId: string;
}

/** By conversation, the one used last at the end. Runs of subagents share nothing else with it. */
const latestMessages = new Map<string, AnsweredMessage>();
const maxConversations = 1_000;

/** The user's latest message in a conversation, if memory has seen it in this process. */
export function latestMessage(conversation: RunIdentity): AnsweredMessage | undefined {
  return latestMessages.get(addressKey(conversation));
}

export function noteMessage(conversation: RunIdentity, messageId: string): void {
  const key = addressKey(conversation);
  latestMessages.delete(key);
  latestMessages.set(key, { threadId: conversation.threadId, messageId });
  const [oldest] = latestMessages.keys();
  if (oldest !== undefined && latestMessages.size > maxConversations) latestMessages.delete(oldest);
}
