import type { Scope } from "../../scope/scope.js";
import type { MemoryChange } from "../audit/memory-change.js";
import type { MemorySource } from "../item/memory.js";
import type { ConsentRule } from "./consent-policy.rule.js";

export const consentStatuses = ["pending", "approved", "refused", "superseded", "expired"] as const;

/** "signals": enough of them agreed. "said": the user's own words decided, without a question. */
export type ConsentVia = "interrupt" | "chat" | "code" | "cli" | "http" | "signals" | "said";

export interface ConsentEvidence {
  /** The user's words, verbatim. */
  readonly quote: string;
  readonly message?: string | undefined;
  readonly threadId?: string | undefined;
  readonly messageId?: string | undefined;
}

/** A proposed change of a guarded field. */
export interface ConsentRequest {
  readonly id: string;
  readonly scope: Scope;
  readonly rule: ConsentRule;
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  /** The memory it would become. */
  readonly text: string;
  /** The slot's current value, or null. */
  readonly current: string | null;
  readonly status: (typeof consentStatuses)[number];
  /** How often it was proposed. */
  readonly seenCount: number;
  /** The number of independent signals. */
  readonly signals: number;
  /** Null, like `decidedBy`, for users of the app that the request is for. */
  readonly proposedBy: string | null;
  readonly source: MemorySource | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  /** Nobody asks the user before. */
  readonly askAt: Date;
  readonly decidedAt: Date | null;
  readonly decidedBy: string | null;
  readonly decidedVia: ConsentVia | null;
  readonly evidence: ConsentEvidence | null;
  /** The memory that the approval wrote. */
  readonly memoryId: string | null;
  /** Rises with each proposal and decision: see `ifRevision`. */
  readonly revision: number;
}

export type ConsentGiven = Omit<ConsentDecided, "decision" | "signals">;

export interface ConsentSignal {
  readonly turn: number;
  readonly threadId?: string | undefined;
  readonly seq?: number | undefined;
  /** The program's call, for words of the program or its user. */
  readonly call?: string | undefined;
  /** Digest of the user's message that a tool answered. */
  readonly messageHash?: string | undefined;
}

/** A request as the guard of another change sees it. */
export interface EarlierRequest {
  readonly id: string;
  readonly status: "pending" | "refused";
  /** Overdue, though not marked yet. */
  readonly expired: boolean;
  readonly normalValue: string;
  readonly contentHash: string;
  /** Null: since it was proposed. */
  readonly validFrom: Date | null;
  readonly signals: readonly ConsentSignal[];
}

/** Drops signals from the same message, program call or turn as an earlier one. */
export function independentSignals(signals: readonly ConsentSignal[]): ConsentSignal[] {
  const kept: ConsentSignal[] = [];
  for (const signal of signals)
    if (kept.every((other) => areIndependent(other, signal))) kept.push(signal);
  return kept;
}

function areIndependent(one: ConsentSignal, other: ConsentSignal): boolean {
  const has = (name: keyof ConsentSignal) =>
    [one, other].filter((signal) => signal[name] !== undefined).length;
  if (has("seq") === 2) return one.seq !== other.seq || one.threadId !== other.threadId;
  return has("seq") === 0 && has("call") === 2 ? one.call !== other.call : one.turn !== other.turn;
}

export interface ConsentDecided {
  readonly decision: "approve" | "refuse";
  readonly via: ConsentVia;
  /** The answered request. @default none: consent came with the change */
  readonly requestId?: string | null | undefined;
  readonly evidence?: ConsentEvidence | null | undefined;
  /** The number of agreeing signals, when these decided. */
  readonly signals?: number | undefined;
  readonly reason?: string | undefined;
}

/** The audit entry of a decision about `changed`: a memory, or a request without one. */
export function consentChange(
  changed: Pick<ConsentRequest, "id" | "category" | "text"> & {
    readonly key?: string | null | undefined;
    readonly value?: string | null | undefined;
  },
  { decision, via, requestId: request = null, evidence = null, signals, reason }: ConsentDecided,
): MemoryChange {
  const { id: memoryId, category, key = null, value, text } = changed;
  const audit = { decision, via, request, key, value: value ?? text, evidence, signals, reason };
  return { memoryId, event: "CONSENT", new: audit, category };
}
