import { scopeColumns } from "../../scope/scope-predicates.js";
import { normalValue } from "../../text/normal-value.js";
import type { ConsentRule } from "../guard/consent-policy.rule.js";
import type { ConsentDecided, ConsentGiven, ConsentSignal } from "../guard/consent-request.rule.js";
import type { ConsentPlan, NewConsent, SettledConsent } from "../guard/consent-statements.js";
import { decideProposal, type ProposedChange, type StandingConsent } from "../guard/decide-proposal.rule.js";
import type { MemoryOrigin } from "../item/memory.js";
import type { WriteDecision } from "./decide-write.rule.js";
import { draftOf, type PreparedMemory } from "./prepare-memory.js";
import { type FoundStatement, type Statement, turnOf, type WriteContext } from "./statement.js";

export type GuardVerdict =
  | {
      /** "dropped": what holds the slot stays. */
      readonly outcome: "written" | "dropped";
      /** For the audit trail; null where nobody had to agree. */
      readonly approval: ConsentDecided | null;
      readonly consents: Partial<ConsentPlan>;
    }
  | {
      /** It waits, was refused, or a later value waits. */
      readonly outcome: "proposed" | "refused" | "kept";
      readonly consentId: string;
      readonly consents: Partial<ConsentPlan>;
    };

/**
 * Whether a statement about a guarded field is written, where it would do what `decision` says.
 *
 * | rule | comes with | and would | it |
 * |---|---|---|---|
 * | any | the user's consent | do anything | passes, and settles what waits for its slot |
 * | any | nothing | touch what is known | passes; what waits for that slot is out of date |
 * | signals | nothing | update, keep, insert_closed | passes |
 * | signals | an operator | anything else | passes as with consent |
 * | any | a plain statement of the user, if nobody can ask for consent | keep | passes |
 * | any | the same | anything else | passes as with consent |
 * | consent | nothing | insert_closed | is dropped: nobody is asked about the past |
 * | any | nothing | anything else | waits, was refused, or passes by its signals: see `decideProposal` |
 *
 * A claim that changes nothing still needs consent: the user may know better.
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
    const saysSlot = found.known.some(({ relation, id }) => relation === "slot" && id === decision.id);
    return { ...unasked, consents: saysSlot ? endContradicted(found, origin.actor) : {} };
  }
  if (rule === "signals" && action !== "create" && action !== "replace") return unasked;
  const said = plainlySaid(context, found, rule);
  if (said) return action === "keep" ? unasked : consented(found, origin.actor, said);
  return action === "insert_closed" ? { ...unasked, outcome: "dropped" } : proposed(context, found, rule);
}

const unasked = { outcome: "written", approval: null, consents: {} } as const;

/**
 * What the user plainly states is consent where nobody can ask, and two signals in one, unless the user refused this
 * value not long ago. An operator's word needs no second signal.
 */
function plainlySaid(
  { config: { consent }, origin: { stated } }: WriteContext,
  { statement: { memory, draft }, standing }: FoundStatement,
  rule: ConsentRule,
): ConsentGiven | null {
  const { source, origin } = memory;
  if (rule === "signals" && origin === "operator") return { via: "code" };
  const isAsked = rule === "consent" && consent.ask !== "said";
  if (isAsked || origin !== "user" || !source?.quote?.trim() || !stated?.has(draft)) return null;
  const { quote, threadId } = source;
  const refused = standing.some((other) => other.status === "refused" && isSameProposal(memory, other));
  return refused ? null : { via: "said", evidence: { quote, threadId } };
}

/** The user agreed: this approves requests for the same value, and supersedes those for another. */
function consented(found: FoundStatement, actor: string, given: ConsentGiven): GuardVerdict {
  const { memory } = found.statement;
  const { via, evidence = null, requestId = null, reason } = given;
  // The answered request is settled last, by its decider.
  const others = waiting(found).filter(({ id }) => id !== requestId);
  const approved = others.filter((other) => !other.expired && isSameProposal(memory, other));
  const outdated = others.filter((other) => !approved.includes(other));
  const ended = lapsed(outdated, actor, memory.category);
  return {
    outcome: "written",
    approval: { decision: "approve", via, requestId, evidence, reason },
    consents: {
      ...ended,
      settled: [...ended.settled, ...approved.map(({ id }) => approvedBy(actor, id, { via, evidence }))],
    },
  };
}

