import type { BaseMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { internalApi } from "../../internal-api.js";
import { bestSimilarity } from "../../memories/item/memory.js";
import type { Memory } from "../../memory.js";
import { isOthersSummary, opensTurn } from "../../messages/inserted-message.js";
import { messageText } from "../../messages/message-text.js";
import { maxMessageIds, type RecallInput } from "../../prompt/recall-request.js";
import type { Recalled } from "../../prompt/recalled.js";
import { shownCounts } from "../../prompt/turn-messages.js";
import {
  checkOptions,
  continueOnError,
  type MessagesKeyOption,
  messagesKeyField,
  type NodeUpdate,
  type TurnOptions,
  turnOptionsSchema,
} from "../run/node-options.js";
import { type RunIdentity, runIdentity, runMode, runTimeZone } from "../run/run-identity.js";
import { streamEvent } from "../run/run-state.js";
import {
  type MemoryState,
  type MemoryUpdate,
  memoryKey,
  messagesOf,
  removedKey,
  requireMemoryKey,
  toState,
  withoutRemoved,
} from "../run/state-fields.js";
import { turnIdentity } from "../run/turn-identity.js";

export interface RecallNodeOptions<Key extends string = "messages">
  extends Pick<TurnOptions, "onError" | "agent" | "minTrust" | "memoryMode">,
    MessagesKeyOption<Key> {}

const optionsSchema = turnOptionsSchema
  .pick({ onError: true, agent: true, minTrust: true, memoryMode: true })
  .extend(messagesKeyField);

/**
 * Does not compile in a graph whose state lacks `Key` or memory's key; the run refuses it with
 * `INVALID_INPUT`.
 */
export type RecallNode<Key extends string = "messages"> = <Update = MemoryUpdate<Key>>(
  state: { readonly [K in Key]?: readonly BaseMessage[] },
  config: LangGraphRunnableConfig,
) => NodeUpdate<Update, Key | typeof memoryKey>;

/**
 * A node that recalls the run's thread into the state, for `modelView` and the remember node. Place
 * it before the agent. The state needs the key `mnemograph`: `memoryAnnotation.spec`,
 * `memoryStateFields` or, in zod, `memoryFields`. Claims an unowned thread. One round trip, two
 * after time travel, one more on a new thread without `memory.checkpointer()`.
 * @throws MemoryError `INVALID_INPUT` for unknown options; in the run `SCOPE_REQUIRED`,
 * `INVALID_INPUT`, `THREAD_FORBIDDEN`, even with `onError: "continue"`
 */
export function recallNode<Key extends string = "messages">(
  memory: Memory,
  options: RecallNodeOptions<Key> = {},
): RecallNode<NoInfer<Key>> {
  checkOptions(memory, optionsSchema, options, "recallNode");
  const recall = recalling(memory, options);
  const node: typeof recall = (state, config) => {
    requireMemoryKey(config, options.messagesKey);
    return recall(state, config);
  };
  return node as unknown as RecallNode<NoInfer<Key>>;
}

/** For callers that have checked the options. */
export function recalling(
  memory: Memory,
  { onError, agent, minTrust, memoryMode, messagesKey = "messages" }: RecallNodeOptions<string>,
) {
  let isWarned = false;
  return async (
    state: Readonly<Record<string, unknown>>,
    config: LangGraphRunnableConfig,
  ): Promise<MemoryState> => {
    let update: MemoryState = { [memoryKey]: null };
    const messages = messagesOf(state, messagesKey, config, "recallNode");
    await continueOnError(memory, { node: "recall", onError }, config, async () => {
      const identity = turnIdentity(config, memory, messages, agent);
      const mode = runMode(config) ?? memoryMode;
      const recalled = await recallForState(memory, identity, messages, {
        agent,
        minTrust,
        mode,
        timeZone: runTimeZone(config),
      });
      // `memory.checkpointer()` has already claimed the run's thread.
      const isClaimed = () =>
        config.configurable?.__pregel_checkpointer === memory.checkpointer() &&
        config.configurable?.thread_id === identity.threadId;
      if (recalled.lastMessageId === null && !isClaimed())
        await internalApi(memory).claim(identity);
      if (!isWarned && isSentAgain(messages, recalled)) {
        isWarned = true;
        internalApi(memory).warn(
          `Thread ${identity.threadId} was sent messages again under new ids: they are recorded again, and prompts have them ` +
            "twice. Send the new message alone, or give each message the same id every time.",
        );
      }
      const { relevant, episodes, timedOut } = recalled.memories;
      streamEvent(config, "recall", "ok", {
        ...shownCounts(
          messages,
          withoutRemoved(recalled, (state[removedKey] as string[] | undefined) ?? []),
        ),
        similarity: bestSimilarity([...relevant, ...episodes]),
        ...(timedOut && { detail: "timeout" }),
      });
      update = {
        [memoryKey]: toState({ ...recalled, brought: idsNotInState(messages, recalled) }),
      };
    });
    return update;
  };
}

/** Recalls what is always shown, for an agent that is given a task; null without memory. */
export function recallingForTask(
  memory: Memory,
  { onError, agent, minTrust, memoryMode }: RecallNodeOptions,
) {
  return async (config: LangGraphRunnableConfig): Promise<Recalled | null> => {
    let recalled: Recalled | null = null;
    if ((runMode(config) ?? memoryMode) === "passive") return recalled;
    await continueOnError(memory, { node: "recall", onError }, config, async () => {
      const reader = { agent, minTrust, timeZone: runTimeZone(config) };
      const identity = runIdentity(config, memory);
      recalled = await internalApi(memory).recallForTask({ ...identity, ...reader });
    });
    return recalled;
  };
}

/**
 * The latest summary may cover another branch's messages: a second call finds one that does not.
 */
async function recallForState(
  memory: Memory,
  identity: RunIdentity,
  messages: readonly BaseMessage[],
  reader: Pick<RecallInput, "agent" | "minTrust" | "mode" | "timeZone">,
): Promise<Recalled> {
  // System messages do not show the branch: they stay in the state.
  const talk = messages.filter((message) => message.getType() !== "system");
  const current = talk.findLast(opensTurn);
  const query = current && messageText(current);
  const input = { ...identity, ...reader, state: talk, ...(query !== undefined && { query }) };
  const latest = await memory.recall(input);
  if (fitsState(latest, talk)) return latest;
  const messageIds = talk.flatMap((message) => message.id ?? []).slice(-maxMessageIds);
  return memory.recall({ ...input, messageIds });
}

/** Whether the state holds the summary's end, or nothing that old. */
function fitsState({ summary, omitted, gap }: Recalled, talk: readonly BaseMessage[]): boolean {
  const end = omitted ?? summary;
  if (!end || talk.some((message) => message.id === end.endMessageId || isOthersSummary(message)))
    return true;
  const gapIds = new Set(gap.map((message) => message.id));
  const current = talk.findLastIndex((message) => message.getType() === "human");
  return talk.slice(0, Math.max(current, 0)).every((message) => gapIds.has(message.id));
}

/** Whether a caller without a checkpointer repeats what is recorded, under other ids. */
function isSentAgain(messages: readonly BaseMessage[], recalled: Recalled): boolean {
  if (messages.some(({ id }) => id === recalled.lastMessageId)) return false;
  const recorded = [...recalled.recent, ...recalled.lastTurn, ...recalled.gap];
  const ids = new Set(recorded.map(({ id }) => id));
  const said = new Set(recorded.filter(opensTurn).map(messageText));
  const earlier = messages.slice(0, Math.max(messages.findLastIndex(opensTurn), 0));
  return earlier.some(
    (message) => opensTurn(message) && !ids.has(message.id) && said.has(messageText(message)),
  );
}

function idsNotInState(
  state: readonly BaseMessage[],
  { recent, lastTurn, gap }: Recalled,
): string[] {
  const stateIds = new Set(state.map(({ id }) => id));
  const ids = [...recent, ...lastTurn, ...gap].flatMap(({ id }) => id ?? []);
  return ids.filter((id) => !stateIds.has(id));
}
