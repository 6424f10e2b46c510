import type { Scope } from "../../scope/scope.js";
import { containedLine } from "../../text/contained-text.js";
import { contentHash } from "../../text/normal-value.js";
import type { MemoryMetadata } from "./memory-metadata.rule.js";

/** Whose words a memory is made of. "operator": a person in charge; "worker": background work on mixed material. */
export const memoryOrigins = [
  "user",
  "assistant",
  "tool",
  "document",
  "worker",
  "operator",
  "import",
  "unknown",
] as const;

export type MemoryOrigin = (typeof memoryOrigins)[number];

export type MemoryTrust = (typeof memoryTrusts)[number];

/** Whose word it is: an operator vouches for it, the user said it, an agent wrote it, or nobody knows. */
export const memoryTrusts = ["operator", "user", "agent", "untrusted"] as const;

const trustByOrigin: Readonly<Record<MemoryOrigin, MemoryTrust>> = {
  operator: "operator",
  user: "user",
  assistant: "agent",
  worker: "agent",
  tool: "untrusted",
  document: "untrusted",
  import: "untrusted",
  unknown: "operator",
};

/** What code adds is the word of its operator. With the role of another speaker nobody vouches for it. */
export function trustOf(origin: MemoryOrigin, role?: string | null): MemoryTrust {
  return origin === "unknown" && role != null ? "untrusted" : trustByOrigin[origin];
}

/** Whether a person in charge wrote or approved these words. Code may pass on what others wrote. */
export function isApproved({ origin, trust }: Pick<MemoryItem, "origin" | "trust">): boolean {
  return trust === "operator" && origin !== "unknown";
}

/** The warning that models see with a memory that nobody vouches for; null for the others. */
export function unverified({ origin, trust }: Pick<MemoryItem, "origin" | "trust">): string | null {
  if (trust !== "untrusted" || origin === "unknown") return null;
  return `unverified, ${origin === "tool" || origin === "document" ? `from a ${origin}` : "imported"}`;
}

/** `words` of a memory as one line of a prompt, with that warning. */
export function shownLine(memory: Parameters<typeof unverified>[0], words: string): string {
  const doubt = unverified(memory);
  return doubt === null ? containedLine(words) : `${containedLine(words)} (${doubt})`;
}

export function originOfRole(role: string | null | undefined): MemoryOrigin {
  return role === "user" || role === "assistant" || role === "tool" ? role : "unknown";
}

/** Insights, unless pinned, are shown only where room is left. In SQL it is `ranksLast`. */
export function ranksLast({ kind, pinned }: Pick<MemoryItem, "kind" | "pinned">): boolean {
  return kind === "insight" && !pinned;
}

export function bestSimilarity(hits: readonly { readonly similarity: number }[]): number | null {
  return hits.reduce<number | null>((best, { similarity }) => Math.max(best ?? similarity, similarity), null);
}

/** Equal for memories that say the same. Episodes of different turns differ even with equal text. */
export function memoryHash(memory: {
  readonly kind: MemoryKind;
  readonly text: string;
  readonly threadId?: string | null | undefined;
  readonly turnStart?: number | null | undefined;
}): string {
  const { kind, text, threadId, turnStart } = memory;
  const episode = kind === "episode" && threadId != null && turnStart != null;
  return contentHash(episode ? JSON.stringify([threadId, turnStart, text]) : text);
}

export const memoryKinds = ["fact", "episode", "note", "insight", "procedure"] as const;

/** A fact, a compressed stretch of turns, an app's lesson, an insight, or numbered steps. */
export type MemoryKind = (typeof memoryKinds)[number];

/** Only active memories are ever recalled. "quarantined": waits for an operator, see `MemoryDraft.origin`. */
export const memoryStates = ["active", "superseded", "merged", "soft_deleted", "quarantined"] as const;
export const memorySorts = ["newest", "oldest", "updated", "used", "importance"] as const;

/** Ties: the newer one first. */
export type MemorySort = (typeof memorySorts)[number];

export type MemoryLifecycle = (typeof memoryStates)[number];

