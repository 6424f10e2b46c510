import type { Scope } from "../../scope/scope.js";
import { scopeColumns } from "../../scope/scope-predicates.js";
import { normalValue } from "../../text/normal-value.js";
import type { MemoryDraft, MemoryItem, MemoryKind } from "../item/memory.js";
import { type ConsentPolicy, type ConsentRule, consentRule } from "./consent-policy.js";
import type { ConsentDecided, ConsentGiven, ConsentSignal } from "./consent-request.js";
import type { ConsentPlan, SettledConsent } from "./consent-statements.js";
import { decideProposal, type StandingConsent } from "./decide-proposal.js";

/** A memory that somebody wants to write, and that a policy guards. */
export interface GuardedMemory {
  readonly scope: Scope;
  readonly kind: MemoryKind;
  readonly category: string;
  readonly key?: string | undefined;
  readonly value?: string | undefined;
  readonly text: string;
  readonly contentHash: string;
  readonly confidence: number;
  readonly validFrom?: Date | undefined;
}

/** What somebody wants to write, and all that the guard goes by. */
export interface GuardedWrite {
  readonly memory: GuardedMemory;
  /** The memory as a draft, for a request to keep. */
  readonly draft: MemoryDraft;
  readonly rule: ConsentRule;
  /** What writing it would do to what is stored: see `decideWrite`. */
  readonly action: "create" | "replace" | "touch" | "update" | "keep" | "insert_closed";
  /** Whether it says again what holds its slot. */
  readonly saysSlot: boolean;
  /** Each time it was said. */
  readonly signals: readonly ConsentSignal[];
  /** What waits for its slot, or was refused there not long ago. Of a statement: for its category. */
  readonly standing: readonly StandingConsent[];
  /** The user's consent, where it came with the memory. */
  readonly given?: ConsentGiven | undefined;
  readonly actor: string;
}

/** What the guard goes by for every memory. */
export interface GuardPolicy {
  readonly consent: ConsentPolicy;
  /** From which similarity on two statements without a key are one proposal. */
  readonly similarity: number;
  readonly newId: () => string;
}

/** What the guard says, and what becomes of the requests that stand. */
export type GuardVerdict = { readonly consents: Partial<ConsentPlan> } & (
  | /** It is written. `approval` is what the audit trail keeps of who agreed; null where nobody had to. */
  { readonly outcome: "written"; readonly approval: ConsentDecided | null }
  /** Not written: what holds the slot stays. */
  | { readonly outcome: "dropped" }
  /** Not written: it waits, was refused, or gives way to what waits already. */
  | { readonly outcome: "proposed" | "refused" | "kept"; readonly consentId: string }
);

/**
 * Whether a guarded memory is written.
 *
 * | rule | comes with | and would | it |
 * |---|---|---|---|
 * | any | the user's consent | do anything | passes, and settles what waits for its slot |
 * | any | nothing | touch what is known | passes; what waits for that slot is out of date |
 * | signals | nothing | update, keep, insert_closed | passes |
 * | consent | nothing | insert_closed | is dropped: nobody is asked about the past |
 * | any | nothing | anything else | waits, was refused, or passes by its signals: see `decideProposal` |
 *
 * Of a sensitive field even a claim that would change nothing is asked about, since the user may know better.
 */
export function guardWrite(write: GuardedWrite, policy: GuardPolicy): GuardVerdict {
  const { rule, action, given } = write;
  if (given) return consented(write, given);
  if (action === "touch") return { ...unasked, consents: write.saysSlot ? endContradicted(write) : {} };
  if (rule === "signals" && action !== "create" && action !== "replace") return unasked;
  return action === "insert_closed" ? { outcome: "dropped", consents: {} } : proposed(write, policy);
}

/** A memory as it was, and as somebody wants it. */
export interface Edited {
  readonly before: MemoryItem;
  readonly after: MemoryItem;
}

/**
 * Whether an edit may stay. What changes a sensitive field needs the user's consent: its words, where they stand, or that
 * it holds at all.
 *
 * @returns `approval` as in `GuardVerdict`. `asks`: whether the user can be asked about it. Nobody asks about other words
 *   for the value that a slot has, nor about what only an operator may see yet.
 */
export function guardEdit(
  policy: ConsentPolicy,
  { before, after }: Edited,
  given: ConsentGiven | undefined,
): { passes: true; approval: ConsentDecided | null } | { passes: false; asks: boolean } {
  const wasActive = before.state === "active";
  const isSame =
    wasActive &&
    before.category === after.category &&
    before.value === after.value &&
    before.text === after.text;
  const isSensitive = [before, after].some((memory) => consentRule(policy, memory) === "consent");
  if (after.state !== "active" || isSame || !isSensitive) return { passes: true, approval: null };
  if (given) return { passes: true, approval: { ...given, decision: "approve" } };
  return {
    passes: false,
    asks: before.state !== "quarantined" && !(wasActive && isSameSlotValue(before, after)),
  };
}

