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

/** Whose words a memory is made of. */
export type MemoryOrigin = (typeof memoryOrigins)[number];

/**
 * How far a memory's words may be relied on: an operator vouches for them, as for what the operator's code adds; the user
 * said them; an agent wrote them down; or nobody knows what stands in them.
 */
export type MemoryTrust = (typeof memoryTrusts)[number];

/** How far a memory's words may be relied on. */
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

/**
 * The trust that words of `origin` begin with. What code adds is the word of whoever runs it; with the role of some other
 * speaker it is nobody's.
 */
export function trustOf(origin: MemoryOrigin, role?: string | null): MemoryTrust {
  return origin === "unknown" && role != null ? "untrusted" : trustByOrigin[origin];
}

/** Whether a person in charge wrote or approved these very words. Code may hand on what somebody else wrote. */
export function isApproved({ origin, trust }: Pick<MemoryItem, "origin" | "trust">): boolean {
  return trust === "operator" && origin !== "unknown";
}

const sources: Readonly<Record<Exclude<MemoryOrigin, "unknown">, string>> = {
  tool: "from a tool",
  document: "from a document",
  import: "imported",
  user: "imported",
  assistant: "imported",
  worker: "imported",
  operator: "imported",
};

/**
 * What is said of a memory that nobody vouches for, wherever a model is shown it; null for the others. What a program
 * adds without an origin is that program's own word.
 */
export function unverified(memory: {
  readonly origin: MemoryOrigin;
  readonly trust: MemoryTrust;
}): string | null {
  if (memory.trust !== "untrusted" || memory.origin === "unknown") return null;
  return `unverified, ${sources[memory.origin]}`;
}

/** `words` of a memory as one line of a prompt, with what is to be said of it where nobody vouches for it. */
export function shownLine(memory: Parameters<typeof unverified>[0], words: string): string {
  const doubt = unverified(memory);
  return doubt === null ? containedLine(words) : `${containedLine(words)} (${doubt})`;
}

/** The origin of a memory whose writer named none: that of the message role it was learned from, if there is one. */
export function originOfRole(role: string | null | undefined): MemoryOrigin {
  return role === "user" || role === "assistant" || role === "tool" ? role : "unknown";
}

/**
 * Whether a memory is shown only where there is room after the others: an insight, which nobody said, unless somebody
 * pinned it. In SQL it is `givingWay`.
 */
export function givesWay({ kind, pinned }: Pick<MemoryItem, "kind" | "pinned">): boolean {
  return kind === "insight" && !pinned;
}

/** Similarity of the best of `hits`; null without any. */
export function bestSimilarity(hits: readonly { readonly similarity: number }[]): number | null {
  return hits.reduce<number | null>((best, { similarity }) => Math.max(best ?? similarity, similarity), null);
}

/**
 * A digest that two memories of an owner share when they say the same. Two stretches of turns stay two episodes, even
 * when they read alike.
 */
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

/** What memories are: a fact, a compressed stretch of turns, an app's lesson, an insight, or numbered steps. */
export const memoryKinds = ["fact", "episode", "note", "insight", "procedure"] as const;

/** What a memory is. */
export type MemoryKind = (typeof memoryKinds)[number];

/** Only active memories are ever recalled. "quarantined": waits for an operator, see `MemoryDraft.origin`. */
export const memoryStates = ["active", "superseded", "merged", "soft_deleted", "quarantined"] as const;

/** Orders of a list of memories. */
export const memorySorts = ["newest", "oldest", "updated", "used", "importance"] as const;

/** An order of a list of memories; of two that are alike in it, the newer one is first. */
export type MemorySort = (typeof memorySorts)[number];

/** How a memory stands. */
export type MemoryLifecycle = (typeof memoryStates)[number];

/** Where a memory was learned. */
export interface MemorySource {
  readonly threadId: string;
  /** Seqs of the messages it was learned from, ascending. */
  readonly seqs: readonly number[];
  /** The words it rests on, as they were said. */
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
  /** 1 (trivia) to 5 (vital). @default 3 */
  readonly importance?: number | undefined;
  /**
   * 0 to 1. @default by whose word it is: 1 for an operator's, 0.9 for a user's, 0.8 for code's and a tool's, 0.7 for a
   * document's, 0.6 for what was inferred, 0.5 for what was imported
   */
  readonly confidence?: number | undefined;
  /** Pinned memories are never forgotten by age. @default false */
  readonly pinned?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  /**
   * What a program notes beside it, as plain JSON of at most 8,000 characters: `{ source: "crm" }`. Found by
   * `filters.metadata`; no model is ever shown it. @default {}
   */
  readonly metadata?: MemoryMetadata | undefined;
  /**
   * From then on it is hidden everywhere, as a removed memory is, even where nothing has swept it yet: a `Date`, or text
   * in ISO 8601. Said again without one, it holds for good. @default never
   */
  readonly expiresAt?: Date | string | undefined;
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly role?: string | undefined;
  /**
   * Whose words it is made of. Where two memories of a slot contradict each other, the user's own word (or an
   * operator's) counts more than what code, a tool or a document gave ("unknown", "tool", "document"), and that more than
   * what was inferred or imported; only then do confidence and time decide. What reads as instructions to a model is put in quarantine, unless an operator wrote
   * it. @default by `role`: "user", "assistant" and "tool" are meant as such, anything else is "unknown". Without either it
   * is the word of your code, of trust "operator"
   */
  readonly origin?: MemoryOrigin | undefined;
  readonly source?: MemorySource | undefined;
  /** First and last turn of an episode, counted from 1. */
  readonly turns?: { readonly start: number; readonly end: number } | undefined;
  /**
   * Since when it holds: a value of a slot finds its place in time, whenever it is told. A `Date`, or text in ISO 8601.
   * @default now
   */
  readonly validFrom?: Date | string | undefined;
  /**
   * What was known was plainly corrected: wins whatever the confidences, against the word of one's like. What is told of
   * an earlier time stays there, and the user's word is corrected by the user or an operator only. @default false
   */
  readonly correction?: boolean | undefined;
}

/** What of a memory may be changed by hand. A slot whose value a new text has no more is without one, unless `value` is given. */
export interface MemoryPatch
  extends Partial<
    Pick<
      MemoryDraft,
      "text" | "value" | "category" | "importance" | "confidence" | "pinned" | "tags" | "metadata"
    >
  > {
  /** Null: it holds for good. What has expired is brought back by a later time, or by null. */
  readonly expiresAt?: Date | string | null;
}

/** What a version of a memory is made of. */
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
  /** What a program noted beside it. */
  readonly metadata: MemoryMetadata;
  /** When it is hidden by itself; then its state reads `soft_deleted`. */
  readonly expiresAt: Date | null;
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly actorId: string | null;
  readonly role: string | null;
  /** Whose words it is made of. */
  readonly origin: MemoryOrigin;
  /** How far they may be relied on; "operator" once a person approved them. */
  readonly trust: MemoryTrust;
  readonly source: MemorySource | null;
  readonly turns: { readonly start: number; readonly end: number } | null;
  /** How often it was said. */
  readonly seenCount: number;
  readonly validFrom: Date;
  readonly validTo: Date | null;
  /** Id of the memory that took its place. */
  readonly supersededBy: string | null;
  readonly lastAccessedAt: Date;
  readonly purgeAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Rises with each change of this memory, whoever makes it, and not when it is only used: see `ifRevision`. */
  readonly revision: number;
}
