import { scopeColumns } from "../../scope/scope-predicates.js";
import { normalValue } from "../../text/normal-value.js";
import type { ConsentRule } from "../guard/consent-policy.rule.js";
import type { ConsentDecided, ConsentGiven, ConsentSignal } from "../guard/consent-request.rule.js";
import type { ConsentPlan, SettledConsent } from "../guard/consent-statements.js";
import { decideProposal, type EarlierRequest } from "../guard/decide-proposal.rule.js";
import type { MemoryOrigin } from "../item/memory.js";
import type { WriteDecision } from "./decide-write.rule.js";
import { draftOf, type PreparedMemory } from "./prepare-memory.js";
import type { FoundStatement, RankedMemory, WriteContext } from "./statement.js";

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
 * | any | other | other | pending, refused, or passes by its signals: see `decideProposal` |
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
      ({ relation, id }) => relation === "slot" && id === decision.id,
    );
    return isSlot ? { consents: supersedeOlder(found, origin.actor) } : passed;
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
  { memory, stated, requests }: FoundStatement,
  rule: ConsentRule,
): ConsentGiven | null {
  const { source, origin } = memory;
  if (rule === "signals" && origin === "operator") return { via: "code" };
  const isAsked = rule === "consent" && consent.ask !== "said";
  if (isAsked || origin !== "user" || !source?.quote?.trim() || !stated) return null;
  const refused = requests.filter(({ status }) => status === "refused");
  if (refused.some((other) => isSameProposal(memory, other))) return null;
  const { quote, threadId } = source;
  return { via: "said", evidence: { quote, threadId } };
}

/** Approves requests for the same value, and supersedes those for another. */
function consented(found: FoundStatement, actor: string, given: ConsentGiven): GuardVerdict {
  const { memory } = found;
  const { via, evidence = null, requestId = null, reason } = given;
  // The decider settles the answered request itself.
  const others = pendingRequests(found).filter(({ id }) => id !== requestId);
  const isApproved = (other: EarlierRequest) => !other.expired && isSameProposal(memory, other);
  const outdated = others.filter((other) => !isApproved(other));
  const { settled, events } = endedRequests(outdated, actor, memory.category);
  for (const { id } of others.filter(isApproved))
    settled.push({ id, status: "approved", actor, via, evidence });
  return {
    approval: { decision: "approve", via, requestId, evidence, reason },
    consents: { settled, events },
  };
}

/** A repeated value supersedes older requests for another value. */
function supersedeOlder(found: FoundStatement, actor: string): Partial<ConsentPlan> {
  const { validFrom, category } = found.memory;
  const isOlder = ({ validFrom: other }: EarlierRequest) =>
    !validFrom || !other || validFrom >= other;
  return endedRequests(pendingRequests(found).filter(isOlder), actor, category);
}

function proposed(
  context: WriteContext,
  { memory, requests }: FoundStatement,
  rule: ConsentRule,
): GuardVerdict {
  const { actor } = context.origin;
  const { category, key = null, validFrom = null } = memory;
  const proposal = { rule, key, validFrom, normalValue: proposedValue(memory) };
  const change = { ...memory, ...proposal, signals: signalsOf(context, memory) };
  const event = { step: "consent", op: "propose", status: "ok", category } as const;
  const verdict = decideProposal(change, requests);
  switch (verdict.action) {
    case "ask": {
      const outdated = requests.filter(({ id, expired }) => expired || id === verdict.supersedes);
      const { settled, events } = endedRequests(outdated, actor, category);
      const id = context.newId();
      const request = {
        ...change,
        ...scopeColumns(memory.scope),
        id,
        slot: key === null ? `statement:${memory.contentHash}` : `key:${key}`,
        draft: draftOf(memory),
        seenCount: 1,
        proposedBy: actor,
      };
      const consents = { settled, requests: [request], events: [...events, event] };
      return { request: { outcome: "proposed", consentId: id }, consents };
    }
    case "repeat": {
      const { id, signals } = verdict;
      const repeats = [{ id, times: 1, signals }];
      const consents = { repeats, events: [{ ...event, detail: "repeated" }] };
      return { request: { outcome: "proposed", consentId: id }, consents };
    }
    case "refused":
    case "outdated": {
      const events = [{ ...event, status: "skipped", detail: verdict.action } as const];
      const outcome = verdict.action === "refused" ? "refused" : "kept";
      return { request: { outcome, consentId: verdict.id }, consents: { events } };
    }
    case "apply": {
      const { id: requestId, signals } = verdict;
      const via = "signals";
      const approval = { decision: "approve", via, requestId, signals: signals.length } as const;
      if (requestId === null) return { approval, consents: {} };
      const settled = [{ id: requestId, status: "approved", actor, via } as const];
      return { approval, consents: { settled } };
    }
  }
}

/** Pending requests for the slot; without a key, for the same text. */
function pendingRequests({ memory, requests }: FoundStatement): EarlierRequest[] {
  const isSubject = (hash: string) => memory.key !== undefined || hash === memory.contentHash;
  return requests.filter(
    ({ status, contentHash }) => status === "pending" && isSubject(contentHash),
  );
}

function isSameProposal(
  memory: PreparedMemory,
  { contentHash, normalValue }: EarlierRequest,
): boolean {
  return contentHash === memory.contentHash || normalValue === proposedValue(memory);
}

function proposedValue({ value, text }: PreparedMemory): string {
  return normalValue(value ?? text);
}

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

function signalsOf(
  { origin: { call, messageHash } }: WriteContext,
  { origin, source, turn }: RankedMemory,
): ConsentSignal[] {
  const seq = source?.seqs.at(-1);
  const threadId = seq === undefined ? undefined : source?.threadId;
  const ownCall = signalOrigins.has(origin) ? call : undefined;
  return [{ turn, call: ownCall, threadId, seq, messageHash }];
}
