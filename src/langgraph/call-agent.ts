import type { BaseMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { Memory } from "../memory.js";
import type { Recalled } from "../recall/recall.js";
import { isRecalled } from "../recall/recalled-mark.js";
import type { AgentBuilder, AgentGraph } from "./agent-graph.js";
import { forgetfulSaver, leaveOut, putInAnew, type ShownView } from "./forgetful-saver.js";
import { type MemoryState, memoryKey } from "./memory-state.js";
import { messageUpdate } from "./message-update.js";
import { type InjectAs, modelView } from "./model-view.js";
import { type RecallNodeOptions, recallNode } from "./recall-node.js";
import { wholeStateInput, wholeStateUpdate } from "./whole-state.js";

/** State key of the ids of messages that the agent removed and the transcript would bring back. */
export const removedKey = "mnemographRemoved";

type Values = Record<string, unknown>;
type AgentState = { messages: BaseMessage[] } & MemoryState & { [removedKey]?: string[] } & Values;

/**
 * The node that runs `agent` on what memory shows it, and returns what the agent changed.
 *
 * @param builder what the agent was compiled from.
 */
export function callAgent(
  agent: AgentGraph,
  builder: AgentBuilder,
  memory: Memory,
  options: RecallNodeOptions & { readonly injectAs?: InjectAs | undefined },
) {
  const { onError, agent: reader, memoryMode } = options;
  const recallAgain = recallNode(memory, { onError, agent: reader, memoryMode });
  return async (state: AgentState, config: LangGraphRunnableConfig): Promise<Values> => {
    const { [memoryKey]: kept, [removedKey]: removed = [], ...own } = state;
    // What was recalled is not checkpointed: a run resumed here has lost it.
    const recalled = kept === undefined ? (await recallAgain(state, config))[memoryKey] : kept;
    const view = modelView(state.messages, withoutRemoved(recalled, removed), options.injectAs);
    const shown = { state: state.messages, view };
    const { agentConfig, isSeen } = withoutRecalled(agent, config, shown);
    // The view replaces what an agent with checkpoints of its own kept of the turn before.
    const input = wholeStateInput(builder, { ...putInAnew(own, shown), messages: view });
    const output = await agent.invoke(input, agentConfig);

    const { messages, ...others } = output;
    const changed = { ...wholeStateUpdate(builder, own, leaveOut(others, shown)), [memoryKey]: recalled };
    if (!messages) return changed;
    const update = messageUpdate(state.messages, view.filter(isSeen), messages as BaseMessage[]);
    const nowRemoved = [...removed.filter((id) => isShownAgain(recalled, id)), ...update.removed];
    const noteRemoved = removed.length > 0 || nowRemoved.length > 0;
    return { ...changed, messages: update.messages, ...(noteRemoved && { [removedKey]: nowRemoved }) };
  };
}

/** `config` for the agent, which keeps nothing recalled in its checkpoints. */
function withoutRecalled(agent: AgentGraph, config: LangGraphRunnableConfig, shown: ShownView) {
  const { __pregel_checkpointer: inherited, __pregel_resuming: isResuming } = config.configurable ?? {};
  const saver = inherited ?? agent.checkpointer;
  if (typeof saver !== "object" || saver === null) return { agentConfig: config, isSeen: () => true };
  const forgetful = forgetfulSaver(saver as BaseCheckpointSaver, shown);
  const configurable = { ...config.configurable, __pregel_checkpointer: forgetful.saver };
  // In a resumed run, what is recalled by now may be more than what the agent was shown when it began.
  const isSeen = (message: BaseMessage) =>
    !(isResuming && forgetful.hasLoaded()) || !isRecalled(message) || forgetful.putBack.has(message.id ?? "");
  return { agentConfig: { ...config, configurable }, isSeen };
}

/** The transcript keeps what the agent removed, but is not to show it again. */
function withoutRemoved(recalled: Recalled | null | undefined, removed: readonly string[]) {
  if (!recalled || removed.length === 0) return recalled;
  const kept = ({ id }: BaseMessage) => id === undefined || !removed.includes(id);
  return { ...recalled, gap: recalled.gap.filter(kept), lastRound: recalled.lastRound.filter(kept) };
}

/** Whether `id` would be shown again. When recall failed that is not known. */
function isShownAgain(recalled: Recalled | null | undefined, id: string): boolean {
  return !recalled || [...recalled.lastRound, ...recalled.gap].some((message) => message.id === id);
}
