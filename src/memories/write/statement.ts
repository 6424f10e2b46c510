import type { LockedOwner } from "../../scope/scope-predicates.js";
import type { StandingConsent } from "../guard/decide-proposal.rule.js";
import type { MemoryKind, MemoryOrigin, MemoryTrust, MemoryVersion } from "../item/memory.js";
import { sourceRank } from "../slot/slot-conflict.rule.js";
import type { SlotValue } from "../slot/slot-timeline.rule.js";
import type { Measure } from "./draft-similarity.js";
import type { PreparedMemory } from "./prepare-memory.js";
import type { WriteConfig, WriteOrigin } from "./write-runtime.js";

/** One draft, ready to be written. */
export interface Statement {
  /** Its place in the call. */
  readonly draft: number;
  readonly turnsAgo: number;
  readonly memory: PreparedMemory;
  /** In pgvector's text form; null without embeddings. */
  readonly vector: string | null;
  /** What it is compared with other drafts by; null for the only one. */
  readonly measure: Measure | null;
}

export interface ToldMemory extends PreparedMemory {
  readonly rank: number;
  readonly turn: number;
  readonly now: Date;
}

export interface ToldStatement extends Statement {
  readonly memory: ToldMemory;
}

export function toldTo<Of extends Pick<Statement, "memory" | "turnsAgo">>(
  owner: { readonly turns: number; readonly now: Date },
  statement: Of,
): Of & { readonly memory: ToldMemory } {
  const { memory, turnsAgo } = statement;
  const when = { turn: turnOf(owner, turnsAgo), now: owner.now };
  return { ...statement, memory: { ...memory, ...when, rank: sourceRank(memory) } };
}

export function turnOf({ turns }: { readonly turns: number }, turnsAgo: number): number {
  return Math.max(0, turns - turnsAgo);
}

export interface KnownMemory extends SlotValue, MemoryVersion {
  /**
   * "slot": has the same slot. "same": says the same. "near": is among the most similar. "before", "after": the closed
   * values of the slot around the statement's time. "target": a model says that it is about this one.
   */
  readonly relation: "slot" | "before" | "after" | "same" | "near" | "target";
  /** Null for one that an earlier draft of the batch made. */
  readonly ref: number | null;
  readonly kind: MemoryKind;
  readonly keyed: boolean;
  readonly origin: MemoryOrigin;
  readonly trust: MemoryTrust;
  readonly seenCount: number;
  /** Overdue: a sweep has yet to hide it. */
  readonly expired: boolean;
  readonly actorId: string | null;
  /** 1 except for "near". */
  readonly similarity: number;
}

export interface FoundStatement {
  readonly statement: Statement;
  readonly known: readonly KnownMemory[];
  /** Waiting, or refused not long ago: for its slot, or its category without a key. */
  readonly standing: readonly StandingConsent[];
}

export interface WriteContext {
  readonly owner: LockedOwner;
  readonly config: WriteConfig;
  readonly origin: WriteOrigin;
  readonly newId: () => string;
}
