import type { Database } from "../database/database.js";
import type { WorkKind } from "../jobs/background-work.js";
import { expireConsents, hasExpiredConsents } from "../store/expire-consents.js";

/** Requests marked in one statement. */
const batchSize = 500;

/** Marking requests whose time is over, as background work. They count as expired before that already. */
export function createConsentExpiryWork(db: Database): WorkKind {
  return {
    async due() {
      if (!(await hasExpiredConsents(db))) return [];
      const run = async () => {
        while ((await expireConsents(db, batchSize)) === batchSize);
      };
      return [{ name: "Consent requests whose time is over", run }];
    },
  };
}
