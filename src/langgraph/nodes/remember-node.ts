import { type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { withKeptId } from "../../conversation/record.js";
import { bestSimilarity } from "../../memories/item/memory.js";
import type { Memory } from "../../memory.js";
import { saidInState } from "../../rounds/memory-block.js";
import type { Recalled } from "../../rounds/recalled.js";
import { type MemoryState, memoryKey, streamEvent } from "../run/memory-state.js";
import { checkOptions, continueOnError, type OnError, sharedOptions } from "../run/node-options.js";
import { runIdentity, runOrigin } from "../run/run-identity.js";
import { claimRun } from "./claim-run.js";

/** Whether the graph's state keeps the whole conversation or only what no summary covers. */
export type SessionMode = "full" | "bounded";

/** How a remember node behaves. */
export interface RememberNodeOptions {
  /** "bounded" removes summarised messages from the state; the transcript keeps them. @default "full" */
  readonly session?: SessionMode | undefined;
  /** Whether a failed remember ends the turn. @default "continue" */
  readonly onError?: OnError | undefined;
  /** The agent that was talked with: what is learned from the round carries its name. @default the run's `agent_id` */
  readonly agent?: string | undefined;
}

/** What a remember node puts into the state. */
export interface RememberedState extends MemoryState {
  /** Takes out what was recalled and what a bounded session no longer keeps. */
  messages?: BaseMessage[];
}

const optionsSchema = sharedOptions.pick({ session: true, onError: true, agent: true });

/**
 * A node that ends a round: it records the new messages and starts a summary when it is time.
 *
 * One round trip, two when a summary starts. Place it after the agent, in the graph that owns `messages`:
 * what a subgraph removes does not leave its parent's state.
 *
 * @throws MemoryError `INVALID_INPUT` for options that there are not.
 */
export function rememberNode(memory: Memory, options: RememberNodeOptions = {}) {
  checkOptions(memory, optionsSchema, options, "rememberNode");
  return async (
    state: { messages: BaseMessage[] } & MemoryState,
    config: LangGraphRunnableConfig,
  ): Promise<RememberedState> => {
    const recalled = state[memoryKey];
    return continueOnError<RememberedState>(
      memory,
      options.onError ?? "continue",
      "remember",
      config,
      async () => {
        // Recall has left out what strangers brought; where it failed, or in a run resumed after it, it is done here.
        const own = recalled ? state.messages : (await claimRun(memory, state.messages, config)).messages;
        const said = own.flatMap((message) => saidInState(message, recalled) ?? []);
        const messages = unrecorded(said, recalled).map(withKeptId);
        const { recorded, summary } = await memory.remember({
          ...runIdentity(config),
          ...runOrigin(config, options.agent),
          messages,
          ...(recalled?.mode === "active" && { shown: shownBy(recalled) }),
        });
        streamEvent(config, "remember", "ok", {
          recorded,
          summary: summary.started ? { id: summary.claim.summaryId, ...summary.window } : summary.reason,
        });
        const covered = options.session === "bounded" ? coveredMessages(said, recalled) : [];
        const update = stateUpdate(own, said, covered);
        return { [memoryKey]: undefined, ...(update.length > 0 && { messages: update }) };
      },
      {},
    );
  };
}

/** What leaves the state: what was recalled and a node returned, and what is `covered`; and what is said otherwise there. */
function stateUpdate(
  own: readonly BaseMessage[],
  said: readonly BaseMessage[],
  covered: readonly string[],
): BaseMessage[] {
  const kept = new Map(said.map((message) => [message.id, message]));
  for (const id of covered) kept.delete(id);
  const ids = new Set(own.flatMap(({ id }) => id ?? []));
  const gone = [...ids].filter((id) => !kept.has(id)).map((id) => new RemoveMessage({ id }));
  const held = new Set(own);
  return [...gone, ...[...kept.values()].filter((message) => !held.has(message))];
}

/** What counts as seen once the round is recorded: a turn that fails is told again. */
function shownBy({ changes, memories }: Recalled) {
  const hits = [...memories.relevant, ...memories.episodes].map(({ memory }) => memory);
  const shown = [...memories.profile, ...hits, ...memories.notes, ...memories.related];
  const similarity = bestSimilarity([...memories.relevant, ...memories.episodes]);
  return { revision: changes.revision, memoryIds: shown.map(({ id }) => id), similarity };
}

/** What came after the last recorded message; everything when it is not in the state: recording is idempotent. */
function unrecorded(said: BaseMessage[], recalled: Recalled | null | undefined): BaseMessage[] {
  const last = recalled?.lastMessageId ?? null;
  return last === null ? said : said.slice(said.findLastIndex((message) => message.id === last) + 1);
}

/** Ids of the messages that the summary in use covers, instructions excepted. */
function coveredMessages(said: BaseMessage[], recalled: Recalled | null | undefined): string[] {
  const end = said.findIndex((message) => message.id === recalled?.summary?.endMessageId);
  return said
    .slice(0, end + 1)
    .filter((message) => message.getType() !== "system")
    .flatMap((message) => message.id ?? []);
}
