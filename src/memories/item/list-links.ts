import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { Scope } from "../../scope/scope.js";
import { belongsTo, scopeColumns, uuidOf } from "../../scope/scope-predicates.js";
import type { MemoryItem } from "./memory.js";
import { type MemoryJson, memoryJson, memoryOf, unexpired } from "./memory-row.js";

/** A memory that another one is linked with. */
export interface MemoryLink {
  readonly memory: MemoryItem;
  /** 0 to 1: how alike they were when they were linked. */
  readonly strength: number;
}

/** Links of a memory that are read: who has more is linked with everything. */
const mostLinks = 100;

/** The active memories that a memory of the scope's user or app is linked with, strongest first. */
export async function listLinks(db: Connection, scope: Scope, id: string): Promise<MemoryLink[]> {
  const { appId } = scopeColumns(scope);
  const rows = await db.query<{ memory: MemoryJson; strength: number }>(sql`
    with linked as (
      select x.ref, max(x.strength) as strength
      from ${db.schema}.memory m cross join lateral (
        select r.to_ref as ref, r.strength from ${db.schema}.relation r where r.from_ref = m.ref
        union all
        select r.from_ref, r.strength from ${db.schema}.relation r where r.to_ref = m.ref
      ) x
      where m.id = ${uuidOf(id)}::uuid and ${belongsTo(db, scope, "m")}
      group by x.ref
    )
    select ${memoryJson(db)} as memory, l.strength
    from linked l join ${db.schema}.memory m on m.ref = l.ref
    where m.state = 'active' and ${unexpired(db)} and (${appId} = '' or m.app_id in ('', ${appId}))
    order by l.strength desc, m.ref desc limit ${mostLinks}`);
  return rows.map(({ memory, strength }) => ({ memory: memoryOf(memory), strength }));
}
