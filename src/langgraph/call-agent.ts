import type { BaseMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Memory } from "../memory.js";
import type { Recalled } from "../recall/recall.js";
import type { AgentBuilder, AgentGraph } from "./agent-graph.js";
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
  const { onError, agent: reader } = options;
  const recallAgain = recallNode(memory, { onError, agent: reader });
  return async (state: AgentState, config: LangGraphRunnableConfig): Promise<Values> => {
    const { [memoryKey]: kept, [removedKey]: removed = [], ...own } = state;
    // What was recalled is not checkpointed: a run resumed here has lost it.
    const recalled = kept === undefined ? (await recallAgain(state, config))[memoryKey] : kept;
    const view = modelView(state.messages, withoutRemoved(recalled, removed), options.injectAs);
    // The view replaces what an agent with checkpoints of its own kept of the turn before.
    const output = await agent.invoke(wholeStateInput(builder, { ...own, messages: view }), config);

    const changed = { ...wholeStateUpdate(builder, own, output), [memoryKey]: recalled };
    if (!output.messages) return changed;
    const update = messageUpdate(state.messages, view, output.messages as BaseMessage[]);
    const nowRemoved = [...removed.filter((id) => isInGap(recalled, id)), ...update.removed];
    const noteRemoved = removed.length > 0 || nowRemoved.length > 0;
    return { ...changed, messages: update.messages, ...(noteRemoved && { [removedKey]: nowRemoved }) };
  };
}

/** The transcript keeps what the agent removed, but is not to show it again. */
function withoutRemoved(recalled: Recalled | null | undefined, removed: readonly string[]) {
  if (!recalled || removed.length === 0) return recalled;
  return { ...recalled, gap: recalled.gap.filter(({ id }) => id === undefined || !removed.includes(id)) };
}

/** Whether `id` would be shown again. When recall failed that is not known. */
function isInGap(recalled: Recalled | null | undefined, id: string): boolean {
  return !recalled || recalled.gap.some((message) => message.id === id);
}
