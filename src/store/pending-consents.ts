import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { currentValue } from "./consent-row.js";

/** Which of the waiting requests a recall shows. */
export interface PendingConsentSelection {
  readonly appId: string;
  readonly categories: readonly string[];
  readonly limit: number;
}

/**
 * The body of a CTE: what waits for the consent of the owners in the CTE `seer (id, is_user)` and may be asked about
 * now, newest first. Its columns are those of `PendingConsent`.
 */
export function pendingConsents(db: Connection, selection: PendingConsentSelection): Sql {
  return sql`
    select c.id, c.category, c.key, c.draft ->> 'value' as value, c.draft ->> 'text' as text,
      ${currentValue(db)} as current
    from ${db.schema}.consent_request c
    where c.owner_ref in (select id from seer) and c.status = 'pending' and c.rule = 'consent'
      and c.expires_at > ${db.now()} and c.ask_at <= ${db.now()} and c.app_id in ('', ${selection.appId})
      and c.category = any (${selection.categories}::text[])
    order by c.ref desc limit ${selection.limit}`;
}
