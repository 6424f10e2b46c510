/** What the API answers, as far as the page shows it. Times are ISO 8601. */

interface Scope {
  readonly tenantId?: string;
  readonly userId?: string;
  readonly appId?: string;
}

export interface Memory {
  readonly id: string;
  readonly scope: Scope;
  readonly kind: string;
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  readonly importance: number;
  readonly confidence: number;
  readonly pinned: boolean;
  readonly state: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly expiresAt: string | null;
  readonly agentId: string | null;
  readonly actorId: string | null;
  readonly origin: string;
  readonly trust: string;
  readonly source: {
    readonly threadId: string;
    readonly seqs: readonly number[];
    readonly quote?: string;
  } | null;
  readonly seenCount: number;
  readonly validFrom: string;
  readonly validTo: string | null;
  readonly supersededBy: string | null;
  readonly lastAccessedAt: string;
  readonly purgeAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revision: number;
}

export interface MemoryPage {
  readonly memories: readonly Memory[];
  readonly nextCursor: string | null;
}

export interface HistoryEntry {
  readonly id: number;
  readonly event: string;
  readonly old: unknown;
  readonly new: unknown;
  readonly actor: string | null;
  readonly revision: number;
  readonly at: string;
}

export interface Owner {
  readonly scope: Scope;
  readonly memories: number;
  readonly threads: number;
  readonly lastActivityAt: string | null;
}

export interface Thread {
  readonly threadId: string;
  readonly scope: Scope;
  readonly messages: number;
  readonly createdAt: string;
  readonly lastActivityAt: string;
  readonly endedAt: string | null;
  readonly endedReason: string | null;
}

export interface Message {
  readonly seq: number;
  readonly messageId: string;
  readonly role: string;
  readonly actor: string | null;
  readonly agentId: string | null;
  readonly text: string;
  readonly characters: number;
  readonly saidAt: string;
}

export interface ShownTurn {
  readonly turn: number;
  readonly seq: number;
  readonly at: string;
  readonly summaryId: number | null;
  readonly memories: readonly ShownMemory[];
  readonly omitted: number;
}

export type CallCosts = Readonly<Record<"promptTokens" | "sharedTokens" | "cachedTokens", number | null>>;

export interface ThreadCost {
  readonly turns: readonly (CallCosts & { readonly seq: number })[];
  readonly total: CallCosts;
  readonly background: readonly { readonly kind: string; readonly inputTokens: number }[];
}

export interface ShownMemory {
  readonly id: string;
  readonly part: string;
  readonly text: string | null;
  readonly score: number | null;
}

export interface Summary {
  readonly id: number;
  readonly threadId: string;
  readonly startSeq: number;
  readonly endSeq: number;
  readonly baseId: number | null;
  readonly status: "processing" | "completed" | "failed";
  readonly text: string | null;
  readonly generationTimeMs: number | null;
  readonly error: string | null;
  readonly createdAt: string;
}

/** Parts of a score, in the order in which they are drawn. */
export const scoreParts = [
  "words",
  "vector",
  "sourceMessage",
  "identifier",
  "relation",
  "date",
  "speaker",
  "importance",
  "recency",
  "pinned",
] as const;

/** Parts that take from a score. */
export const lostParts = ["insight"] as const;

export interface ExplainedHit {
  readonly memory: Memory;
  readonly rank: number;
  readonly score: number;
  readonly similarity: number;
  readonly reason: string;
  readonly parts: Readonly<Record<(typeof scoreParts)[number] | (typeof lostParts)[number], number>>;
}

export interface Explained {
  readonly question: {
    readonly text: string;
    readonly lexemes: readonly string[];
    readonly embedded: boolean;
    readonly broad: boolean;
  };
  readonly floor: number | { readonly best: number; readonly each: number };
  readonly budgetTokens: number | null;
  readonly hits: readonly ExplainedHit[];
  readonly omitted: readonly {
    readonly memory: Memory;
    readonly reason: string;
    readonly detail: string;
    readonly score: number | null;
  }[];
}

export interface Consent {
  readonly id: string;
  readonly rule: string;
  readonly scope: Scope;
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  readonly current: string | null;
  readonly status: string;
  readonly proposedBy: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly revision: number;
}

export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly key: string | null;
  readonly attempts: number | null;
  readonly error: string | null;
  readonly givenUpAt: string | null;
  readonly dueAt: string | null;
}

export interface Change {
  readonly rev: number;
  readonly event: string;
  readonly memoryId: string;
  readonly category: string;
  readonly line: string;
  readonly at: string;
}

export interface Forgotten {
  readonly removed: Readonly<Record<string, number>>;
  readonly total: number;
  readonly complete: boolean;
}
