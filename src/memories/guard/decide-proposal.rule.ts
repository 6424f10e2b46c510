import { normalForm } from "../../text/normal-value.js";
import type { MemoryKind } from "../item/memory.js";
import { type ConsentRule, insightConfidence, neededSignals } from "./consent-policy.rule.js";
import { type ConsentSignal, independentSignals } from "./consent-request.rule.js";

const mostCharacters = 10_000;

/** The share of common words, 0 to 1 (Dice's coefficient). */
export function sharedWords(first: string, second: string): number {
  const [one, other] = [wordsOf(first), wordsOf(second)];
  const shared = [...one].filter((word) => other.has(word)).length;
  return one.size + other.size === 0 ? 0 : (2 * shared) / (one.size + other.size);
}

function wordsOf(text: string): Set<string> {
  const plain = normalForm(text.slice(0, mostCharacters), "NFKC").toLowerCase();
  return new Set(plain.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []);
}

export interface StandingConsent {
  readonly id: string;
  readonly status: "pending" | "refused";
  /** Overdue: it counts as expired before a sweep. */
  readonly expired: boolean;
  readonly normalValue: string;
  readonly contentHash: string;
  readonly text: string;
  /** Null: since it was proposed. */
  readonly validFrom: Date | null;
  readonly signals: readonly ConsentSignal[];
}

export interface ProposedChange extends Omit<StandingConsent, "id" | "status" | "expired"> {
  readonly rule: ConsentRule;
  readonly kind: MemoryKind;
  /** Null: a free statement, of which there can be several. */
  readonly key: string | null;
  readonly confidence: number;
}

export type ProposalDecision =
  /** It waits, and `supersedes` does not any more. */
  | { readonly action: "ask"; readonly supersedes: string | null }
  | { readonly action: "repeat"; readonly id: string; readonly signals: readonly ConsentSignal[] }
  | { readonly action: "refused"; readonly id: string }
  /** A later value of the slot waits already. */
  | { readonly action: "outdated"; readonly id: string }
  /** Enough signals agree. `id`: the request that waited for it. */
  | { readonly action: "apply"; readonly id: string | null; readonly signals: readonly ConsentSignal[] };

export function decideProposal(change: ProposedChange, standing: readonly StandingConsent[]): ProposalDecision {
  const same = standing.filter((other) => isSame(change, other));
  const refused = same.find(({ status }) => status === "refused");
  if (refused) return { action: "refused", id: refused.id };

  const waits = ({ status, expired }: StandingConsent) => status === "pending" && !expired;
  const known = same.find(waits);
  const signals = independentSignals([...(known?.signals ?? []), ...change.signals]);
  const sure = change.kind === "insight" && change.confidence >= insightConfidence;
  if (change.rule === "signals" && (sure || signals.length >= neededSignals)) {
    return { action: "apply", id: known?.id ?? null, signals };
  }
  if (known) return { action: "repeat", id: known.id, signals };

  const rival = change.key === null ? undefined : standing.find(waits);
  const isLater = rival?.validFrom && change.validFrom && change.validFrom < rival.validFrom;
  if (rival && isLater) return { action: "outdated", id: rival.id };
  return { action: "ask", supersedes: rival?.id ?? null };
}

function isSame(change: ProposedChange, other: StandingConsent): boolean {
  if (change.contentHash === other.contentHash) return true;
  return change.key !== null && change.normalValue === other.normalValue;
}
