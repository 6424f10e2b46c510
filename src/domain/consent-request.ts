import type { ConsentRule } from "./consent-policy.js";
import type { MemorySource } from "./memory.js";
import type { Scope } from "./scope.js";

/** How proposals stand. "superseded": another value was proposed since. */
export const consentStatuses = ["pending", "approved", "refused", "superseded", "expired"] as const;

/** How a proposal stands. */
export type ConsentStatus = (typeof consentStatuses)[number];

/** How a decision came about. "signals": enough of them agreed. */
export type ConsentVia = "interrupt" | "chat" | "code" | "cli" | "http" | "signals";

/** What a decision rests on. */
export interface ConsentEvidence {
  /** The user's words, as they stand in the message. */
  readonly quote: string;
  /** All of the message. */
  readonly message?: string | undefined;
  readonly threadId?: string | undefined;
  readonly messageId?: string | undefined;
}

/** A change that waits or waited to be made. */
export interface ConsentRequest {
  readonly id: string;
  readonly scope: Scope;
  /** What it waits for: the user's consent, or another signal. */
  readonly rule: ConsentRule;
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  /** The memory it would become. */
  readonly text: string;
  /** What holds the slot now; null when nothing does. */
  readonly current: string | null;
  readonly status: ConsentStatus;
  /** How often it was proposed. */
  readonly seenCount: number;
  /** How many independent signals there are for it. */
  readonly signals: number;
  /** Null, as `decidedBy`, for users of the app that the request is for. */
  readonly proposedBy: string | null;
  /** Where it was learned. */
  readonly source: MemorySource | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Until then nobody is asked. */
  readonly askAt: Date;
  readonly decidedAt: Date | null;
  readonly decidedBy: string | null;
  readonly decidedVia: ConsentVia | null;
  readonly evidence: ConsentEvidence | null;
  /** The memory that came of it. */
  readonly memoryId: string | null;
  /** Rises when it is proposed again or decided: see `ifRevision`. */
  readonly revision: number;
}

/** The user's consent to a change, as whoever makes it vouches for it. */
export interface ConsentGiven {
  readonly via: ConsentVia;
  readonly evidence?: ConsentEvidence | undefined;
  /** The request that it answers. */
  readonly requestId?: string | undefined;
}
