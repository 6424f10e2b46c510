import sql from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "./scope.js";
import { idDigest, ownerColumns } from "./scope-predicates.js";

/** An owner's row, locked until the transaction ends. */
export interface LockedOwner {
  readonly ref: number;
  readonly revision: number;
  readonly turns: number;
  /** The time of all that is written under this lock. */
  readonly now: Date;
}

/**
 * Locks the owner of `scope` (its user, or its app where there is no user), making it if it is new.
 *
 * Every change to an owner's memories starts here, so they happen one after another and the statements that
 * follow see all earlier ones.
 */
export async function lockOwner(tx: Connection, scope: Scope): Promise<LockedOwner> {
  const { tenantId, userId, appId } = ownerColumns(scope);
  const digests = sql`${idDigest(sql`tenant_id`)}, ${idDigest(sql`user_id`)}, ${idDigest(sql`app_id`)}`;
  const [row] = await tx.query<{ id: string; revision: string; turns: string; now: Date }>(
    sql`
    insert into ${tx.schema}.owner as o (tenant_id, user_id, app_id)
    values (${tenantId}, ${userId}, ${appId})
    on conflict (${digests}) do update set revision = o.revision
      where o.tenant_id = excluded.tenant_id and o.user_id = excluded.user_id and o.app_id = excluded.app_id
    returning id, revision, turns, ${tx.now()} as now`,
    { prepare: true },
  );
  if (!row)
    throw new MemoryError("ID_TAKEN", "Another owner's ids have the digest of this scope's: use other ids.");
  return { ref: Number(row.id), revision: Number(row.revision), turns: Number(row.turns), now: row.now };
}
