import type { MemoryKind } from "../item/memory.js";
import { type ConsentRule, insightConfidence, neededSignals } from "./consent-policy.rule.js";
import { type ConsentSignal, independentSignals } from "./consent-request.rule.js";

export interface EarlierRequest {
  readonly id: string;
  readonly status: "pending" | "refused";
  /** Overdue, though not marked yet. */
  readonly expired: boolean;
  readonly normalValue: string;
  readonly contentHash: string;
  readonly text: string;
  /** Null: since it was proposed. */
  readonly validFrom: Date | null;
  readonly signals: readonly ConsentSignal[];
}

export interface ProposedChange extends Omit<EarlierRequest, "id" | "status" | "expired"> {
  readonly rule: ConsentRule;
  readonly kind: MemoryKind;
  readonly key: string | null;
  readonly confidence: number;
}

type ProposalDecision =
  /** Becomes a request, which supersedes another. */
  | { readonly action: "ask"; readonly supersedes: string | null }
  | { readonly action: "repeat"; readonly id: string; readonly signals: readonly ConsentSignal[] }
  | { readonly action: "refused"; readonly id: string }
  /** A later value of the slot is pending. */
  | { readonly action: "outdated"; readonly id: string }
  /** Enough signals agree, also with the request `id`. */
  | {
      readonly action: "apply";
      readonly id: string | null;
      readonly signals: readonly ConsentSignal[];
    };

export function decideProposal(
  change: ProposedChange,
  requests: readonly EarlierRequest[],
): ProposalDecision {
  const { contentHash, key, normalValue } = change;
  const same = requests.filter(
    (other) =>
      contentHash === other.contentHash || (key !== null && normalValue === other.normalValue),
  );
  const refused = same.find(({ status }) => status === "refused");
  if (refused) return { action: "refused", id: refused.id };

  const isPending = ({ status, expired }: EarlierRequest) => status === "pending" && !expired;
  const pending = same.find(isPending);
  const signals = independentSignals([...(pending?.signals ?? []), ...change.signals]);
  const isSure = change.kind === "insight" && change.confidence >= insightConfidence;
  if (change.rule === "signals" && (isSure || signals.length >= neededSignals)) {
    return { action: "apply", id: pending?.id ?? null, signals };
  }
  if (pending) return { action: "repeat", id: pending.id, signals };

  const rival = change.key === null ? undefined : requests.find(isPending);
  const isOlder = rival?.validFrom && change.validFrom && change.validFrom < rival.validFrom;
  if (isOlder) return { action: "outdated", id: rival.id };
  return { action: "ask", supersedes: rival?.id ?? null };
}
