import type { Scope } from "../../scope/scope.js";
import type { MemoryChange } from "../changes/record-changes.js";
import type { MemorySource } from "../item/memory.js";
import type { ConsentRule } from "./consent-policy.rule.js";

export const consentStatuses = ["pending", "approved", "refused", "superseded", "expired"] as const;

/** "superseded": another value was proposed since. */
type ConsentStatus = (typeof consentStatuses)[number];

/** "signals": enough of them agreed. "said": the user's own words decided, as nobody could ask, or to forget it. */
export type ConsentVia = "interrupt" | "chat" | "code" | "cli" | "http" | "signals" | "said";

export interface ConsentEvidence {
  /** The user's words, verbatim. */
  readonly quote: string;
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

export type ConsentGiven = Omit<ConsentDecided, "decision" | "signals">;

export interface ConsentSignal {
  readonly turn: number;
  readonly threadId?: string | undefined;
  readonly seq?: number | undefined;
  /** The program's call that brought it, for words of the program or its user. */
  readonly call?: string | undefined;
}

/** Signals that are independent of all before: other messages, other calls of a program, or other turns. */
export function independentSignals(signals: readonly ConsentSignal[]): ConsentSignal[] {
  const kept: ConsentSignal[] = [];
  for (const signal of signals) if (kept.every((other) => areIndependent(other, signal))) kept.push(signal);
  return kept;
}

function areIndependent(one: ConsentSignal, other: ConsentSignal): boolean {
  if (one.seq !== undefined && other.seq !== undefined) return one.seq !== other.seq || one.threadId !== other.threadId;
  if (one.seq === undefined && other.seq === undefined && one.call !== undefined && other.call !== undefined)
    return one.call !== other.call;
  return one.turn !== other.turn;
}

export interface ConsentDecided {
  readonly decision: "approve" | "refuse";
  readonly via: ConsentVia;
  /** The request that it answers. @default none: consent was given with the change */
  readonly requestId?: string | null | undefined;
  readonly evidence?: ConsentEvidence | null | undefined;
  /** How many independent signals agreed, where these decided. */
  readonly signals?: number | undefined;
  readonly reason?: string | undefined;
}

/** The entry of the audit trail for a decision about `changed`: a memory, or a request that no memory came of. */
export function consentChange(
  changed: Pick<ConsentRequest, "id" | "category" | "text"> & {
    readonly key?: string | null | undefined;
    readonly value?: string | null | undefined;
  },
  { decision, via, requestId: request = null, evidence = null, signals, reason }: ConsentDecided,
): MemoryChange {
  const { id: memoryId, category, key = null, value, text } = changed;
  const audit = { decision, via, request, key, value: value ?? text, evidence, signals, reason };
  return { memoryId, event: "CONSENT", old: null, new: audit, news: null, category, similarity: null };
}
