import { type ConsentRule, consentRule } from "../guard/consent-policy.js";
import { type ConsentGiven, type ConsentSignal, consentChange } from "../guard/consent-request.js";
import { decideProposal, type StandingConsent } from "../guard/decide-proposal.js";
import type { MemoryOrigin } from "../item/trust.js";
import { type ConsentPlan, lapse, newConsent, proposedValue } from "./consent-plan.js";
import { mergeThresholds, type SettledDecision, settleDraft } from "./decide-draft.js";
import type { OwnerDraft } from "./draft-waves.js";
import type { WriteCandidate } from "./find-write-candidates.js";
import { saidTurn, type WriteContext } from "./new-memory.js";
import { planDraft, type WritePlan } from "./plan-draft.js";
import type { WriteOrigin, WriteOutcome } from "./write-runtime.js";

interface Context extends WriteContext {
  readonly origin: WriteOrigin;
}

/** One draft, or several that say the same, and all that bears on them. */
export interface GuardedDraft {
  readonly doubles: OwnerDraft[];
  readonly rivals: WriteCandidate[];
  /** What waits for its slot, or was refused. */
  readonly standing: readonly StandingConsent[];
}

/**
 * Adds to the plans what a draft does: a change of a sensitive field becomes a request unless consent is given, one of
 * a benign field waits for a second signal, anything else is written. Every way of adding memories comes through here.
 */
export function planGuardedDraft(
  context: Context,
  plan: WritePlan & { readonly consents: ConsentPlan },
  draft: GuardedDraft,
): WriteOutcome {
  const { rivals } = draft;
  const rule = consentRule(context.config.consent, (draft.doubles[0] as OwnerDraft).memory);
  const doubles = rule !== null && context.origin.consent ? draft.doubles.map(vouchedFor) : draft.doubles;
  const first = doubles[0] as OwnerDraft;
  const decision = settleDraft(first, rivals, {
    ...{ turn: saidTurn(context, first), now: context.owner.now, config: context.config },
  });
  const write = (how: SettledDecision) => planDraft(context, plan, doubles, rivals, how);
  if (rule === null) return write(decision);

  const given = context.origin.consent;
  if (given) return planGiven(context, plan, draft, given, () => write(decision));
  if (decision.action === "touch") {
    endContradicted(context, plan.consents, draft, decision.id);
    return write(decision);
  }
  if (!isGuarded(rule, decision)) return write(decision);
  if (decision.action === "insert_closed") return write({ action: "keep", id: decision.id });
  return planProposal(context, plan, draft, { rule, write: () => write(decision) });
}

/** What the user agreed to is the user's own word, whoever proposed it, and believed whatever the confidences. */
function vouchedFor(draft: OwnerDraft): OwnerDraft {
  const trust = draft.memory.trust === "operator" ? "operator" : "user";
  return { ...draft, memory: { ...draft.memory, trust, correction: true } };
}

/** Whether a decision changes what is known. Of a sensitive field not even a weaker claim is dropped unasked. */
function isGuarded(rule: ConsentRule, { action }: SettledDecision): boolean {
  return rule === "consent" || action === "create" || action === "replace";
}

function planGiven(
  { origin }: Context,
  plan: WritePlan & { readonly consents: ConsentPlan },
  { doubles, standing }: GuardedDraft,
  given: ConsentGiven,
  write: () => WriteOutcome,
): WriteOutcome {
  const { memory } = doubles[0] as OwnerDraft;
  const outcome = write();
  const { via, evidence = null, requestId = null } = given;
  const audit = { decision: "approve", via, request: requestId, key: memory.key ?? null, evidence } as const;
  if (outcome.id !== null) {
    const value = memory.value ?? memory.text;
    plan.changes.push(consentChange(outcome.id, memory.category, { ...audit, value }));
  }
  for (const request of waiting(standing, doubles)) {
    // The request that is being answered is settled by who answers it, last of all.
    if (request.id === requestId) continue;
    const approved = !request.expired && isSameValue(request, doubles);
    if (!approved) lapse(plan.consents, request, origin.actor, memory.category);
    else {
      const settled = { actor: origin.actor, via, evidence, memoryId: outcome.id };
      plan.consents.settled.push({ ...settled, id: request.id, status: "approved" });
    }
  }
  return outcome;
}

