import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { ownerIs } from "./owner-is.js";
import { ownerColumns } from "./scope-columns.js";

/** Owners with news older than `keepMs`, as refs, at most `limit`. @param input.scope only its owner. */
export async function findOwnersToTrim(
  db: Connection,
  { keepMs, limit, scope }: { keepMs: number; limit: number; scope?: Scope | undefined },
): Promise<string[]> {
  const { schema } = db;
  const ofScope = scope
    ? sql`and c.owner_ref = (select o.id from ${schema}.owner o where ${ownerIs(ownerColumns(scope))})`
    : sql``;
  const rows = await db.query<{ ref: string }>(sql`
    select distinct c.owner_ref::text as ref from ${schema}.change_log c where ${isOld(db, keepMs)} ${ofScope}
    limit ${limit}`);
  return rows.map(({ ref }) => ref);
}

/**
 * Deletes the oldest of a locked owner's news that are older than `keepMs`, at most `limit`, and notes how far. One
 * statement. Returns how many.
 */
export async function trimChanges(
  tx: Connection,
  { ownerRef, keepMs, limit }: { ownerRef: string; keepMs: number; limit: number },
): Promise<number> {
  const { schema } = tx;
  const [row] = await tx.query<{ trimmed: number }>(sql`
    with last as (
      select max(rev) as rev from (
        select c.rev from ${schema}.change_log c
        where c.owner_ref = ${ownerRef}::bigint and ${isOld(tx, keepMs)} order by c.rev limit ${limit}
      ) oldest
    ),
    -- All up to there, so that no revision is missing between two that are kept.
    gone as (
      delete from ${schema}.change_log c using last
      where c.owner_ref = ${ownerRef}::bigint and c.rev <= last.rev
      returning 1
    ),
    noted as (
      update ${schema}.owner o set changes_trimmed_to = greatest(o.changes_trimmed_to, last.rev)
      from last where o.id = ${ownerRef}::bigint and last.rev is not null
    )
    select count(*)::int as trimmed from gone`);
  return row?.trimmed ?? 0;
}

function isOld(db: Connection, keepMs: number): Sql {
  return sql`c.created_at < ${db.now()} - ${keepMs}::float8 * interval '1 millisecond'`;
}
