import sql from "sql-template-tag";
import { z } from "zod";
import type { Connection } from "../database/connection.js";
import { pageRows } from "../domain/parse-input.js";
import { parseScoped, type Scope, scopeField } from "../domain/scope.js";
import { MemoryError } from "../errors.js";
import { scopeColumns, scopeOf } from "./scope-columns.js";
import { withinScope } from "./within-scope.js";

/** A conversation and whom it belongs to. */
export interface Thread {
  readonly threadId: string;
  readonly scope: Scope;
  readonly messages: number;
  readonly createdAt: Date;
  readonly lastActivityAt: Date;
  /** Where the next page begins when this thread is the last of a page. */
  readonly cursor: string;
}

/** Which threads to list. */
export interface ListThreads {
  readonly scope: Scope;
  /** Rows, 1 to 1000. @default 100 */
  readonly limit?: number | undefined;
  /** Only those after the thread with this `cursor`. */
  readonly after?: string | undefined;
}

interface Row {
  thread_id: string;
  tenant_id: string;
  user_id: string;
  app_id: string;
  messages: number;
  created_at: Date;
  last_activity_at: Date;
  cursor: string;
}

/**
 * Threads of a user (in all apps when `scope.appId` is not set), or of an app when `scope.userId` is not
 * set; most recently active first.
 *
 * @throws MemoryError `SCOPE_REQUIRED`; `INVALID_INPUT` for a limit or a cursor that is none, and for what is misspelt.
 */
export async function listThreads(db: Connection, input: ListThreads): Promise<Thread[]> {
  const { scope, limit, after } = parsePage(input);
  const rows = await db.query<Row>(sql`
    select t.thread_id, t.tenant_id, t.user_id, t.app_id, t.created_at, t.last_activity_at,
      (
        select coalesce(max(m.seq) + 1, 0) from ${db.schema}.message m where m.thread_ref = t.id
      ) as messages,
      to_char(t.last_activity_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') || '/' || t.id as cursor
    from ${db.schema}.thread t
    where ${withinScope(scopeColumns(scope), "t")}
      and (${after === null} or (t.last_activity_at, t.id) < (${after?.activeAt}::timestamptz, ${after?.ref}::bigint))
    order by t.last_activity_at desc, t.id desc
    limit ${limit}`);
  return rows.map((row) => ({
    threadId: row.thread_id,
    scope: scopeOf(row),
    messages: row.messages,
    createdAt: row.created_at,
    lastActivityAt: row.last_activity_at,
    cursor: row.cursor,
  }));
}

// A Date would do for paging, but for its milliseconds: threads active within the same one would be skipped.
const cursorForm = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)\/(\d{1,18})$/;

const pageSchema = z.strictObject({ scope: scopeField, limit: pageRows, after: z.string().optional() });

function parsePage(input: ListThreads) {
  const { scope, limit, after } = parseScoped(pageSchema, input, "page of threads");
  if (after === undefined) return { scope, limit, after: null };
  const [, activeAt, ref] = cursorForm.exec(after) ?? [];
  if (ref !== undefined && !Number.isNaN(Date.parse(activeAt ?? "")))
    return { scope, limit, after: { activeAt, ref } };
  throw new MemoryError("INVALID_INPUT", "`after` must be the `cursor` of a thread that was listed.");
}
