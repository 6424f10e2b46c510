import sql from "sql-template-tag";
import { z } from "zod";
import { pageRowsField, parseInput } from "../../input/parse-input.js";
import type { Connection } from "../../postgres/connection.js";
import { requiredScope, type Scope } from "../../scope/scope.js";
import {
  belongsTo,
  ownerColumns,
  ownerIs,
  scopeColumns,
  uuidOf,
} from "../../scope/scope-predicates.js";
import { type ChangeEvent, type HistoryEvent, wordlessLine } from "./memory-change.js";

/** One entry of the audit trail. */
export interface HistoryEntry {
  readonly id: number;
  readonly event: HistoryEvent;
  readonly old: unknown;
  readonly new: unknown;
  readonly actor: string | null;
  /** The owner's revision after the change. */
  readonly revision: number;
  /** The memory's revision after the change; null in older entries. */
  readonly memoryRevision: number | null;
  readonly at: Date;
}

/** Newest first, also for a deleted memory. Users do not see who changed their app's memories. */
export async function listHistory(
  db: Connection,
  scope: Scope,
  memoryId: string,
): Promise<HistoryEntry[]> {
  const { userId } = scopeColumns(scope);
  return db.query<HistoryEntry>(sql`
    select h.id::float8 as id, h.event, h.old, h.new, coalesce(h.rev, 0)::float8 as revision,
      h.memory_revision::float8 as "memoryRevision", h.created_at as at,
      case when ${userId} = '' or o.user_id <> '' then h.actor end as actor
    from ${db.schema}.history h cross join lateral (select * from ${db.schema}.owner where id = h.owner_ref limit 1) o
    where h.memory_id = ${uuidOf(memoryId)}::uuid and ${belongsTo(db, scope, "h")}
    order by h.id desc`);
}

export interface Change {
  /** The owner's revision after the change. */
  readonly rev: number;
  readonly event: ChangeEvent;
  readonly memoryId: string;
  readonly category: string;
  /** Its line in the delta header, without the sign; without words once the memory was removed. */
  readonly line: string;
  readonly at: Date;
}

export interface Changes {
  /** Revision of the owner's memories; 0 before the first change. */
  readonly revision: number;
  /** Changes up to this revision were requested, but deleted after 180 days. */
  readonly trimmedTo?: number;
  readonly changes: readonly Change[];
  /**
   * The next page's `since`; null on the last page, when `revision` is the next start.
   */
  readonly nextCursor: number | null;
}

const pageSchema = z.strictObject({
  scope: requiredScope,
  /** `nextCursor`, or else `revision`, of the last call. 0: from the first change. */
  since: z.int().min(0),
  /** Rows, 1 to 1,000. @default 100 */
  limit: pageRowsField,
});

interface ListChanges extends z.input<typeof pageSchema> {}

export interface ChangesApi {
  /**
   * Lists changes after the revision `since` to memories that the scope sees, oldest first; each has
   * its own revision.
   * @example
   * ```ts
   * let since = 0;
   * const { changes, revision } = await memory.changes.list({ scope: { userId: "ana" }, since });
   * for (const { line } of changes) console.log(line);
   * since = revision;
   * ```
   * @throws MemoryError `INVALID_INPUT`, `SCOPE_REQUIRED`
   */
  list(input: ListChanges): Promise<Changes>;
}

export function createChangesApi(db: Connection): ChangesApi {
  return {
    async list(input) {
      const { scope, since, limit } = parseInput(pageSchema, input, "page of changes");
      const { appId } = scopeColumns(scope);
      const rows = await db.query<
        Omit<Change, "rev"> & { rev: number | null; latest: number; trimmedTo: number }
      >(sql`
        select o.revision::float8 as latest, o.changes_trimmed_to::float8 as "trimmedTo", c.rev::float8 as rev,
          c.event, c.memory_id as "memoryId", c.category, c.created_at as at,
          case when c.is_gone and c.event <> 'merged' then ${wordlessLine} else c.line end as line
        from ${db.schema}.owner o
        left join lateral (
          select c.*, not exists (
              select from ${db.schema}.memory m where m.id = c.memory_id and m.state <> 'soft_deleted'
            ) as is_gone
          from ${db.schema}.change_log c
          where c.owner_ref = o.id and c.rev > ${since} and (${appId} = '' or c.app_id in ('', ${appId}))
          order by c.rev limit ${limit}
        ) c on true
        where ${ownerIs(ownerColumns(scope))}
        order by c.rev`);
      const { latest = 0, trimmedTo = 0 } = rows[0] ?? {};
      const last = rows.at(-1)?.rev ?? latest;
      return {
        revision: latest,
        ...(trimmedTo > since && { trimmedTo }),
        changes: rows.flatMap(({ rev, event, memoryId, category, line, at }) =>
          rev === null ? [] : [{ rev, event, memoryId, category, line, at }],
        ),
        nextCursor: rows.length === limit && last < latest ? last : null,
      };
    },
  };
}
