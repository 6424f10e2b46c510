import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ConsentRule } from "../domain/consent-policy.js";
import type { ConsentRequest, ConsentStatus } from "../domain/consent-request.js";
import type { MemoryDraft } from "../domain/memory.js";
import { isSharedBy, type Scope } from "../domain/scope.js";
import { belongsTo } from "./belongs-to.js";
import { type ConsentRow, consentColumns, consentOf, consentStatus } from "./consent-row.js";
import { uuidOf } from "./uuid-of.js";

/** Which requests to list. */
export interface ConsentListing {
  readonly scope: Scope;
  /** @default ["pending"] */
  readonly status?: readonly ConsentStatus[] | undefined;
  /** What they wait for. @default both */
  readonly rule?: ConsentRule | undefined;
  /** Only those that may be asked about now: neither put off, nor waiting for signals. @default false */
  readonly due?: boolean | undefined;
  /** Rows. @default 100 */
  readonly limit?: number | undefined;
}

/** A request with the memory it would become. */
export interface DraftedConsent {
  readonly request: ConsentRequest;
  readonly draft: MemoryDraft;
}

/** A request of the scope's user or app, however it stands; null when there is none. */
export async function findConsent(db: Connection, scope: Scope, id: string): Promise<DraftedConsent | null> {
  const [row] = await db.query<ConsentRow>(sql`
    select ${consentColumns(db)} from ${db.schema}.consent_request c
    where c.id = ${uuidOf(id)}::uuid and ${belongsTo(db, scope, "c")}`);
  return row ? { request: shownTo(scope, consentOf(row)), draft: draftOf(row) } : null;
}

/** Requests of the scope's user or app, newest first. */
export async function listConsents(db: Connection, listing: ConsentListing): Promise<ConsentRequest[]> {
  const { status, rule, due, limit } = listing;
  const rows = await db.query<ConsentRow>(sql`
    select ${consentColumns(db)} from ${db.schema}.consent_request c
    where ${belongsTo(db, listing.scope, "c")}
      and ${consentStatus(db)} = any (${status ?? ["pending"]}::text[])
      and (${rule ?? null}::text is null or c.rule = ${rule ?? null})
      and (not ${due ?? false}::boolean or (c.rule = 'consent' and c.ask_at <= ${db.now()}))
    order by c.ref desc
    limit ${limit ?? 100}`);
  return rows.map((row) => shownTo(listing.scope, consentOf(row)));
}

/** An app's request is seen by all of its users: none of them is told who made or decided it, nor in which words. */
function shownTo(scope: Scope, request: ConsentRequest): ConsentRequest {
  if (!isSharedBy(scope, request.scope)) return request;
  return { ...request, proposedBy: null, decidedBy: null, evidence: null };
}

/** JSON has no dates. */
function draftOf({ draft }: ConsentRow): MemoryDraft {
  const { validFrom, ...stored } = draft as Omit<MemoryDraft, "validFrom"> & { validFrom?: string };
  return { ...stored, ...(validFrom !== undefined && { validFrom: new Date(validFrom) }) };
}
