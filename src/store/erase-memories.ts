import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { type ErasureScope, hasOwner } from "./erasure-scope.js";

/** Up to `limit` of the scope's memories, in whatever state, as refs. */
export async function findErasableMemories(
  tx: Connection,
  scope: ErasureScope,
  limit: number,
): Promise<string[]> {
  const rows = await tx.query<{ ref: string }>(sql`
    select x.ref::text as ref from ${tx.schema}.memory x where ${hasOwner(scope)} order by x.ref limit ${limit}`);
  return rows.map(({ ref }) => ref);
}

/** Takes memories that are about to go out of their locked owner's counts. One statement. */
export async function discountMemories(
  tx: Connection,
  { ownerRef, memories }: { ownerRef: string; memories: readonly string[] },
): Promise<void> {
  await tx.query(sql`
    update ${tx.schema}.owner o
    set memory_count = o.memory_count - gone.count, memory_length = o.memory_length - gone.length
    from (
      select count(*) as count, coalesce(sum(t.length), 0) as length
      from ${tx.schema}.memory m
      left join lateral (
        select max(t.length) as length from ${tx.schema}.memory_term t where t.memory_ref = m.ref
      ) t on true
      where m.ref = any (${memories}::bigint[]) and m.state = 'active'
    ) gone
    where o.id = ${ownerRef}`);
}
