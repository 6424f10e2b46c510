import sql, { empty, type Sql } from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import { fields, names, recordset } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { isSourceThread } from "../../scope/scope-predicates.js";
import { countAdded, sourceOf, termRows, wordRows } from "../item/index-rows.js";
import { addedSources } from "../item/source-rows.js";
import { type NewMemory, newColumns } from "./change-set.js";

/** Inserts memories with terms, vectors and links, and updates the owner's counts. */
export async function insertMemories(
  tx: Connection,
  input: { ownerRef: OwnerRef; memories: readonly NewMemory[]; space: EmbeddingSpace | null },
): Promise<void> {
  const { schema } = tx;
  const { ownerRef, memories, space } = input;
  if (memories.length === 0) return;
  const rows = memories.map(({ vector: _, ...row }, place) => ({ ...row, place }));
  const vectors = memories.map(({ vector }) => vector);
  const embedding = space ? sql`((${vectors}::text[])[i.place + 1])::${space.type}` : sql`null`;
  const owner = { tenantId: sql`i."tenantId"`, userId: sql`i."userId"`, appId: sql`i."appId"` };
  const source = sourceOf(owner.userId, sql`i."sourceSeqs"`, sql`i.evidence`);
  await tx.query(
    sql`
    with input as materialized (
      select i.*, ${embedding} as embedding from json_to_recordset(${JSON.stringify(rows)}::json) as i (
        ${recordset(newColumns)}, terms text, links json, place integer
      )
    ),
    source as (
      select i.place, t.id from input i cross join lateral (
        select id from ${schema}.thread t where ${isSourceThread(owner, sql`i."threadId"`)} limit 1
      ) t
    ),
    added as (
      insert into ${schema}.memory (owner_ref, last_accessed_at, created_at, updated_at, ${names(newColumns)})
      select ${ownerRef}, ${tx.now()}, ${tx.now()}, ${tx.now()}, ${fields(newColumns, source)}
      from input i
      left join source t on t.place = i.place
      order by i.place
      returning ref, id, state, thread_ref, source_seqs
    ),
    ${addedSources(tx, "added")},
    ${wordRows(tx)},
    ${termRows(tx, ownerRef)},
    ${space ? embeddingRows(tx, ownerRef, space) : empty}
    link as (
      insert into ${schema}.relation (from_ref, to_ref, strength)
      select added.ref, coalesce(l.ref, mate.ref), l.strength
      from added join input i on i.id = added.id
      cross join lateral json_to_recordset(i.links) as l (ref bigint, id uuid, strength real)
      left join added mate on l.ref is null and mate.id = l.id and mate.state = 'active'
      where added.state = 'active' and coalesce(l.ref, mate.ref) <> added.ref
      on conflict do nothing
    )
    ${countAdded(tx, ownerRef)}`,
    { prepare: true },
  );
}

function embeddingRows(tx: Connection, ownerRef: OwnerRef, space: EmbeddingSpace): Sql {
  return sql`vector as (
    insert into ${tx.schema}.memory_embedding (space_ref, memory_ref, owner_ref, embedding, active)
    select ${space.ref}, added.ref, ${ownerRef}, i.embedding, added.state = 'active'
    from added join input i on i.id = added.id where i.embedding is not null
  ),`;
}
