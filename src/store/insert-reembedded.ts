import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { EmbeddingSpace } from "./embedding-space.js";
import type { ReembedWork } from "./find-reembed-work.js";

/**
 * Stores vectors of memories that still say what was embedded, and returns how many. One statement.
 *
 * A memory that is being changed is passed over rather than waited for: a writer that holds several memories must
 * never wait for this one while this one waits for it.
 */
export async function insertReembedded(
  db: Connection,
  {
    space,
    vectors,
  }: { space: EmbeddingSpace; vectors: readonly (ReembedWork & { readonly vector: string })[] },
): Promise<number> {
  const rows = await db.query(sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(vectors)}::json) as i (ref bigint, text text, vector text)
    ),
    unchanged as (
      select m.ref, m.owner_ref, i.vector
      from input i join ${db.schema}.memory m on m.ref = i.ref and m.content = i.text
      where m.state = 'active'
      for share of m skip locked
    )
    insert into ${db.schema}.memory_embedding as e (space_ref, memory_ref, owner_ref, embedding)
    select ${space.ref}, ref, owner_ref, vector::${space.type} from unchanged
    on conflict (space_ref, memory_ref) do update set embedding = excluded.embedding, active = true
      where not e.active
    returning memory_ref`);
  return rows.length;
}
