import { type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { internalApi } from "../../internal-api.js";
import type { Memory } from "../../memory.js";
import { isOthersSummary, opensTurn } from "../../messages/inserted-message.js";
import type { Recalled } from "../../prompt/recalled.js";
import { shownBy } from "../../prompt/shown-by.js";
import { saidInState } from "../../prompt/turn-messages.js";
import { wordsOf } from "../../transcript/message-words.js";
import { withStorableId } from "../../transcript/record.js";
import {
  checkOptions,
  continueOnError,
  type MessagesKeyOption,
  messagesKeyField,
  type NodeUpdate,
  type TurnOptions,
  turnOptionsSchema,
} from "../run/node-options.js";
import { runOrigin, runTimeZone } from "../run/run-identity.js";
import { streamEvent } from "../run/run-state.js";
import {
  fromState,
  type MemoryState,
  type MemoryUpdate,
  memoryKey,
  messagesOf,
} from "../run/state-fields.js";
import { turnIdentity } from "../run/turn-identity.js";

export interface RememberNodeOptions<Key extends string = "messages">
  extends Pick<TurnOptions, "session" | "onError" | "agent">,
    MessagesKeyOption<Key> {}

const optionsSchema = turnOptionsSchema
  .pick({ session: true, onError: true, agent: true })
  .extend(messagesKeyField);

/** Does not compile in a graph whose state lacks `Key`. */
export type RememberNode<Key extends string = "messages"> = <Update = MemoryUpdate<Key>>(
  state: { readonly [K in Key]: readonly BaseMessage[] } & MemoryState,
  config: LangGraphRunnableConfig,
) => NodeUpdate<Update, Key>;

/**
 * A node that ends a turn: records new messages and starts a due summary. One round trip, two with
 * a summary. Place it after the agent, in the graph that owns `messages`: what a subgraph removes
 * stays in its parent.
 * @throws MemoryError `INVALID_INPUT` for unknown options
 */
export function rememberNode<Key extends string = "messages">(
  memory: Memory,
  options: RememberNodeOptions<Key> = {},
): RememberNode<NoInfer<Key>> {
  checkOptions(memory, optionsSchema, options, "rememberNode");
  return remembering(memory, options) as unknown as RememberNode<NoInfer<Key>>;
}

/** For callers that have checked the options. */
export function remembering(
  memory: Memory,
  { session, onError, agent, messagesKey = "messages" }: RememberNodeOptions<string>,
) {
  return async (
    state: MemoryState & Readonly<Record<string, unknown>>,
    config: LangGraphRunnableConfig,
  ): Promise<MemoryState & Record<string, unknown>> => {
    const recalled = fromState(state[memoryKey]) ?? null;
    const stateMessages = messagesOf(state, messagesKey, config, "rememberNode");
    let update: MemoryState & Record<string, unknown> = {};
    await continueOnError(memory, { node: "remember", onError }, config, async () => {
      const said = stateMessages.flatMap((message) => saidInState(message, recalled) ?? []);
      const edited = recalled?.edited ?? [];
      // None of the state's, if it lacks the last recorded one: recording is idempotent.
      const last = recalled?.lastMessageId ?? null;
      const recordedEnd = said.findLastIndex(({ id }) => id === last) + 1;
      const recordedBefore = said.slice(0, recordedEnd);
      const { recorded, summary } = await memory.remember({
        ...turnIdentity(config, memory, stateMessages, agent),
        ...runOrigin(config, agent),
        timeZone: runTimeZone(config),
        messages: [
          // Edited before the run, as the run leaves them: it may have redacted them, or taken them out.
          ...edited.map((message) => said.find(({ id }) => id === message.id) ?? message),
          ...recordedBefore.filter(isOthersSummary),
          ...said.slice(recordedEnd),
        ].map(withStorableId),
        stateChanges: {
          edited: edited.flatMap(({ id }) => id ?? []),
          rewritten: rewrittenIn(said, recalled),
        },
        ...(recalled?.mode === "active" && { shown: shownBy(recalled) }),
      });
      streamEvent(config, "remember", "ok", {
        recorded,
        summary: summary.started ? { id: summary.summaryId, ...summary.window } : summary.reason,
      });
      // Not where another summarises the state.
      const drops = session === "bounded" && !said.some(isOthersSummary);
      const keepRecentMessages = internalApi(memory).keepRecentMessages();
      const dropped = drops ? idsToDrop(recordedBefore, keepRecentMessages) : [];
      const messages = stateUpdate(stateMessages, said, dropped);
      update = { [memoryKey]: undefined, ...(messages.length > 0 && { [messagesKey]: messages }) };
    });
    return update;
  };
}

/** What makes the state hold what was said, as it was recorded, without what is dropped. */
function stateUpdate(
  stateMessages: readonly BaseMessage[],
  said: readonly BaseMessage[],
  dropped: readonly string[],
) {
  const kept = new Map(said.map((message) => [message.id, message]));
  for (const id of dropped) kept.delete(id);
  const ids = new Set(stateMessages.flatMap(({ id }) => id ?? []));
  const gone = [...ids].filter((id) => !kept.has(id)).map((id) => new RemoveMessage({ id }));
  const before = new Set(stateMessages);
  return [...gone, ...[...kept.values()].filter((message) => !before.has(message))];
}

/**
 * Messages whose words the run itself changed, such as what a middleware redacts; all with words,
 * if there was no recall to compare with. That is no edit, and the next turn must know.
 */
function rewrittenIn(said: readonly BaseMessage[], recalled: Recalled | null) {
  const edited = new Set(recalled?.edited?.map(({ id }) => id));
  return said.filter((message) => {
    const { id } = message;
    if (id === undefined || edited.has(id)) return false;
    const words = wordsOf(message);
    if (words === null || !recalled) return words !== null;
    return words !== (recalled.words?.get(id) ?? words);
  });
}

/** Ids to remove from a bounded state: recorded before this turn, except the last turns. */
function idsToDrop(recordedBefore: readonly BaseMessage[], keepRecentMessages: number): string[] {
  const talk = recordedBefore.filter((message) => message.getType() !== "system");
  const recent = Math.max(0, talk.length - keepRecentMessages);
  const begin =
    keepRecentMessages === 0
      ? talk.length
      : talk.findLastIndex((message, at) => at <= recent && opensTurn(message));
  return talk.slice(0, Math.max(0, begin)).flatMap((message) => message.id ?? []);
}
