import { type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { withKeptId } from "../../conversation/record.js";
import { MemoryError } from "../../errors.js";
import type { Memory } from "../../memory.js";
import type { SaidMessage } from "../../scope/scope.js";
import { messageText } from "../../text/message-text.js";
import { wayIn } from "../../way-in.js";
import { saverBehind } from "../checkpointer/forgetful-saver.js";
import { type RunIdentity, runIdentity } from "../run/run-identity.js";

/** A run that may go on. */
export interface ClaimedRun {
  readonly identity: RunIdentity;
  /** The state's messages without those of runs that were refused. */
  readonly messages: readonly BaseMessage[];
  /** What takes those out of the state. */
  readonly removals: readonly RemoveMessage[];
}

/** Users' messages of the state that are told apart: a run that is refused brings one or two. */
const latestSaid = 50;

/**
 * Makes the run's thread its owner's before anything else of it happens.
 *
 * `memory.checkpointer()` has done so already. Any other has by then written what a run brings into the thread's
 * state, also of a run that is refused here: it is noted then, and left out of the owner's next run. One more round
 * trip with such a checkpointer.
 *
 * @throws MemoryError `SCOPE_REQUIRED`, `INVALID_INPUT`, `THREAD_FORBIDDEN`
 */
export async function claimRun(
  memory: Memory,
  messages: readonly BaseMessage[],
  config: LangGraphRunnableConfig,
): Promise<ClaimedRun> {
  const saver: unknown = config.configurable?.__pregel_checkpointer;
  const isForeign = saver !== undefined && saverBehind(saver) !== memory.checkpointer();
  if (!isForeign) return { identity: runIdentity(config, memory), messages, removals: [] };

  const said = messages
    .filter((message) => message.getType() === "human")
    .flatMap(saidBy)
    .slice(-latestSaid);
  const identity = await identityOrRefusal(memory, said, config);
  const { strangers } = await memory.threads.claim({ ...identity, said });
  const left = new Set(strangers);
  const isLeft = (message: BaseMessage) => left.has(withKeptId(message).id ?? "");
  return {
    identity,
    messages: messages.filter((message) => !isLeft(message)),
    removals: messages.filter(isLeft).map(({ id = "" }) => new RemoveMessage({ id })),
  };
}

function saidBy(message: BaseMessage): SaidMessage[] {
  const { id } = withKeptId(message);
  return id === undefined ? [] : [{ id, text: messageText(message) }];
}

/** The run's identity; what a run brought that has none is noted as a stranger's. */
async function identityOrRefusal(
  memory: Memory,
  said: readonly SaidMessage[],
  config: LangGraphRunnableConfig,
): Promise<RunIdentity> {
  try {
    return runIdentity(config, memory);
  } catch (error) {
    const threadId: unknown = config.configurable?.thread_id;
    if (MemoryError.is(error, "SCOPE_REQUIRED") && typeof threadId === "string" && threadId.trim() !== "") {
      await wayIn(memory).refuse({ threadId, said });
    }
    throw error;
  }
}
