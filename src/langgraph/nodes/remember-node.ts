import { type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { withKeptId } from "../../conversation/record.js";
import type { Memory } from "../../memory.js";
import { saidInState, shownBy } from "../../rounds/memory-block.js";
import type { Recalled } from "../../rounds/recalled.js";
import {
  checkOptions,
  continueOnError,
  type MessagesKeyOption,
  messagesKey,
  type NodeUpdate,
  type RoundOptions,
  roundOptions,
} from "../run/node-options.js";
import { runIdentity, runOrigin } from "../run/run-identity.js";
import { streamEvent } from "../run/run-state.js";
import { fromState, type MemoryState, memoryKey, messagesOf } from "../run/state-fields.js";

/** How a remember node behaves. */
export interface RememberNodeOptions<Key extends string = "messages">
  extends Pick<RoundOptions, "session" | "onError" | "agent">,
    MessagesKeyOption<Key> {}

const optionsSchema = roundOptions.pick({ session: true, onError: true, agent: true }).extend(messagesKey);

/** What a remember node puts into the state. Its messages take out what was recalled and what a bounded session no longer keeps. */
type RememberedState<Key extends string = "messages"> = MemoryState & { [K in Key]?: BaseMessage[] };

/** A remember node, for a state that has the messages under `Key`. In a graph whose state lacks the key it does not compile. */
export type RememberNode<Key extends string = "messages"> = <Update = RememberedState<Key>>(
  state: { readonly [K in Key]: readonly BaseMessage[] } & MemoryState,
  config: LangGraphRunnableConfig,
) => NodeUpdate<Update, Key>;

/**
 * A node that ends a round: it records the new messages and starts a summary when it is time.
 *
 * One round trip, two when a summary starts. Place it after the agent, in the graph that owns `messages`:
 * what a subgraph removes does not leave its parent's state.
 *
 * @throws MemoryError `INVALID_INPUT` for options that there are not.
 */
export function rememberNode<Key extends string = "messages">(
  memory: Memory,
  options: RememberNodeOptions<Key> = {},
): RememberNode<NoInfer<Key>> {
  checkOptions(memory, optionsSchema, options, "rememberNode");
  return remembering(memory, options) as unknown as RememberNode<NoInfer<Key>>;
}

/** The same node, of a way in that has checked its options. */
export function remembering(
  memory: Memory,
  { session, onError, agent, messagesKey = "messages" }: RememberNodeOptions<string>,
) {
  return async (
    state: MemoryState & Readonly<Record<string, unknown>>,
    config: LangGraphRunnableConfig,
  ): Promise<MemoryState & Record<string, unknown>> => {
    const recalled = fromState(state[memoryKey]);
    const inState = messagesOf(state, { messagesKey, config, node: "rememberNode" });
    let update: MemoryState & Record<string, unknown> = {};
    await continueOnError(memory, { node: "remember", onError }, config, async () => {
      const said = inState.flatMap((message) => saidInState(message, recalled) ?? []);
      const { recorded, summary } = await memory.remember({
        ...runIdentity(config, memory),
        ...runOrigin(config, agent),
        messages: unrecorded(said, recalled).map(withKeptId),
        ...(recalled?.mode === "active" && { shown: shownBy(recalled) }),
      });
      streamEvent(config, "remember", "ok", {
        recorded,
        summary: summary.started ? { id: summary.summaryId, ...summary.window } : summary.reason,
      });
      const messages = stateUpdate(
        inState,
        said,
        session === "bounded" ? coveredMessages(said, recalled) : [],
      );
      update = { [memoryKey]: undefined, ...(messages.length > 0 && { [messagesKey]: messages }) };
    });
    return update;
  };
}

/** What leaves the state: what was recalled and a node returned, and what is `covered`; and what is said otherwise there. */
function stateUpdate(
  inState: readonly BaseMessage[],
  said: readonly BaseMessage[],
  covered: readonly string[],
): BaseMessage[] {
  const kept = new Map(said.map((message) => [message.id, message]));
  for (const id of covered) kept.delete(id);
  const ids = new Set(inState.flatMap(({ id }) => id ?? []));
  const gone = [...ids].filter((id) => !kept.has(id)).map((id) => new RemoveMessage({ id }));
  const before = new Set(inState);
  return [...gone, ...[...kept.values()].filter((message) => !before.has(message))];
}

/** What came after the last recorded message; everything when it is not in the state: recording is idempotent. */
function unrecorded(said: BaseMessage[], recalled: Recalled | null | undefined): BaseMessage[] {
  const last = recalled?.lastMessageId ?? null;
  return last === null ? said : said.slice(said.findLastIndex((message) => message.id === last) + 1);
}

/**
 * Ids of the messages that the summary in use covers, or that are too many to be shown; instructions and recent messages
 * excepted. While the state does not reach back to the first of these, it alone tells which branch it is of: it stays.
 */
function coveredMessages(said: BaseMessage[], recalled: Recalled | null | undefined): string[] {
  if (!recalled) return [];
  const { leftOut, summary, recent } = recalled;
  const end = said.findIndex((message) => message.id === (leftOut ?? summary)?.endMessageId);
  const kept = new Set(recent.map(({ id }) => id));
  if (recent[0] && !said.some(({ id }) => id === recent[0]?.id)) return [];
  return said
    .slice(0, end + 1)
    .filter((message) => message.getType() !== "system" && !kept.has(message.id))
    .flatMap((message) => message.id ?? []);
}
