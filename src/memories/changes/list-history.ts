import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { belongsTo, scopeColumns, uuidOf } from "../../scope/scope-predicates.js";
import type { HistoryEvent } from "./record-changes.js";

/** One entry of the audit trail. */
export interface HistoryEntry {
  /** Ascending in the order of the changes. */
  readonly id: number;
  readonly event: HistoryEvent;
  readonly old: unknown;
  readonly new: unknown;
  readonly actor: string | null;
  /** Revision of the owner's memories after it. */
  readonly revision: number;
  /** Revision of the memory itself after it; null where that was not counted yet. */
  readonly memoryRevision: number | null;
  readonly at: Date;
}

/**
 * What happened to a memory of the scope's user or app, newest first; kept after the memory is gone. Users are not told
 * who changed what belongs to their app: it may have been another of them.
 */
export async function listHistory(db: Connection, scope: Scope, memoryId: string): Promise<HistoryEntry[]> {
  const { userId } = scopeColumns(scope);
  return db.query<HistoryEntry & Record<string, unknown>>(sql`
    select h.id::float8 as id, h.event, h.old, h.new, coalesce(h.rev, 0)::float8 as revision,
      h.memory_revision::float8 as "memoryRevision", h.created_at as at,
      case when ${userId} = '' or o.user_id <> '' then h.actor end as actor
    from ${db.schema}.history h cross join lateral (select * from ${db.schema}.owner where id = h.owner_ref limit 1) o
    where h.memory_id = ${uuidOf(memoryId)}::uuid and ${belongsTo(db, scope, "h")}
    order by h.id desc`);
}
