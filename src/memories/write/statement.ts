import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { LockedOwner } from "../../scope/scope-predicates.js";
import type { EarlierRequest } from "../guard/decide-proposal.rule.js";
import type { MemoryKind, MemoryOrigin, MemoryTrust, MemoryVersion } from "../item/memory.js";
import type { SlotValue } from "../slot/slot-timeline.rule.js";
import type { Measure } from "./draft-similarity.js";
import type { PreparedMemory } from "./prepare-memory.js";
import type { MemoryRelation, WriteConfig, WriteOrigin } from "./write-types.js";

/** What is known of a draft beside its fields. */
export interface DraftGrounds {
  /** Whether its quote, if any, counts as the user's plain statement. @default inferred */
  readonly stated?: boolean;
  /** A model's relation of it to an existing memory. @default none */
  readonly relation?: MemoryRelation | null;
  /** In turns of the owner. @default 0 */
  readonly turnsAgo?: number;
}

/** One draft, ready to be written. */
export interface Statement extends DraftGrounds {
  /** The draft's index in the call. */
  readonly draft: number;
  readonly memory: PreparedMemory;
  /** In pgvector's text form; null without embeddings. */
  readonly vector: string | null;
  /** For the comparison with the call's other drafts; null for a single draft. */
  readonly measure: Measure | null;
}

export interface RankedMemory extends PreparedMemory {
  readonly rank: number;
  readonly turn: number;
  readonly now: Date;
}

export interface ExistingMemory extends SlotValue, MemoryVersion {
  /**
   * "slot": has the same slot. "same": has the same text. "near": one of the most similar.
   * "before", "after": closed values of the slot around the statement's time. "target": a model
   * says that the statement is about it.
   */
  readonly relation: "slot" | "before" | "after" | "same" | "near" | "target";
  /** Null when an earlier draft of the batch created it. */
  readonly ref: number | null;
  readonly kind: MemoryKind;
  readonly keyed: boolean;
  readonly origin: MemoryOrigin;
  readonly trust: MemoryTrust;
  readonly seenCount: number;
  /** It has expired, but the sweep has not hidden it yet. */
  readonly expired: boolean;
  readonly actorId: string | null;
  /** 1 except for "near". */
  readonly similarity: number;
}

/** A statement with what it may change. */
export interface FoundStatement extends Statement {
  readonly memory: RankedMemory;
  readonly existing: readonly ExistingMemory[];
  /** Pending or recently refused requests for its slot, or for its category without a key. */
  readonly requests: readonly EarlierRequest[];
}

export interface WriteContext {
  readonly owner: LockedOwner;
  readonly config: WriteConfig;
  /** Where statements are compared; null: by their words. */
  readonly space: EmbeddingSpace | null;
  readonly origin: WriteOrigin;
  readonly newId: () => string;
}