function isSameSlotValue(before: MemoryItem, after: MemoryItem): boolean {
  const { key, category } = after;
  const isSlot = key !== null && key === before.key && category === before.category;
  const [was, is] = [before, after].map(({ value, text }) => normalValue(value ?? text));
  return isSlot && was === is;
}

const unasked = { outcome: "written", approval: null, consents: {} } as const;

/** The user agreed: what waits for the same value is approved with it, and what waits for another is out of date. */
function consented(write: GuardedWrite, given: ConsentGiven): GuardVerdict {
  const { via, evidence = null, requestId = null } = given;
  const normal = proposedValue(write.memory);
  const isSame = ({ contentHash, normalValue }: StandingConsent) =>
    contentHash === write.memory.contentHash || normalValue === normal;
  // The request that is being answered is settled by who answers it, last of all.
  const others = waiting(write).filter(({ id }) => id !== requestId);
  const approved = others.filter((other) => !other.expired && isSame(other));
  const ended = lapsed(
    write,
    others.filter((other) => !approved.includes(other)),
  );
  return {
    outcome: "written",
    approval: { decision: "approve", via, requestId, evidence },
    consents: {
      ...ended,
      settled: [
        ...ended.settled,
        ...approved.map(({ id }) => approvedBy(write.actor, id, { via, evidence })),
      ],
    },
  };
}

/** What a slot holds was said again: another value that waits for it is out of date, unless it is newer. */
function endContradicted(write: GuardedWrite): Partial<ConsentPlan> {
  const { validFrom } = write.memory;
  const isOlder = ({ validFrom: other }: StandingConsent) => !validFrom || !other || validFrom >= other;
  return lapsed(write, waiting(write).filter(isOlder));
}

function proposed(write: GuardedWrite, { consent, similarity, newId }: GuardPolicy): GuardVerdict {
  const { memory, draft, rule, signals, standing, actor } = write;
  const { scope, category, contentHash, key = null, validFrom = null } = memory;
  const times = signals.length;
  const change = { ...memory, rule, key, validFrom, normalValue: proposedValue(memory), signals };
  const verdict = decideProposal(change, standing, consent, similarity);
  const event = { step: "consent", op: "propose", status: "ok", category } as const;
  switch (verdict.action) {
    case "ask": {
      const ended = standing.filter(({ id, expired }) => expired || id === verdict.supersedes);
      const { settled, events } = lapsed(write, ended);
      const request = {
        ...{ ...scopeColumns(scope), id: newId(), rule, category, key, contentHash, draft, signals },
        slot: key === null ? `statement:${contentHash}` : `key:${key}`,
        ...{ normalValue: change.normalValue, seenCount: times, proposedBy: actor },
      };
      const consents = { settled, requests: [request], events: [...events, event] };
      return { outcome: "proposed", consentId: request.id, consents };
    }
    case "repeat": {
      const { id, signals: known } = verdict;
      const consents = {
        repeats: [{ id, times, signals: known }],
        events: [{ ...event, detail: "repeated" }],
      };
      return { outcome: "proposed", consentId: id, consents };
    }
    case "refused":
    case "outdated": {
      const consents = { events: [{ ...event, status: "skipped", detail: verdict.action } as const] };
      const outcome = verdict.action === "refused" ? "refused" : "kept";
      return { outcome, consentId: verdict.id, consents };
    }
    case "apply": {
      const { id: requestId, signals: known } = verdict;
      const settled =
        requestId === null ? [] : [approvedBy(actor, requestId, { via: "signals", evidence: null })];
      const approval = { decision: "approve", via: "signals", requestId, signals: known.length } as const;
      return { outcome: "written", approval, consents: { settled } };
    }
  }
}

/** Requests for the very slot that are still marked as waiting; of statements, for the same words. */
function waiting({ memory, standing }: GuardedWrite): StandingConsent[] {
  return standing.filter(
    ({ status, contentHash }) =>
      status === "pending" && (memory.key !== undefined || contentHash === memory.contentHash),
  );
}

/** What makes two proposals for a slot the same. */
function proposedValue({ value, text }: GuardedMemory): string {
  return normalValue(value ?? text);
}

/** Ends `requests` without anybody's decision: their time is over, or another value came. */
function lapsed(
  { actor, memory: { category } }: GuardedWrite,
  requests: readonly StandingConsent[],
): Pick<ConsentPlan, "settled" | "events"> {
  const over = requests.filter(({ expired }) => expired);
  return {
    settled: requests.map(({ id, expired }) => ({
      ...{ id, via: null, evidence: null, memoryId: null },
      ...(expired ? { status: "expired", actor: null } : { status: "superseded", actor }),
    })),
    events: over.map(() => ({ step: "consent", op: "expire", status: "ok", category })),
  };
}

function approvedBy(
  actor: string,
  id: string,
  how: Pick<SettledConsent, "via" | "evidence">,
): SettledConsent {
  return { ...how, id, status: "approved", actor, memoryId: null };
}
