import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { EmbeddingSpace } from "./embedding-space.js";

/** An active memory without a vector in a space. */
export interface ReembedWork {
  /** A bigint, as text. */
  readonly ref: string;
  readonly text: string;
}

/** Up to `limit` active memories after `after` that lack a vector in `space`, by `ref`. */
export async function findReembedWork(
  db: Connection,
  { space, after, limit }: { space: EmbeddingSpace; after: string; limit: number },
): Promise<ReembedWork[]> {
  return db.query<ReembedWork>(sql`
    select m.ref::text as ref, m.content as text
    from ${db.schema}.memory m ${lacking(db, space)} and m.ref > ${after}::bigint
    order by m.ref limit ${limit}`);
}

/** How many active memories lack a vector in `space`. */
export async function countReembedWork(db: Connection, space: EmbeddingSpace): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*)::int as count from ${db.schema}.memory m ${lacking(db, space)}`);
  return row?.count ?? 0;
}

/** A vector that is not active is of a memory that was hidden and came back without embeddings. */
function lacking(db: Connection, space: EmbeddingSpace): Sql {
  return sql`
    left join ${db.schema}.memory_embedding e
      on e.space_ref = ${space.ref} and e.memory_ref = m.ref and e.active
    where m.state = 'active' and e.memory_ref is null`;
}