/** Where a memory was learned. */
export interface MemorySource {
  readonly threadId: string;
  /** Seqs of the messages it was learned from, ascending. */
  readonly seqs: readonly number[];
  /** The words it rests on, verbatim. */
  readonly quote?: string | undefined;
}

/** A memory to be written. Unset fields get the defaults named. */
export interface MemoryDraft {
  /** One self-contained sentence or two, third person. */
  readonly text: string;
  /** @default "fact" */
  readonly kind?: MemoryKind | undefined;
  /** A configured category. @default by kind */
  readonly category?: string | undefined;
  /** With a key the memory is a slot: one active value for each category and key. Kept in lower snake case. */
  readonly key?: string | undefined;
  readonly value?: string | undefined;
  /** 1 (trivia) to 5 (vital). @default 3, of an insight 2 */
  readonly importance?: number | undefined;
  /** 0 to 1. @default by origin: 1 operator, 0.9 user, 0.8 code or tool, 0.7 document, 0.6 inferred, 0.5 import */
  readonly confidence?: number | undefined;
  /** Pinned memories are never forgotten by age. @default false */
  readonly pinned?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Plain JSON, at most 8,000 characters. Found by `filters.metadata`; no model sees it. @default {} */
  readonly metadata?: MemoryMetadata | undefined;
  /** When it is hidden: a `Date`, or text in ISO 8601. Said again without one, it never expires. @default never */
  readonly expiresAt?: Date | string | undefined;
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly role?: string | undefined;
  /**
   * Whose words it is. When two values of a slot conflict, an operator's word ranks above the user's, this above
   * "unknown", "tool" and "document", and these above inferred or imported words; then confidence and time decide. Text
   * that reads as instructions to a model is quarantined, unless an operator wrote it. @default by `role`: "user",
   * "assistant" and "tool" as such, else "unknown", the word of your code (trust "operator")
   */
  readonly origin?: MemoryOrigin | undefined;
  readonly source?: MemorySource | undefined;
  /** First and last turn of an episode, counted from 1. */
  readonly turns?: { readonly start: number; readonly end: number } | undefined;
  /** Since when it holds: its place among the values of a slot. A `Date`, or text in ISO 8601. @default now */
  readonly validFrom?: Date | string | undefined;
  /**
   * What was known is wrong: this wins at any confidence over words of the same rank that are not later. Only
   * the user or an operator corrects the user's word, and only an operator an operator's. @default false
   */
  readonly correction?: boolean | undefined;
}

/** A change by hand. A text without the slot's value clears the value, unless `value` is given. */
export interface MemoryPatch
  extends Partial<
    Pick<MemoryDraft, "text" | "value" | "category" | "importance" | "confidence" | "pinned" | "tags" | "metadata">
  > {
  /** Null: never expires. A later time, or null, restores an expired memory. */
  readonly expiresAt?: Date | string | null;
}

export type MemoryVersion = Pick<MemoryItem, keyof MemoryPatch>;

/** A stored memory. */
export interface MemoryItem {
  readonly id: string;
  readonly scope: Scope;
  readonly kind: MemoryKind;
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  readonly importance: number;
  readonly confidence: number;
  readonly pinned: boolean;
  readonly state: MemoryLifecycle;
  readonly tags: readonly string[];
  readonly metadata: MemoryMetadata;
  /** When it is hidden by itself; then its state reads `soft_deleted`. */
  readonly expiresAt: Date | null;
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly actorId: string | null;
  readonly role: string | null;
  readonly origin: MemoryOrigin;
  /** "operator" once a person approved it. */
  readonly trust: MemoryTrust;
  readonly source: MemorySource | null;
  readonly turns: { readonly start: number; readonly end: number } | null;
  /** How often it was said. */
  readonly seenCount: number;
  readonly validFrom: Date;
  readonly validTo: Date | null;
  readonly supersededBy: string | null;
  /** What its slot said before; only in what a turn recalls. */
  readonly earlier?: string;
  readonly lastAccessedAt: Date;
  readonly purgeAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Rises with each change of this memory, but not when it is used: see `ifRevision`. */
  readonly revision: number;
}
