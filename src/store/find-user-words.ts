import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { scopeColumns } from "./scope-columns.js";
import { threadIs } from "./thread-is.js";
import { uuidOf } from "./uuid-of.js";

/** What a thread holds since a request was made. */
export interface UserWords {
  /** What its user wrote last; null when nothing. */
  readonly latest: { readonly messageId: string; readonly text: string } | null;
  /** Whether anything at all was recorded in it since. */
  readonly continued: boolean;
  /** Which of the messages asked about are recorded, whenever that was. */
  readonly recorded: readonly string[];
}

/**
 * What the user of a thread wrote last in it since the request was made; which of `ids` it holds.
 * One statement; of another scope's thread, and for another scope's request, nothing.
 */
export async function findUserWords(
  db: Connection,
  input: { scope: Scope; threadId: string; requestId: string; ids: readonly string[] },
): Promise<UserWords> {
  const { tenantId, userId, appId } = scopeColumns(input.scope);
  const [row] = await db.query<UserWords>(sql`
    with spoken as (
      select t.id, c.created_at as since
      from ${db.schema}.thread t
      left join ${db.schema}.consent_request c on c.id = ${uuidOf(input.requestId)}::uuid and c.owner_ref = t.owner_ref
      where ${threadIs(tenantId, input.threadId)}
        and t.user_id = ${userId} and t.app_id = ${appId}
    )
    select
      (
        select json_build_object('messageId', m.message_id, 'text', m.content)
        from spoken s join ${db.schema}.message m on m.thread_ref = s.id
        where m.role = 'user' and m.created_at > s.since order by m.seq desc limit 1
      ) as latest,
      exists (
        select from spoken s join ${db.schema}.message m on m.thread_ref = s.id where m.created_at > s.since
      ) as continued,
      array(
        select m.message_id from spoken s join ${db.schema}.message m on m.thread_ref = s.id
        where m.message_id = any (${input.ids}::text[])
      ) as recorded`);
  return row ?? { latest: null, continued: false, recorded: [] };
}
