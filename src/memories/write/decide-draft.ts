import type { MergeThresholds } from "../compare/merge-band.js";
import { consentRule } from "../guard/consent-policy.js";
import { sourceRank } from "../slot/slot-conflict.js";
import type { OwnerDraft } from "./draft-waves.js";
import type { WriteCandidate, WriteProbe } from "./find-write-candidates.js";
import type { PreparedMemory } from "./prepare-memory.js";
import { decideWrite, type Proposal, settleAsk, type WriteDecision } from "./write-decision.js";
import type { WriteConfig } from "./write-runtime.js";

/** What a draft does to the stored memories that bear on it, every question answered. */
export type SettledDecision = ReturnType<typeof settleAsk>;

/** What `memory` does to the stored memories that bear on it, by the thresholds configured. */
export function decideDraft(
  memory: PreparedMemory,
  rivals: readonly WriteCandidate[],
  context: DecisionContext,
): WriteDecision {
  const ranked = rivals.map((rival) => ({ ...rival, rank: sourceRank(rival) }));
  return decideWrite(proposalOf(memory, context), ranked, mergeThresholds(memory, context.config));
}

/** When `memory` was said, and what is configured. */
export interface DecisionContext {
  readonly now: Date;
  readonly turn: number;
  readonly config: WriteConfig;
}

/** `memory` as decisions need it. */
export function proposalOf(memory: PreparedMemory, { now, turn }: Omit<DecisionContext, "config">): Proposal {
  const { key = null, value = null, validFrom = null } = memory;
  return { ...memory, key, value, validFrom, rank: sourceRank(memory), now, turn };
}

/** The bands for `memory`: stricter for what a consent policy guards, an update of who the user is. */
export function mergeThresholds(
  memory: Parameters<typeof consentRule>[1],
  { consent, memories }: WriteConfig,
): MergeThresholds {
  if (consentRule(consent, memory) !== null) {
    const { contextMergeSimilarity, contextAskSimilarity, contextReviewSimilarity } = memories;
    return { merge: contextMergeSimilarity, ask: contextAskSimilarity, review: contextReviewSimilarity };
  }
  const { mergeSimilarity, askSimilarity, reviewSimilarity } = memories;
  return { merge: mergeSimilarity, ask: askSimilarity, review: reviewSimilarity };
}

/** The same for a draft on its way to an owner, which knows how it stands to what is nearly equal. */
export function settleDraft(
  draft: OwnerDraft,
  rivals: readonly WriteCandidate[],
  context: DecisionContext,
): SettledDecision {
  const rivalOf = (id: string) => rivals.find((rival) => rival.id === id) as WriteCandidate;
  return settleAsk(
    decideDraft(draft.memory, rivals, context),
    (id) => draft.sameAs(rivalOf(id)),
    (id) => sourceRank(rivalOf(id)) > sourceRank(draft.memory),
  );
}

/** What to ask the store about `memory` before it is decided. */
export function writeProbe(memory: PreparedMemory, vector: string | null): WriteProbe {
  return { ...memory, appId: memory.scope.appId ?? "", key: memory.key ?? null, vector };
}
