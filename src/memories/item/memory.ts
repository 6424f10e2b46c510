import type { Scope } from "../../scope/scope.js";
import { containedLine } from "../../screening/contained-text.js";
import { contentHash } from "../../text/normal-value.js";
import { doubtNote } from "./doubt.rule.js";
import { boundedMetadata, type MemoryMetadata } from "./memory-metadata.rule.js";

/**
 * The source of a memory's text, and the trust in it. "operator": a person in charge; "worker":
 * background work on mixed material.
 */
const trustByOrigin = {
  user: "user",
  assistant: "agent",
  tool: "untrusted",
  document: "untrusted",
  worker: "agent",
  operator: "operator",
  import: "untrusted",
  unknown: "operator",
} as const satisfies Readonly<Record<string, MemoryTrust>>;

export type MemoryOrigin = keyof typeof trustByOrigin;

export const memoryOrigins = Object.keys(trustByOrigin) as MemoryOrigin[];

export type MemoryTrust = (typeof memoryTrusts)[number];

/**
 * An operator approved it, the user said it, an agent wrote it, or nobody confirmed it: from the
 * most trusted to the least.
 */
export const memoryTrusts = ["operator", "user", "agent", "untrusted"] as const;

/** The trusts that are at least `least`. */
export function trustsFrom(least: MemoryTrust): readonly MemoryTrust[] {
  return memoryTrusts.slice(0, memoryTrusts.indexOf(least) + 1);
}

export type Provenance = Pick<MemoryItem, "origin" | "trust">;

export const provenanceOf = (origin: MemoryOrigin): Provenance => ({
  origin,
  trust: trustOf(origin),
});

/** The provenance of words that rest on all of `sources`: a chain is as strong as its weakest link. */
export function leastTrusted(first: Provenance, ...others: readonly Provenance[]): Provenance {
  const { origin, trust } = others.reduce(
    (least, each) => (trustsFrom(least.trust).includes(each.trust) ? least : each),
    first,
  );
  return { origin, trust };
}

/** Code speaks for its operator, except with the role of another speaker. */
export function trustOf(origin: MemoryOrigin, role?: string | null): MemoryTrust {
  return origin === "unknown" && role != null ? "untrusted" : trustByOrigin[origin];
}

/** Whether a person in charge wrote or approved the text, not merely code. */
export function isApproved({ origin, trust }: Provenance): boolean {
  return trust === "operator" && origin !== "unknown";
}

/** The warning for models about an untrusted memory, or null. */
export function unverified({ origin, trust }: Partial<Provenance>): string | null {
  if (trust !== "untrusted") return null;
  if (origin === undefined || origin === "unknown") return "unverified";
  return `unverified, ${origin === "tool" || origin === "document" ? `from a ${origin}` : "imported"}`;
}

/** `words` with that warning. */
export function withCaution(memory: Partial<Provenance>, words: string): string {
  const doubt = unverified(memory);
  return doubt === null ? words : `${words} (${doubt})`;
}

/** Text of a memory as one line of a prompt, with that warning, and with its doubt. */
export function shownLine(
  memory: Provenance & Partial<Pick<MemoryItem, "doubtedAt">>,
  words: string,
  timeZone = "UTC",
): string {
  const line = withCaution(memory, containedLine(words));
  return `${line}${doubtNote(memory.doubtedAt ?? null, timeZone)}`;
}

export function originOfRole(role: string | null | undefined): MemoryOrigin {
  return role === "user" || role === "assistant" || role === "tool" ? role : "unknown";
}

/** Unpinned insights come last. In SQL: `ranksLast`. */
export function ranksLast({ kind, pinned }: Pick<MemoryItem, "kind" | "pinned">): boolean {
  return kind === "insight" && !pinned;
}

export function bestSimilarity(hits: readonly { readonly similarity: number }[]): number | null {
  return hits.reduce<number | null>(
    (best, { similarity }) => Math.max(best ?? similarity, similarity),
    null,
  );
}

/** Equal for equal texts, except episodes of different turns. */
export function memoryHash(memory: {
  readonly kind: MemoryKind;
  readonly text: string;
  readonly threadId?: string | null | undefined;
  readonly turnStart?: number | null | undefined;
}): string {
  const { kind, text, threadId, turnStart } = memory;
  const isEpisode = kind === "episode" && threadId != null && turnStart != null;
  return contentHash(isEpisode ? JSON.stringify([threadId, turnStart, text]) : text);
}

export const memoryKinds = ["fact", "episode", "note", "insight", "procedure"] as const;

/** "episode": compressed turns; "note": an app's lesson; "procedure": numbered steps. */
export type MemoryKind = (typeof memoryKinds)[number];

/** Only active memories are recalled. "quarantined": waits for an operator. */
export const memoryStates = [
  "active",
  "superseded",
  "merged",
  "soft_deleted",
  "quarantined",
] as const;
export const memorySorts = ["newest", "oldest", "updated", "used", "importance"] as const;

