import type { Work } from "../jobs/define-work.js";
import type { ConsentRequest } from "../memories/guard/consent-request.rule.js";
import type { WriteRuntime } from "../memories/write/write-types.js";
import type { Database } from "../postgres/database.js";
import { asListed } from "../postgres/isolation.js";
import { parseListed } from "../scope/scope.js";
import {
  type ConsentListing,
  consentListing,
  expireConsents,
  hasExpiredConsents,
  listConsents,
} from "./consent-rows.js";
import { type ConsentDecision, decideConsent } from "./decide-consent.js";

const batchSize = 500;

/** Marks overdue requests as expired. */
export function defineConsentExpiry(db: Database): Work {
  return {
    kind: "consent-expiry",
    due: async () => ((await hasExpiredConsents(db)) ? [0] : []),
    async run() {
      while ((await expireConsents(db, batchSize)) === batchSize);
    },
  };
}

/**
 * Pending changes: sensitive fields wait for the user's consent, benign ones for a second signal.
 */
export interface ConsentsApi {
  /**
   * Lists pending requests (or those in `status`), newest first, in pages of `limit` (1 to 1,000).
   * Without a scope: everybody's, for operators.
   * @throws MemoryError `INVALID_INPUT`
   */
  list(listing?: ConsentListing): Promise<ConsentRequest[]>;
  /**
   * Approves a request, which writes the memory, or refuses it; the first decision wins. "later"
   * postpones it for a day.
   * @throws MemoryError `NOT_FOUND`, `WRONG_STATE` with who decided and when, `STALE_REVISION`,
   * `INVALID_INPUT`
   */
  decide(decision: ConsentDecision): Promise<ConsentRequest>;
}

export function createConsentsApi(deps: WriteRuntime): ConsentsApi {
  const { db } = deps;
  return {
    list: async (listing) => {
      const page = parseListed(consentListing, listing, "listing");
      return asListed(page, () => listConsents(db, page));
    },
    decide: (decision) => decideConsent(deps, decision),
  };
}
