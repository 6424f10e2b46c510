import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { ScopeColumns } from "../scope/scope-predicates.js";
import type { ExportLineOf } from "./export-line.js";

/** A record of the kind, with the app it belongs to. */
export type ImportedRecord<Type extends "history" | "change" | "consent"> = Omit<
  ExportLineOf<Type>,
  "type" | "appId"
> & { readonly appId: string };

/** Lets an owner's counters go on from an imported one's. True when that changed them. */
export async function importOwner(
  tx: Connection,
  input: { ownerRef: number; revision: number; turns: number; changesTrimmedTo: number },
): Promise<boolean> {
  const { ownerRef, revision, turns } = input;
  const rows = await tx.query(sql`
    update ${tx.schema}.owner
    set changes_trimmed_to =
        case revision when 0 then least(${input.changesTrimmedTo}, ${revision}::bigint) else changes_trimmed_to end,
      revision = greatest(revision, ${revision}::bigint), turns = greatest(turns, ${turns}::bigint)
    where id = ${ownerRef} and (revision < ${revision} or turns < ${turns})
    returning id`);
  return rows.length > 0;
}

/** Adds links between memories of an owner; a link to one that is not there is left out. Returns how many. */
export async function importRelations(
  tx: Connection,
  { ownerRef, relations }: { ownerRef: number; relations: readonly ExportLineOf<"relation">[] },
): Promise<number> {
  const rows = await tx.query(sql`
    insert into ${tx.schema}.relation (from_ref, to_ref, relation_type, strength, created_at)
    select f.ref, t.ref, i."relationType", i.strength, i."createdAt"
    from json_to_recordset(${JSON.stringify(relations)}::json) as i (
      "from" uuid, "to" uuid, "relationType" text, strength real, "createdAt" timestamptz
    )
    join ${tx.schema}.memory f on f.id = i."from" and f.owner_ref = ${ownerRef}
    join ${tx.schema}.memory t on t.id = i."to" and t.owner_ref = ${ownerRef}
    where f.ref <> t.ref
    on conflict do nothing
    returning 1`);
  return rows.length;
}

/** Adds the entries of the audit trail that are not there yet, whoever is said to have made them. Returns how many. */
export async function importHistory(
  tx: Connection,
  { ownerRef, entries }: { ownerRef: number; entries: readonly ImportedRecord<"history">[] },
): Promise<number> {
  const rows = await tx.query(sql`
    insert into ${tx.schema}.history (owner_ref, app_id, memory_id, event, old, new, actor, rev, created_at)
    select ${ownerRef}, i."appId", i."memoryId", i.event, i.old, i.new, i.actor, i.revision, i."createdAt"
    from (
      select row_number() over () as position, e.*
      from json_to_recordset(${JSON.stringify(entries)}::json) as e (
        "appId" text, "memoryId" uuid, event text, old jsonb, new jsonb, actor text, revision bigint,
        "createdAt" timestamptz
      )
    ) i
    where not exists (
      select from ${tx.schema}.history h
      where h.memory_id = i."memoryId" and h.created_at = i."createdAt" and h.owner_ref = ${ownerRef}
        and h.event = i.event and h.rev is not distinct from i.revision
        and h.old is not distinct from i.old and h.new is not distinct from i.new
    )
    order by i.position
    returning 1`);
  return rows.length;
}

/**
 * Adds the news that are not there yet to a locked owner, whatever words they are told in. Returns how many.
 *
 * They keep their revisions; one whose revision the owner has used for something else gets the next.
 */
export async function importChanges(
  tx: Connection,
  { ownerRef, changes }: { ownerRef: number; changes: readonly ImportedRecord<"change">[] },
): Promise<number> {
  const { schema } = tx;
  const [row] = await tx.query<{ added: number }>(sql`
    with input as (
      select row_number() over () as position, i.*
      from json_to_recordset(${JSON.stringify(changes)}::json) as i (
        "appId" text, revision bigint, "memoryId" uuid, event text, category text, line text, importance real,
        "createdAt" timestamptz
      )
    ),
    fresh as (
      select i.*, exists (
        select from ${schema}.change_log c where c.owner_ref = ${ownerRef} and c.rev = i.revision
      ) as taken
      from input i
      where not exists (
        select from ${schema}.change_log c
        where c.memory_id = i."memoryId" and c.owner_ref = ${ownerRef} and c.event = i.event
          and c.created_at = i."createdAt" and (c.rev = i.revision or c.line = i.line)
      )
    ),
    last as (
      select greatest(o.revision, (select max(revision) from fresh where not taken)) as rev
      from ${schema}.owner o where o.id = ${ownerRef}
    ),
    numbered as (
      select f.*, case when taken then last.rev + row_number() over (partition by taken order by position)
        else revision end as rev
      from fresh f, last
    ),
    added as (
      insert into ${schema}.change_log
        (owner_ref, app_id, rev, memory_id, event, category, line, importance, created_at)
      select ${ownerRef}, "appId", rev, "memoryId", event, category, line, importance, "createdAt" from numbered
      order by position
      returning rev
    ),
    counted as (
      update ${schema}.owner o set revision = greatest(o.revision, (select max(rev) from added))
      where o.id = ${ownerRef}
    )
    select count(*)::int as added from added`);
  return row?.added ?? 0;
}

/** Which of `ids` are consent requests of other owners. */
export async function findForeignConsents(
  tx: Connection,
  { ownerRef, ids }: { ownerRef: number; ids: readonly string[] },
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    select id from ${tx.schema}.consent_request where id = any (${ids}::uuid[]) and owner_ref <> ${ownerRef}`);
  return rows.map(({ id }) => id);
}

/** Adds consent requests that are not there yet; one for a slot for which another waits is left out. Returns how many. */
export async function importConsents(
  tx: Connection,
  input: { scope: ScopeColumns; ownerRef: number; consents: readonly ImportedRecord<"consent">[] },
): Promise<number> {
  const { tenantId, userId } = input.scope;
  const rows = await tx.query(sql`
    insert into ${tx.schema}.consent_request (
      id, owner_ref, tenant_id, user_id, app_id, rule, category, key, slot, normal_value, content_hash, draft, status,
      seen_count, signals, proposed_by, memory_id, created_at, expires_at, ask_at, decided_at, decided_by,
      decided_via, evidence
    )
    select id, ${input.ownerRef}, ${tenantId}, ${userId}, "appId", rule, category, key, slot, "normalValue",
      "contentHash", draft, status, "seenCount", signals, "proposedBy", "memoryId", "createdAt", "expiresAt",
      "askAt", "decidedAt", "decidedBy", "decidedVia", evidence
    from (
      select row_number() over () as position, c.*
      from json_to_recordset(${JSON.stringify(input.consents)}::json) as c (
        id uuid, "appId" text, rule text, category text, key text, slot text, "normalValue" text, "contentHash" text,
        draft jsonb, status text, "seenCount" integer, signals jsonb, "proposedBy" text, "memoryId" uuid,
        "createdAt" timestamptz, "expiresAt" timestamptz, "askAt" timestamptz, "decidedAt" timestamptz,
        "decidedBy" text, "decidedVia" text, evidence jsonb
      )
    ) i
    order by position
    on conflict do nothing
    returning 1`);
  return rows.length;
}