/** Newer memories win ties. */
export type MemorySort = (typeof memorySorts)[number];

export type MemoryLifecycle = (typeof memoryStates)[number];

/** The conversation of a memory. */
export interface MemorySource {
  readonly threadId: string;
  /** Seqs of its messages, ascending. */
  readonly seqs: readonly number[];
  /** The user's words, verbatim. */
  readonly quote?: string | undefined;
}

/** A memory to write. */
export interface MemoryDraft {
  /** One self-contained sentence or two, third person. */
  readonly text: string;
  /** @default "fact" */
  readonly kind?: MemoryKind | undefined;
  /** A configured category. @default by kind */
  readonly category?: string | undefined;
  /** A key makes a slot: one active value per category and key. Stored in lower snake case. */
  readonly key?: string | undefined;
  readonly value?: string | undefined;
  /** 1 (trivia) to 5 (vital). @default 3, of an insight 2 */
  readonly importance?: number | undefined;
  /**
   * 0 to 1.
   * @default by origin: 1 operator, 0.9 user, 0.8 code or tool, 0.7 document, 0.6 inferred, 0.5
   * import
   */
  readonly confidence?: number | undefined;
  /** Pinned memories are never forgotten by age. @default false */
  readonly pinned?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  /**
   * At most 8,000 characters of JSON. Found by `filters.metadata`; no model sees it.
   * @default {}
   */
  readonly metadata?: MemoryMetadata | undefined;
  /** When it is hidden: a `Date` or ISO 8601. A repetition without one clears it. @default never */
  readonly expiresAt?: Date | string | undefined;
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly role?: string | undefined;
  /**
   * The source of the text. In a conflict, "operator" outranks "user", which outranks "unknown",
   * "tool" and "document", which outrank the others; then confidence and time decide. Text that
   * reads as instructions to a model is quarantined, unless an operator wrote it.
   * @default `role`, or "unknown" for your code (trust "operator")
   */
  readonly origin?: MemoryOrigin | undefined;
  readonly source?: MemorySource | undefined;
  /** First and last turn of an episode, counted from 1. */
  readonly turns?: { readonly start: number; readonly end: number } | undefined;
  /**
   * Start of its validity, which orders the values of a slot: a `Date` or ISO 8601.
   * @default now
   */
  readonly validFrom?: Date | string | undefined;
  /** Wins at any confidence over a value of the same rank that is not later. @default false */
  readonly correction?: boolean | undefined;
}

/** A change. A text without the slot's value clears the value, unless `value` is given. */
export interface MemoryPatch
  extends Partial<
    Pick<
      MemoryDraft,
      "text" | "value" | "category" | "importance" | "confidence" | "pinned" | "tags" | "metadata"
    >
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
  /** From then on its state reads `soft_deleted`. */
  readonly expiresAt: Date | null;
  /** Since when it may no longer hold: a memory that it rests on has ended. Null: not in doubt. */
  readonly doubtedAt: Date | null;
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly actorId: string | null;
  readonly role: string | null;
  readonly origin: MemoryOrigin;
  /** "operator" once a person approved it. */
  readonly trust: MemoryTrust;
  readonly source: MemorySource | null;
  readonly turns: { readonly start: number; readonly end: number } | null;
  /** The number of sightings. */
  readonly seenCount: number;
  readonly validFrom: Date;
  readonly validTo: Date | null;
  readonly supersededBy: string | null;
  /** The former value of its slot; only in recalls. */
  readonly earlier?: string;
  /** In a replay: printed in place of its words. */
  readonly inPlace?: string;
  readonly lastAccessedAt: Date;
  readonly purgeAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Rises with each change, but not with use: see `ifRevision`. */
  readonly revision: number;
}

export type Mergeable = Pick<
  MemoryItem,
  "importance" | "confidence" | "pinned" | "tags" | "metadata" | "expiresAt" | "seenCount"
>;

/** As many as a draft may have. */
const maxMemoryTags = 32;

/**
 * `kept` after `gone` was merged into it: the higher ratings, the tags and metadata of both, the
 * later expiry, and all sightings.
 */
export function mergeOf<Kept extends Mergeable>(kept: Kept, gone: Mergeable): Kept {
  return {
    ...kept,
    importance: Math.max(kept.importance, gone.importance),
    confidence: Math.max(kept.confidence, gone.confidence),
    pinned: kept.pinned || gone.pinned,
    tags: [...new Set([...kept.tags, ...gone.tags])].slice(0, maxMemoryTags),
    metadata: boundedMetadata({ ...gone.metadata, ...kept.metadata }, kept.metadata),
    expiresAt: laterOf(kept.expiresAt, gone.expiresAt),
    seenCount: kept.seenCount + gone.seenCount,
  };
}

/** Null: never. */
function laterOf(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return null;
  return one > other ? one : other;
}
