import type { ConsentEvidence, ConsentVia } from "../domain/consent-request.js";
import type { MemoryChange } from "../store/record-changes.js";

/** A decision about a change that needed consent, as the audit trail keeps it. */
export interface ConsentAudit {
  readonly decision: "approve" | "refuse";
  readonly via: ConsentVia;
  /** The request that it answers; null when it was given with the change. */
  readonly request: string | null;
  readonly key: string | null;
  /** What was decided about. */
  readonly value: string;
  readonly evidence: ConsentEvidence | null;
  /** How many independent signals agreed, where these decided. */
  readonly signals?: number;
}

/** The entry of the audit trail for a decision. */
export function consentChange(memoryId: string, category: string, audit: ConsentAudit): MemoryChange {
  return { memoryId, event: "CONSENT", old: null, new: audit, news: null, category, similarity: null };
}
