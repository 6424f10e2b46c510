import type { BaseMessage } from "@langchain/core/messages";
import type { PendingConsent } from "../consents/consent-lines.js";
import type { Conversation } from "../conversation/find-conversation.js";
import type { MemoryItem } from "../memories/item/memory.js";
import type { MemoryHit } from "../search/rank-memories.js";
import type { RecallMode } from "../search/retrieval-options.js";
import type { RecalledChange } from "./find-recall.js";

/** Durable memories for a round. */
export interface RecalledMemories {
  /** Slots and statements that are always shown, most important first. */
  readonly profile: readonly MemoryItem[];
  /** What fits the question, best first. */
  readonly relevant: readonly MemoryHit[];
  /** Compressed stretches of earlier turns that fit, best first. */
  readonly episodes: readonly MemoryHit[];
  /** Linked to the best of those. */
  readonly related: readonly MemoryItem[];
  /** Lessons from ended conversations with the app, latest first. */
  readonly notes: readonly MemoryItem[];
  /** Set when the search for what fits the question took too long (`retrieval.timeoutMs`), so that nothing of that is here. */
  readonly timedOut?: boolean;
}

/** What memory knows at the start of a round: its memories, changes and consents as far as the token budget goes. */
export interface Recalled {
  /** "passive": memories, changes and consents were not looked for. */
  readonly mode: RecallMode;
  /** The latest completed summary; null before the first. */
  readonly summary: Conversation["summary"];
  /** A newer summary that is still being made: then the gap is larger. */
  readonly processing: Conversation["processing"];
  /** Every recorded message after the summary's end, in order. */
  readonly gap: readonly BaseMessage[];
  /** The round that the summary ends with, where the gap holds no user's message. */
  readonly lastRound: readonly BaseMessage[];
  /** Ids of those that the graph's state did not hold at the beginning of the run. Only a recall node knows them. */
  readonly brought?: readonly string[];
  readonly lastSeq: number;
  /** Id of the last recorded message; null before the first. */
  readonly lastMessageId: string | null;
  readonly memories: RecalledMemories;
  /** Changes to the owner's memories that this thread was not told of. */
  readonly changes: {
    readonly since: number;
    /** The revision this recall saw. */
    readonly revision: number;
    readonly count: number;
    /** The three most important, most important first. */
    readonly top: readonly RecalledChange[];
  };
  /** What waits for the user's consent and may be asked about, newest first. */
  readonly consents: readonly PendingConsent[];
}