/** The slot's value was said again: older requests for another value are superseded. */
function endContradicted(found: FoundStatement, actor: string): Partial<ConsentPlan> {
  const { validFrom, category } = found.statement.memory;
  const isOlder = ({ validFrom: other }: StandingConsent) => !validFrom || !other || validFrom >= other;
  return lapsed(waiting(found).filter(isOlder), actor, category);
}

function proposed(context: WriteContext, { statement, standing }: FoundStatement, rule: ConsentRule): GuardVerdict {
  const { actor } = context.origin;
  const { memory } = statement;
  const { category } = memory;
  const { key = null, validFrom = null } = memory;
  const proposal = { rule, key, validFrom, normalValue: proposedValue(memory) };
  const change = { ...memory, ...proposal, signals: signalsOf(context, statement) };
  const verdict = decideProposal(change, standing);
  const event = { step: "consent", op: "propose", status: "ok", category } as const;
  switch (verdict.action) {
    case "ask": {
      const ended = standing.filter(({ id, expired }) => expired || id === verdict.supersedes);
      const { settled, events } = lapsed(ended, actor, category);
      const request = newRequest(context, statement, change);
      const consents = { settled, requests: [request], events: [...events, event] };
      return { outcome: "proposed", consentId: request.id, consents };
    }
    case "repeat": {
      const { id, signals } = verdict;
      const consents = { repeats: [{ id, times: 1, signals }], events: [{ ...event, detail: "repeated" }] };
      return { outcome: "proposed", consentId: id, consents };
    }
    case "refused":
    case "outdated": {
      const consents = { events: [{ ...event, status: "skipped", detail: verdict.action } as const] };
      const outcome = verdict.action === "refused" ? "refused" : "kept";
      return { outcome, consentId: verdict.id, consents };
    }
    case "apply": {
      const { id: requestId, signals } = verdict;
      const via = "signals";
      const settled = requestId === null ? [] : [approvedBy(actor, requestId, { via, evidence: null })];
      const approval = { decision: "approve", via, requestId, signals: signals.length } as const;
      return { outcome: "written", approval, consents: { settled } };
    }
  }
}

function newRequest(
  { origin, newId }: WriteContext,
  { memory }: Statement,
  { rule, key, normalValue, contentHash, signals }: ProposedChange,
): NewConsent {
  return {
    ...scopeColumns(memory.scope),
    id: newId(),
    rule,
    category: memory.category,
    key,
    normalValue,
    contentHash,
    signals,
    slot: key === null ? `statement:${contentHash}` : `key:${key}`,
    draft: draftOf(memory),
    seenCount: 1,
    proposedBy: origin.actor,
  };
}

/** Pending requests for the slot; without a key, for the same words. */
function waiting({ statement: { memory }, standing }: FoundStatement): StandingConsent[] {
  return standing.filter(
    ({ status, contentHash }) =>
      status === "pending" && (memory.key !== undefined || contentHash === memory.contentHash),
  );
}

function isSameProposal(memory: PreparedMemory, { contentHash, normalValue }: StandingConsent): boolean {
  return contentHash === memory.contentHash || normalValue === proposedValue(memory);
}

function proposedValue({ value, text }: PreparedMemory): string {
  return normalValue(value ?? text);
}

/** Ends overdue or superseded requests, which nobody decided. */
function lapsed(
  requests: readonly StandingConsent[],
  actor: string,
  category: string,
): Pick<ConsentPlan, "settled" | "events"> {
  return {
    settled: requests.map(({ id, expired }) => ({
      id,
      via: null,
      evidence: null,
      memoryId: null,
      ...(expired ? { status: "expired", actor: null } : { status: "superseded", actor }),
    })),
    events: requests
      .filter(({ expired }) => expired)
      .map(() => ({ step: "consent", op: "expire", status: "ok", category })),
  };
}

function approvedBy(actor: string, id: string, how: Pick<SettledConsent, "via" | "evidence">): SettledConsent {
  return { ...how, id, status: "approved", actor, memoryId: null };
}

/** A program brings these words anew with each call. An agent may repeat itself. */
const ownWords: ReadonlySet<MemoryOrigin> = new Set(["user", "operator", "unknown"]);

function signalsOf(
  { owner, origin: { call } }: WriteContext,
  { memory: { origin, source }, turnsAgo }: Statement,
): ConsentSignal[] {
  const seq = source?.seqs.at(-1);
  return [
    {
      turn: turnOf(owner, turnsAgo),
      ...(call !== undefined && ownWords.has(origin) && { call }),
      ...(source && seq !== undefined && { threadId: source.threadId, seq }),
    },
  ];
}
