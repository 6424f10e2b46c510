import sql from "sql-template-tag";
import type { MemoryItem } from "../memories/item/memory.js";
import { type MemoryJson, memoryJson, memoryOf, unexpired } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import type { AppScope } from "../scope/scope.js";
import { seenOwners } from "../scope/scope-predicates.js";

/** An app's notes for a prompt: latest written or changed first, as in a recall. */
export async function findShownNotes(
  db: Connection,
  { scope, categories, limit }: { scope: AppScope; categories: readonly string[]; limit: number },
): Promise<MemoryItem[]> {
  const rows = await db.query<{ memory: MemoryJson }>(
    sql`
    select ${memoryJson(db)} as memory
    from (${seenOwners(db, scope)}) o cross join lateral (
      select * from ${db.schema}.memory m
      where m.owner_ref = o.id and m.kind = 'note' and m.state = 'active' and ${unexpired(db)}
        and m.category = any (${categories}::text[])
      order by m.updated_at desc, m.ref limit ${limit}
    ) m
    order by m.updated_at desc, m.ref`,
    { prepare: true },
  );
  return rows.map(({ memory }) => memoryOf(memory));
}

export async function countNotes(db: Connection, scope: AppScope): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::int as count
    from (${seenOwners(db, scope)}) o
    join ${db.schema}.memory m on m.owner_ref = o.id and m.kind = 'note' and m.state = 'active' and ${unexpired(db)}`);
  return row?.count ?? 0;
}
