import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { ExportLineOf } from "../domain/export-line.js";
import { hasOwner } from "./erasure-scope.js";
import type { ExportPage, ExportRow } from "./export-rows.js";
import { withApp } from "./export-rows.js";

/** Links between memories of the scope. */
export async function exportRelations(
  db: Connection,
  { scope, after, limit }: ExportPage,
): Promise<ExportRow<ExportLineOf<"relation">>[]> {
  const [from = "0", to = "0", type = ""] = after ?? [];
  return db.query<ExportRow<ExportLineOf<"relation">> & Record<string, unknown>>(sql`
    select array[r.from_ref::text, r.to_ref::text, r.relation_type] as cursor, json_build_object(
      'type', 'relation', 'from', x.id, 'to', o.id, 'relationType', r.relation_type, 'strength', r.strength,
      'createdAt', r.created_at
    ) as line
    from ${db.schema}.memory x
    join ${db.schema}.relation r on r.from_ref = x.ref
    join ${db.schema}.memory o on o.ref = r.to_ref and o.owner_ref = x.owner_ref
    where ${hasOwner(scope)} and (${scope.whole} or o.app_id = ${scope.appId}) and x.ref >= ${from}::bigint
      and (r.from_ref, r.to_ref, r.relation_type) > (${from}::bigint, ${to}::bigint, ${type}::text)
    order by r.from_ref, r.to_ref, r.relation_type limit ${limit}`);
}

/** The audit trail, oldest first. */
export async function exportHistory(
  db: Connection,
  { scope, after, limit }: ExportPage,
): Promise<ExportRow<ExportLineOf<"history">>[]> {
  return db.query<ExportRow<ExportLineOf<"history">> & Record<string, unknown>>(sql`
    select array[x.id::text] as cursor, ${withApp(
      scope,
      sql`jsonb_build_object(
        'type', 'history', 'memoryId', x.memory_id, 'event', x.event, 'old', x.old, 'new', x.new,
        'actor', x.actor, 'revision', x.rev, 'createdAt', x.created_at
      )`,
    )} as line
    from ${db.schema}.history x
    where ${hasOwner(scope)} and x.id > ${after?.[0] ?? "0"}::bigint
    order by x.id limit ${limit}`);
}

/** The news of the scope's memories, by revision. */
export async function exportChanges(
  db: Connection,
  { scope, after, limit }: ExportPage,
): Promise<ExportRow<ExportLineOf<"change">>[]> {
  return db.query<ExportRow<ExportLineOf<"change">> & Record<string, unknown>>(sql`
    select array[x.rev::text] as cursor, ${withApp(
      scope,
      sql`jsonb_build_object(
        'type', 'change', 'revision', x.rev, 'memoryId', x.memory_id, 'event', x.event, 'category', x.category,
        'line', x.line, 'importance', x.importance, 'createdAt', x.created_at
      )`,
    )} as line
    from ${db.schema}.change_log x
    where ${hasOwner(scope)} and x.rev > ${after?.[0] ?? "-1"}::bigint
    order by x.rev limit ${limit}`);
}

/** What waits for consent, and what was decided; in the order in which it was proposed. */
export async function exportConsents(
  db: Connection,
  { scope, after, limit }: ExportPage,
): Promise<ExportRow<ExportLineOf<"consent">>[]> {
  return db.query<ExportRow<ExportLineOf<"consent">> & Record<string, unknown>>(sql`
    select array[x.ref::text] as cursor, ${withApp(
      scope,
      sql`jsonb_build_object(
        'type', 'consent', 'id', x.id, 'rule', x.rule, 'category', x.category, 'key', x.key, 'slot', x.slot,
        'normalValue', x.normal_value, 'contentHash', x.content_hash, 'draft', x.draft, 'status', x.status,
        'seenCount', x.seen_count, 'signals', x.signals, 'proposedBy', x.proposed_by, 'memoryId', x.memory_id,
        'createdAt', x.created_at, 'expiresAt', x.expires_at, 'askAt', x.ask_at, 'decidedAt', x.decided_at,
        'decidedBy', x.decided_by, 'decidedVia', x.decided_via, 'evidence', x.evidence
      )`,
    )} as line
    from ${db.schema}.consent_request x
    where ${hasOwner(scope)} and x.ref > ${after?.[0] ?? "0"}::bigint
    order by x.ref limit ${limit}`);
}