/** What a slot holds was said again: another value that waits for it is out of date. */
function endContradicted(
  { origin }: Context,
  consents: ConsentPlan,
  { doubles, rivals, standing }: GuardedDraft,
  saidId: string,
): void {
  const { validFrom, category } = (doubles[0] as OwnerDraft).memory;
  if (!rivals.some(({ relation, id }) => relation === "slot" && id === saidId)) return;
  const isNewer = ({ validFrom: other }: StandingConsent) => !validFrom || !other || validFrom >= other;
  for (const request of waiting(standing, doubles).filter(isNewer)) {
    lapse(consents, request, origin.actor, category);
  }
}

function planProposal(
  context: Context,
  plan: WritePlan & { readonly consents: ConsentPlan },
  { doubles, standing }: GuardedDraft,
  { rule, write }: { rule: ConsentRule; write: () => WriteOutcome },
): WriteOutcome {
  const { config, origin } = context;
  const { consents } = plan;
  const { memory } = doubles[0] as OwnerDraft;
  const { kind, category, contentHash, text, confidence, key = null, validFrom = null } = memory;
  const signals = doubles.map((double) => signalOf(context, double));
  const verdict = decideProposal(
    {
      rule,
      kind,
      key,
      normalValue: proposedValue(memory),
      contentHash,
      text,
      confidence,
      validFrom,
      signals,
    },
    standing,
    config.consent,
    mergeThresholds(memory, config).ask,
  );
  const { actor } = origin;
  const event = { step: "consent", op: "propose", status: "ok", category } as const;
  switch (verdict.action) {
    case "ask": {
      const request = newConsent(memory, { rule, seenCount: doubles.length, signals, proposedBy: actor });
      const ended = standing.filter(({ id, expired }) => expired || id === verdict.supersedes);
      for (const other of ended) lapse(consents, other, actor, category);
      consents.created.push(request);
      consents.events.push(event);
      return waits("proposed", request.id);
    }
    case "repeat":
      consents.repeated.push({ id: verdict.id, times: doubles.length, signals: verdict.signals });
      consents.events.push({ ...event, detail: "repeated" });
      return waits("proposed", verdict.id);
    case "refused":
      consents.events.push({ ...event, status: "skipped", detail: "refused" });
      return waits("refused", verdict.id);
    case "outdated":
      consents.events.push({ ...event, status: "skipped", detail: "outdated" });
      return waits("kept", verdict.id);
    case "apply": {
      const outcome = write();
      const settled = { actor, via: "signals", evidence: null, memoryId: outcome.id } as const;
      if (verdict.id !== null) consents.settled.push({ ...settled, id: verdict.id, status: "approved" });
      const audit = {
        decision: "approve",
        via: "signals",
        request: verdict.id,
        key,
        evidence: null,
      } as const;
      if (outcome.id !== null) {
        const value = memory.value ?? text;
        plan.changes.push(
          consentChange(outcome.id, category, { ...audit, value, signals: verdict.signals.length }),
        );
      }
      return outcome;
    }
  }
}

function waits(outcome: WriteOutcome["outcome"], consentId: string): WriteOutcome {
  return { outcome, id: null, problems: [], consentId };
}

/** Requests for the very slot of a draft that are still marked as waiting; of statements, for the same one. */
function waiting(standing: readonly StandingConsent[], doubles: readonly OwnerDraft[]): StandingConsent[] {
  const { memory } = doubles[0] as OwnerDraft;
  return standing.filter(
    ({ status, contentHash }) =>
      status === "pending" && (memory.key !== undefined || contentHash === memory.contentHash),
  );
}

function isSameValue(request: StandingConsent, doubles: readonly OwnerDraft[]): boolean {
  const { memory } = doubles[0] as OwnerDraft;
  return request.contentHash === memory.contentHash || request.normalValue === proposedValue(memory);
}

/** Origins whose words a program brings anew with each call; an agent may say the same thing over and over. */
const ownWords: ReadonlySet<MemoryOrigin> = new Set(["user", "operator", "unknown"]);

function signalOf(context: Context, draft: OwnerDraft): ConsentSignal {
  const { source, origin } = draft.memory;
  const seq = source?.seqs.at(-1);
  const { call } = context.origin;
  return {
    turn: saidTurn(context, draft),
    ...(call !== undefined && ownWords.has(origin) && { call }),
    ...(source && seq !== undefined && { threadId: source.threadId, seq }),
  };
}
