import sql from "sql-template-tag";
import { z } from "zod";
import { nonBlank } from "../../input/parse-input.js";
import { insertEvents, type MemoryEvent } from "../../observability/events/event-log.js";
import {
  column,
  fields,
  names,
  orNull,
  type RowOf,
  recordset,
  without,
} from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef, Scope } from "../../scope/scope.js";
import { uuidOf } from "../../scope/scope-predicates.js";
import type { MemoryDraft, MemoryOrigin } from "../item/memory.js";
import { consentRules, pendingMs, refusedMs } from "./consent-policy.rule.js";
import {
  type ConsentEvidence,
  type ConsentRequest,
  type ConsentSignal,
  type ConsentVia,
  consentStatuses,
  type EarlierRequest,
} from "./consent-request.rule.js";

/** A `MemoryDraft` as JSON, with times as text. */
export type StoredDraft = Pick<MemoryDraft, "text" | "value" | "source" | "validFrom">;

const storedDraft = z.custom<StoredDraft>(
  (draft) => nonBlank.safeParse((draft as StoredDraft | null)?.text).success,
  "must have a text",
);

/** All columns of `consent_request` but its refs. */
export const consentColumns = {
  id: column.uuid("id"),
  tenantId: column.text("tenant_id"),
  userId: column.text("user_id"),
  appId: column.text("app_id"),
  rule: column.text("rule", z.enum(consentRules)),
  category: column.text("category", nonBlank),
  key: orNull(column.text("key", nonBlank)),
  /** The key, or the statement's hash. */
  slot: column.text("slot", nonBlank),
  /** Equal for two proposals of the same value. */
  normalValue: column.text("normal_value"),
  contentHash: column.text("content_hash"),
  draft: column.json<StoredDraft>("draft", storedDraft),
  status: column.text("status", z.enum(consentStatuses)),
  seenCount: column.integer("seen_count"),
  signals: column.json<readonly ConsentSignal[]>("signals", z.array(z.custom<ConsentSignal>())),
  proposedBy: column.text("proposed_by"),
  memoryId: orNull(column.uuid("memory_id")),
  createdAt: column.time("created_at"),
  expiresAt: column.time("expires_at"),
  askAt: column.time("ask_at"),
  decidedAt: orNull(column.time("decided_at")),
  decidedBy: orNull(column.text("decided_by")),
  decidedVia: orNull(column.text<ConsentVia>("decided_via")),
  evidence: orNull(column.json<ConsentEvidence>("evidence")),
  revision: column.bigint("revision"),
};

export interface ConsentPlan {
  readonly settled: readonly SettledConsent[];
  readonly requests: readonly NewConsent[];
  readonly repeats: readonly RepeatedConsent[];
  readonly events: readonly Omit<MemoryEvent, "scope">[];
}

/** Settles old requests first: a slot has at most one pending request. */
export async function applyConsentPlan(
  tx: Connection,
  { settled = [], requests = [], repeats = [], events = [] }: Partial<ConsentPlan>,
  { ownerRef, scope }: { readonly ownerRef: number; readonly scope: Scope },
): Promise<void> {
  await settleConsents(tx, settled);
  await insertConsents(tx, ownerRef, requests);
  await repeatConsents(tx, repeats);
  // The plan may settle its own requests.
  if (requests.length > 0) await settleConsents(tx, settled);
  await insertEvents(
    tx,
    events.map((event) => ({ ...event, scope })),
  );
}

/**
 * Requests for each slot or keyless category, pending or refused in the last 30 days, newest first.
 */
export async function findStandingConsents(
  tx: Connection,
  ownerRef: OwnerRef,
  changes: readonly {
    readonly scope: Scope;
    readonly category: string;
    readonly key?: string | undefined;
  }[],
): Promise<EarlierRequest[][]> {
  const probes = changes.map(({ scope: { appId = "" }, category, key }, index) => {
    return { index, appId, category, key };
  });
  const rows = await tx.query<
    Omit<EarlierRequest, "validFrom"> & { probe: number; validFrom: string | null }
  >(
    sql`
    select p.index as probe, c.id, c.status, c.status = 'pending' and c.expires_at <= ${tx.now()} as expired,
      c.normal_value as "normalValue", c.content_hash as "contentHash",
      c.draft ->> 'validFrom' as "validFrom", c.signals
    from json_to_recordset(${JSON.stringify(probes)}::json) as p (
      index integer, "appId" text, category text, key text
    )
    join ${tx.schema}.consent_request c
      on c.owner_ref = ${ownerRef} and c.app_id = p."appId" and c.category = p.category
      and c.key is not distinct from p.key and c.status in ('pending', 'refused')
    where c.status = 'pending'
      or c.decided_at > ${tx.now()} - ${refusedMs} * interval '1 millisecond'
    order by c.ref desc`,
    { prepare: true },
  );
  const requests = rows.map(({ validFrom, ...row }) => {
    return { ...row, validFrom: validFrom === null ? null : new Date(validFrom) };
  });
  return probes.map((_, probe) => requests.filter((row) => row.probe === probe));
}

