/** What the API answers, as far as the page shows it. Times are ISO 8601. */

type Texts<Names extends string> = Readonly<Record<Names, string>>;
type Numbers<Names extends string> = Readonly<Record<Names, number>>;
/** Null where there is none. */
type Maybe<Names extends string, Value = string> = Readonly<Record<Names, Value | null>>;
type Flags<Names extends string> = Readonly<Record<Names, boolean>>;

type Scope = Partial<Texts<"tenantId" | "userId" | "appId">>;
interface Scoped {
  readonly scope: Scope;
}

/** The messages of a conversation that something rests on, and the words in them. */
export interface Source {
  readonly threadId: string;
  readonly seqs: readonly number[];
  readonly quote?: string;
}

export type Memory = Scoped &
  Texts<"id" | "kind" | "category" | "text" | "state" | "origin" | "trust"> &
  Texts<"validFrom" | "lastAccessedAt" | "createdAt" | "updatedAt"> &
  Numbers<"importance" | "confidence" | "seenCount" | "revision"> &
  Maybe<
    "key" | "value" | "expiresAt" | "agentId" | "actorId" | "validTo" | "supersededBy" | "purgeAt"
  > & {
    readonly pinned: boolean;
    readonly tags: readonly string[];
    readonly metadata: Readonly<Record<string, unknown>>;
    readonly source: Source | null;
  };

export interface MemoryPage {
  readonly memories: readonly Memory[];
  readonly nextCursor: string | null;
}

export type HistoryEntry = Texts<"event" | "at"> &
  Numbers<"id" | "revision"> &
  Maybe<"actor"> & { readonly old: unknown; readonly new: unknown };

export type Owner = Scoped & Numbers<"memories" | "threads"> & Maybe<"lastActivityAt">;

export type Thread = Scoped &
  Texts<"threadId" | "createdAt" | "lastActivityAt"> &
  Numbers<"messages"> &
  Flags<"failed"> &
  /** The title is the user's first words. */
  Maybe<"title" | "endedAt" | "endedReason"> &
  Maybe<"last", Texts<"role" | "text">>;

export type Message = Texts<"messageId" | "role" | "text" | "saidAt"> &
  Numbers<"seq" | "characters"> &
  Maybe<"actor" | "agentId">;

/** Something that was said and fits a search. */
export type Said = Scoped & Texts<"threadId" | "role" | "text" | "saidAt"> & Numbers<"seq">;

export type ShownMemory = Texts<"id" | "part"> &
  Maybe<"text" | "createdAt" | "origin"> &
  Maybe<"score", number> &
  /** What each signal added to the score. */
  Maybe<"scoreParts", Readonly<Record<string, number>>>;

/** Words of a memory that a question and an answer have too. */
export type SharedWords = Readonly<Record<"question" | "answer", readonly string[]>>;

export type ShownTurn = Numbers<"turn" | "seq" | "omitted"> &
  Texts<"at"> &
  /** `firstSeq`: of a turn that opens an epoch, the first message shown word for word. */
  Maybe<"summaryId" | "firstSeq", number> & { readonly memories: readonly ShownMemory[] };

export type CallCosts = Maybe<"promptTokens" | "sharedTokens" | "cachedTokens", number> &
  Numbers<"outputTokens" | "calls">;
export type TurnCost = CallCosts & Numbers<"seq"> & { readonly source: "model" | "estimate" };

export interface ThreadCost {
  readonly turns: readonly TurnCost[];
  readonly total: CallCosts;
  readonly background: readonly (Texts<"kind"> & Numbers<"inputTokens">)[];
}

/** What memory did in a time. */
type Counts = Numbers<"recalls" | "recallsWithMemory"> &
  Maybe<"recallLatencyMs", Numbers<"p50" | "p95">> & {
    readonly writes: Readonly<Record<string, number>>;
  };

export type Stats = Counts & {
  readonly energy: Numbers<"level" | "unitsToday" | "callsToday">;
  /** Oldest day first; the last is today. */
  readonly rows: readonly (Counts & Texts<"day">)[];
};

export type Summary = Numbers<"id" | "startSeq" | "endSeq"> &
  Texts<"createdAt"> &
  Maybe<"text" | "error"> &
  Maybe<"baseId" | "generationTimeMs", number> & {
    readonly status: "processing" | "completed" | "failed";
  };

/** Parts of a score, in the order in which they are drawn. */
export const scoreParts = [
  ...(["words", "vector", "sourceMessage", "identifier", "relation"] as const),
  ...(["date", "speaker", "importance", "recency", "pinned"] as const),
] as const;

/** Parts that take from a score. */
export const lostParts = ["insight"] as const;

export type ExplainedHit = Numbers<"rank" | "score" | "similarity"> &
  Texts<"reason"> & {
    readonly memory: Memory;
    /** Words of its text that match the question. */
    readonly matched: readonly string[];
    readonly parts: Numbers<(typeof scoreParts)[number] | (typeof lostParts)[number]>;
  };

export interface Explained {
  readonly question: Texts<"text"> &
    Flags<"embedded" | "lacksEmbeddings" | "broad"> & { readonly lexemes: readonly string[] };
  readonly floor: number | Numbers<"best" | "each">;
  readonly budgetTokens: number | null;
  readonly hits: readonly ExplainedHit[];
  readonly omitted: readonly (Texts<"reason" | "detail"> &
    Maybe<"score", number> & { readonly memory: Memory })[];
}

export type Consent = Scoped &
  Texts<"id" | "rule" | "category" | "text" | "status" | "createdAt" | "expiresAt"> &
  Maybe<"key" | "value" | "current" | "proposedBy"> &
  Numbers<"revision"> & { readonly source: Source | null };

export type Job = Scoped &
  Texts<"id" | "kind" | "state"> &
  Maybe<"threadId" | "error" | "detail" | "givenUpAt" | "dueAt" | "triedAt"> &
  Maybe<"attempts", number>;

/** A turn whose prompt a memory came into. */
export type TurnShown = Scoped &
  Texts<"threadId" | "at" | "part" | "question"> &
  Numbers<"turn" | "seq"> &
  Maybe<"score", number>;

/** What calls of models took, for a kind of work, a user or an app. */
export type Cost = Partial<Texts<"kind"> & Scoped> &
  Numbers<"calls" | "inputTokens" | "outputTokens" | "units">;

export type Change = Numbers<"rev"> & Texts<"event" | "memoryId" | "category" | "line" | "at">;

export type Forgotten = Numbers<"total"> &
  Flags<"complete"> & { readonly removed: Readonly<Record<string, number>> };

export type Erasure = Texts<"id" | "kind" | "actor" | "beganAt"> &
  Maybe<"tenantId" | "endedAt"> &
  Flags<"hasDigest"> & {
    readonly before: Readonly<Record<string, number>>;
    readonly after: Readonly<Record<string, number>> | null;
  };

export interface Receipt {
  readonly check: Texts<"by" | "at"> &
    Maybe<"passed", boolean> & { readonly left: Readonly<Record<string, number>> };
  readonly signature: "unsigned" | Texts<"algorithm" | "value">;
}

export type ForgetRequest = Scoped &
  Texts<"at" | "purgeAt"> &
  Maybe<"actor"> &
  Numbers<"memories" | "waiting" | "restored" | "purged">;
