import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";

/** The line of the news `c`, as `changeLine` writes it of what is gone for good. */
export const wordlessLine: Sql = sql`btrim(regexp_replace(c.line, '^(\\[[^\\]]*\\])?.*$', '\\1 (no longer kept)'))`;

/**
 * Deletes memories of a locked owner for good, with their vectors, terms and links, and takes their words out of the
 * news. One statement; none of `ids` may be active.
 *
 * Until its owner is forgotten, the audit trail keeps what a memory was, and the transcript what was said.
 */
export async function purgeMemories(
  tx: Connection,
  { ownerRef, ids }: { ownerRef: number; ids: readonly string[] },
): Promise<void> {
  await tx.query(sql`
    with purged as (
      delete from ${tx.schema}.memory m
      where m.owner_ref = ${ownerRef} and m.id = any (${ids}::uuid[]) and m.state <> 'active'
      returning m.id
    )
    update ${tx.schema}.change_log c set line = ${wordlessLine}
    from purged p where c.memory_id = p.id and c.owner_ref = ${ownerRef}`);
}