export interface SettledConsent {
  readonly id: string;
  readonly status: "approved" | "refused" | "superseded" | "expired";
  /** @default nobody decided */
  readonly actor?: string;
  readonly via?: ConsentVia;
  readonly evidence?: ConsentEvidence | null | undefined;
  /** The memory that the approval wrote. */
  readonly memoryId?: string | null;
}

/**
 * Ends the pending ones of `settled`, and returns their ids. An overdue request can only expire.
 */
export async function settleConsents(
  tx: Connection,
  settled: readonly SettledConsent[],
): Promise<string[]> {
  if (settled.length === 0) return [];
  const rows = await tx.query<{ id: string }>(sql`
    update ${tx.schema}.consent_request c
    set status = i.status, decided_by = i.actor, decided_via = i.via, evidence = i.evidence, memory_id = i."memoryId",
      decided_at = least(c.expires_at, ${tx.now()})
    from json_to_recordset(${JSON.stringify(settled)}::json) as i (
      id uuid, status text, actor text, via text, evidence jsonb, "memoryId" uuid
    )
    where c.id = i.id and c.status = 'pending' and (c.expires_at <= ${tx.now()}) = (i.status = 'expired')
    returning c.id`);
  return rows.map(({ id }) => id);
}

export interface WaitingConsent
  extends Pick<ConsentRequest, "id" | "category" | "key" | "value" | "text"> {
  readonly origin: MemoryOrigin;
}

export async function findWaitingConsents(
  db: Connection,
  input: { ownerRef: number; scope: Scope; ids?: readonly string[] | undefined; limit: number },
): Promise<WaitingConsent[]> {
  const { ownerRef, scope, ids, limit } = input;
  return db.query<WaitingConsent>(sql`
    select c.id, c.category, c.key, c.draft ->> 'value' as value, c.draft ->> 'text' as text,
      coalesce(c.draft ->> 'origin', 'unknown') as origin
    from ${db.schema}.consent_request c
    where c.owner_ref = ${ownerRef} and c.app_id in ('', ${scope.appId ?? ""})
      and c.status = 'pending' and c.expires_at > ${db.now()}
      and (${ids === undefined} or c.id = any (${(ids ?? []).map(uuidOf)}::uuid[]))
    order by c.ref desc limit ${limit}`);
}

const newRequestColumns = without(
  consentColumns,
  ...(["status", "memoryId", "createdAt", "expiresAt", "askAt"] as const),
  ...(["decidedAt", "decidedBy", "decidedVia", "evidence", "revision"] as const),
);

export type NewConsent = RowOf<typeof newRequestColumns>;

interface RepeatedConsent {
  readonly id: string;
  readonly signals: readonly ConsentSignal[];
}

async function insertConsents(
  tx: Connection,
  ownerRef: number,
  requests: readonly NewConsent[],
): Promise<void> {
  if (requests.length === 0) return;
  await tx.query(sql`
    insert into ${tx.schema}.consent_request (owner_ref, created_at, expires_at, ask_at, ${names(newRequestColumns)})
    select ${ownerRef}, ${tx.now()}, ${tx.now()} + ${pendingMs} * interval '1 millisecond', ${tx.now()},
      ${fields(newRequestColumns)}
    from json_to_recordset(${JSON.stringify(requests)}::json) as i (${recordset(newRequestColumns)})`);
}

async function repeatConsents(tx: Connection, repeated: readonly RepeatedConsent[]): Promise<void> {
  if (repeated.length === 0) return;
  await tx.query(sql`
    update ${tx.schema}.consent_request c set seen_count = c.seen_count + i.times, signals = i.signals
    from (
      -- The last repeat has all signals.
      select id, count(*) as times, (array_agg(signals order by at desc))[1] as signals
      from rows from (json_to_recordset(${JSON.stringify(repeated)}::json) as (id uuid, signals jsonb))
        with ordinality as r (id, signals, at)
      group by id
    ) i
    where c.id = i.id`);
}
