import { randomUUID } from "node:crypto";
import { scopeColumns } from "../../scope/scope-predicates.js";
import { normalValue } from "../../text/normal-value.js";
import {
  type ConsentRule,
  insightConfidence,
  neededSignals,
} from "../consent/consent-policy.rule.js";
import {
  type ConsentDecided,
  type ConsentGiven,
  type ConsentSignal,
  type EarlierRequest,
  independentSignals,
} from "../consent/consent-request.rule.js";
import type { ConsentPlan, SettledConsent } from "../consent/consent-statements.js";
import type { MemoryOrigin } from "../item/memory.js";
import type { WriteDecision } from "./decide-write.rule.js";
import type { FoundStatement } from "./find-existing.js";
import { draftOf, type Statement } from "./prepare-drafts.js";
import type { WriteContext } from "./write-types.js";

export interface GuardVerdict {
  /** The request in the place of a memory; "kept": a later value is pending. @default passes */
  readonly request?: {
    readonly outcome: "proposed" | "refused" | "kept";
    readonly consentId: string;
  };
  /** The slot keeps its value. @default false */
  readonly isDropped?: boolean;
  /** For the audit trail. @default passes without consent */
  readonly approval?: ConsentDecided;
  readonly consents: Partial<ConsentPlan>;
}

/**
 * Whether a statement about a guarded field is written as decided.
 *
 * | rule | source | decision | verdict |
 * |---|---|---|---|
 * | any | the user's consent | any | passes, and settles the slot's requests |
 * | any | other | touch | passes; ends the slot's older requests |
 * | signals | other | update, keep, insert_closed | passes |
 * | signals | an operator | other | passes as with consent |
 * | any | a plain statement of the user, if nobody asks for consent | keep | passes |
 * | any | the same | other | passes as with consent |
 * | consent | other | insert_closed | dropped: nobody asks about the past |
 * | any | other | other | pending, refused, or passes by its signals: see `proposed` |
 */
export function guardStatement(
  context: WriteContext,
  found: FoundStatement,
  rule: ConsentRule,
  decision: WriteDecision,
): GuardVerdict {
  const { origin } = context;
  const { action } = decision;
  if (origin.consent) return consented(found, origin.actor, origin.consent);
  if (action === "touch") {
    const isSlot = found.existing.some(
      ({ foundAs, id }) => foundAs === "slot" && id === decision.id,
    );
    if (!isSlot) return passed;
    // A repeated value supersedes older requests for another value.
    const { validFrom, category } = found;
    const older = pendingRequests(found).filter(
      (other) => !validFrom || !other.validFrom || validFrom >= other.validFrom,
    );
    return { consents: endedRequests(older, origin.actor, category) };
  }
  if (rule === "signals" && action !== "create" && action !== "replace") return passed;
  const implied = impliedConsent(context, found, rule);
  if (implied) return action === "keep" ? passed : consented(found, origin.actor, implied);
  if (action === "insert_closed") return { ...passed, isDropped: true };
  return proposed(context, found, rule);
}

const passed: GuardVerdict = { consents: {} };

/**
 * The user's plain statement is consent if nobody asks, unless the user refused this value
 * recently.
 */
function impliedConsent(
  { config: { consent } }: WriteContext,
  found: FoundStatement,
  rule: ConsentRule,
): ConsentGiven | null {
  const { source, origin, stated, requests } = found;
  if (rule === "signals" && origin === "operator") return { via: "code" };
  const isAsked = rule === "consent" && consent.ask !== "said";
  if (isAsked || origin !== "user" || !source?.quote?.trim() || !stated) return null;
  const isRefused = requests.some(
    (other) => other.status === "refused" && isSameProposal(found, other),
  );
  if (isRefused) return null;
  const { quote, threadId } = source;
  return { via: "said", evidence: { quote, threadId } };
}

/** Approves requests for the same value, and supersedes those for another. */
function consented(found: FoundStatement, actor: string, given: ConsentGiven): GuardVerdict {
  const { via, evidence = null, requestId = null, reason } = given;
  // The decider settles the answered request itself.
  const others = pendingRequests(found).filter(({ id }) => id !== requestId);
  const isApproved = (other: EarlierRequest) => !other.expired && isSameProposal(found, other);
  const outdated = others.filter((other) => !isApproved(other));
  const { settled, events } = endedRequests(outdated, actor, found.category);
  for (const { id } of others.filter(isApproved))
    settled.push({ id, status: "approved", actor, via, evidence });
  return {
    approval: { decision: "approve", via, requestId, evidence, reason },
    consents: { settled, events },
  };
}

