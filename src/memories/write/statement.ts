import type { LockedOwner } from "../../scope/scope-predicates.js";
import type { SameFact } from "../compare/merge-band.js";
import type { StandingConsent } from "../guard/decide-proposal.rule.js";
import type { MemoryKind, MemoryOrigin, MemoryTrust, MemoryVersion } from "../item/memory.js";
import { sourceRank } from "../slot/slot-conflict.rule.js";
import type { SlotValue } from "../slot/slot-timeline.rule.js";
import type { PreparedMemory } from "./prepare-memory.js";
import type { WriteConfig, WriteOrigin } from "./write-runtime.js";

/** What is to be written: one draft, or several of a batch that say the same. */
export interface Statement {
  /** As the first of its drafts has it. */
  readonly memory: PreparedMemory;
  /** The text's vector in pgvector's text form; null without embeddings. */
  readonly vector: string | null;
  /** Each time it was said, in order. */
  readonly said: readonly [Saying, ...Saying[]];
}

/** One time that a statement was said. */
interface Saying {
  /** The place of the draft among those that were given. */
  readonly draft: number;
  /** How many of the owner's turns ago. */
  readonly turnsAgo: number;
  readonly source: PreparedMemory["source"];
}

/** A memory as its owner is told of it: whose word it is, and when it was said. */
export interface ToldMemory extends PreparedMemory {
  /** See `sourceRank`. */
  readonly rank: number;
  /** The owner's turn. */
  readonly turn: number;
  readonly now: Date;
}

/** A statement as its owner is told of it. */
export interface ToldStatement extends Statement {
  readonly memory: ToldMemory;
}

/** `statement`, told to `owner`. */
export function toldTo(
  owner: { readonly turns: number; readonly now: Date },
  { memory, vector, said }: Statement,
): ToldStatement {
  const when = { turn: turnOf(owner, said[0].turnsAgo), now: owner.now };
  return { memory: { ...memory, ...when, rank: sourceRank(memory) }, vector, said };
}

/** The owner's turn that was `turnsAgo`. */
export function turnOf({ turns }: { readonly turns: number }, turnsAgo: number): number {
  return Math.max(0, turns - turnsAgo);
}

/** A stored memory that bears on a statement. */
export interface KnownMemory extends SlotValue, MemoryVersion {
  /**
   * "slot": holds the same slot. "same": says the same. "near": is among the most similar. "before" and "after" are no
   * longer active: the latest closed value of the slot that began by the statement's time, and the earliest since.
   */
  readonly relation: "slot" | "before" | "after" | "same" | "near";
  readonly ref: number;
  readonly kind: MemoryKind;
  readonly keyed: boolean;
  readonly origin: MemoryOrigin;
  readonly trust: MemoryTrust;
  readonly seenCount: number;
  /** Whether it is hidden by now, and only waits to be swept. */
  readonly expired: boolean;
  readonly actorId: string | null;
  /** 1 but for "near". */
  readonly similarity: number;
}

/** A statement and all that bears on it. */
export interface GatheredStatement {
  readonly statement: Statement;
  readonly known: readonly KnownMemory[];
  /** What waits for its slot, or was refused there not long ago. Of a statement without a key: for its category. */
  readonly standing: readonly StandingConsent[];
}

/** Two statements of one batch that are near each other, by the places of their drafts. */
export interface AlikePair {
  readonly earlier: number;
  readonly later: number;
  readonly similarity: number;
}

/** What a statement may say again. Without an id it is an earlier one of the same batch. */
export type SaidBefore = Pick<KnownMemory, "text"> & { readonly id: string | null };

/** A model's word on how a draft stands to a statement that it nearly equals. */
export interface Answer {
  /** The draft's place. */
  readonly draft: number;
  readonly known: SaidBefore;
  readonly verdict: SameFact;
}

/** How `statement` stands to `known`. What nobody answered, or has another text by now, is "different". */
export function answerTo(
  answers: readonly Answer[],
  { said: [{ draft }] }: Pick<Statement, "said">,
  { id, text }: SaidBefore,
): SameFact {
  // An earlier one of the batch is asked about before it has an id, and after.
  const answer = answers.find(
    ({ draft: about, known }) => about === draft && (known.id ?? id) === id && known.text === text,
  );
  return answer?.verdict ?? "different";
}

/** What decisions and plans go by besides the statements. */
export interface WriteContext {
  /** As it is under its lock. */
  readonly owner: LockedOwner;
  readonly config: WriteConfig;
  readonly origin: WriteOrigin;
  /** A model's answers to what was asked before the lock was taken. */
  readonly answers: readonly Answer[];
  /** The text search configuration. */
  readonly language: string;
  /** Which of the statements are so near each other that their memories are linked. */
  readonly alike: readonly AlikePair[];
  readonly newId: () => string;
}