/** Asks, counts a repetition, refuses, or passes by its signals. */
function proposed(context: WriteContext, found: FoundStatement, rule: ConsentRule): GuardVerdict {
  const { actor } = context.origin;
  const { kind, category, key = null, contentHash, requests } = found;
  const normalValue = proposedValue(found);
  const event = { step: "consent", op: "propose", status: "ok", category } as const;
  const skipped = (detail: string) => ({
    events: [{ ...event, status: "skipped", detail } as const],
  });
  const same = requests.filter(
    (other) =>
      contentHash === other.contentHash || (key !== null && normalValue === other.normalValue),
  );

  // The user refused the same recently.
  const refused = same.find(({ status }) => status === "refused");
  if (refused) {
    const request = { outcome: "refused", consentId: refused.id } as const;
    return { request, consents: skipped("refused") };
  }

  // Enough signals agree, also with those of a pending request.
  const isPending = ({ status, expired }: EarlierRequest) => status === "pending" && !expired;
  const pending = same.find(isPending);
  const signals = independentSignals([...(pending?.signals ?? []), signalOf(context, found)]);
  const isSure = kind === "insight" && found.confidence >= insightConfidence;
  if (rule === "signals" && (isSure || signals.length >= neededSignals)) {
    const via = "signals";
    const requestId = pending?.id ?? null;
    const approval = { decision: "approve", via, requestId, signals: signals.length } as const;
    if (requestId === null) return { approval, consents: {} };
    const settled = [{ id: requestId, status: "approved", actor, via } as const];
    return { approval, consents: { settled } };
  }

  // The same waits already, or a later value of the slot does.
  if (pending) {
    const repeats = [{ id: pending.id, signals }];
    const consents = { repeats, events: [{ ...event, detail: "repeated" }] };
    return { request: { outcome: "proposed", consentId: pending.id }, consents };
  }
  const rival = key === null ? undefined : requests.find(isPending);
  if (rival?.validFrom && found.validFrom && found.validFrom < rival.validFrom) {
    const request = { outcome: "kept", consentId: rival.id } as const;
    return { request, consents: skipped("outdated") };
  }

  // A new request, which supersedes the slot's.
  const outdated = requests.filter((other) => other.expired || other.id === rival?.id);
  const { settled, events } = endedRequests(outdated, actor, category);
  const id = randomUUID();
  const request = {
    ...scopeColumns(found.scope),
    id,
    rule,
    category,
    key,
    slot: key === null ? `statement:${contentHash}` : `key:${key}`,
    normalValue,
    contentHash,
    draft: draftOf(found),
    seenCount: 1,
    signals,
    proposedBy: actor,
  };
  const consents = { settled, requests: [request], events: [...events, event] };
  return { request: { outcome: "proposed", consentId: id }, consents };
}

/** Pending requests for the slot; without a key, for the same text. */
function pendingRequests({ key, contentHash, requests }: FoundStatement): EarlierRequest[] {
  return requests.filter(
    (other) =>
      other.status === "pending" && (key !== undefined || other.contentHash === contentHash),
  );
}

function isSameProposal(statement: Statement, other: EarlierRequest): boolean {
  return (
    other.contentHash === statement.contentHash || other.normalValue === proposedValue(statement)
  );
}

const proposedValue = ({ value, text }: Statement) => normalValue(value ?? text);

/** Expires or supersedes requests. */
function endedRequests(requests: readonly EarlierRequest[], actor: string, category: string) {
  const settled: SettledConsent[] = [];
  const events: ConsentPlan["events"][number][] = [];
  for (const { id, expired } of requests) {
    if (!expired) settled.push({ id, status: "superseded", actor });
    else {
      settled.push({ id, status: "expired" });
      events.push({ step: "consent", op: "expire", status: "ok", category });
    }
  }
  return { settled, events };
}

/** Each call of a program with such words is a signal; an agent may repeat itself. */
const signalOrigins: ReadonlySet<MemoryOrigin> = new Set(["user", "operator", "unknown"]);

function signalOf(
  { origin: { call, messageHash } }: WriteContext,
  { origin, source, turn }: FoundStatement,
): ConsentSignal {
  const seq = source?.seqs.at(-1);
  const threadId = seq === undefined ? undefined : source?.threadId;
  const ownCall = signalOrigins.has(origin) ? call : undefined;
  return { turn, call: ownCall, threadId, seq, messageHash };
}
