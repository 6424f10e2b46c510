import sql, { empty, type Sql } from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import { fields, names, type RowOf, recordset, without } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import { lexemes } from "../../postgres/lexemes.js";
import type { OwnerRef } from "../../scope/scope.js";
import { isSourceThread, ofSource } from "../../scope/scope-predicates.js";
import { memoryColumns } from "../item/memory-fields.js";
import { addedSources } from "../item/source-rows.js";

export interface MemoryLink {
  /** Null for a memory of the same insert. */
  readonly ref: number | null;
  readonly id: string;
  readonly strength: number;
}

const newColumns = without(
  memoryColumns,
  ...(["assertedAt", "accessCount", "lastAccessedAt", "purgeAt"] as const),
  ...(["createdAt", "updatedAt", "revision"] as const),
);

export interface NewMemory extends RowOf<typeof newColumns> {
  /** Text prepared by `searchText`. */
  readonly terms: string;
  /** In pgvector's text form; null without embeddings. */
  readonly vector: string | null;
  readonly links: readonly MemoryLink[];
}

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

/** Source columns of a new memory, from the thread `t`: see `ofSource`. */
export function sourceOf(userId: string | Sql, seqs: Sql, evidence: Sql) {
  return {
    threadId: sql`t.id`,
    sourceSeqs: sql`coalesce(${ofSource(seqs, userId)}, '{}')`,
    evidence: ofSource(evidence, userId),
  };
}

/** Adds the CTEs `added` and `term` to the owner's counts. */
export function countAdded({ schema }: Connection, ownerRef: OwnerRef): Sql {
  return sql`update ${schema}.owner o
    set memory_count = o.memory_count + (select count(*) from added where state = 'active'),
      memory_length = o.memory_length
        + coalesce((select sum(length) from (select max(length) as length from term group by memory_ref) d), 0)
    where o.id = ${ownerRef}`;
}

function embeddingRows(tx: Connection, ownerRef: OwnerRef, space: EmbeddingSpace): Sql {
  return sql`vector as (
    insert into ${tx.schema}.memory_embedding (space_ref, memory_ref, owner_ref, embedding, active)
    select ${space.ref}, added.ref, ${ownerRef}, i.embedding, added.state = 'active'
    from added join input i on i.id = added.id where i.embedding is not null
  ),`;
}

/** CTE `word` (id, lexeme, frequency, length) of `input` (id, terms). */
export function wordRows(db: Connection): Sql {
  return sql`word as materialized (
      select i.id, w.lexeme, w.frequency, sum(w.frequency) over (partition by i.id) as length
      from input i cross join lateral ${lexemes(db, sql`i.terms`)} w
    )`;
}

/**
 * CTE `term` (memory_ref, length): the index of active memories in `added` (ref, id, state), by
 * `word`.
 */
export function termRows({ schema }: Connection, ownerRef: OwnerRef): Sql {
  return sql`
    term as (
      insert into ${schema}.memory_term (owner_ref, lexeme, memory_ref, frequency, length)
      select ${ownerRef}, word.lexeme, added.ref, word.frequency, word.length
      from added join word on word.id = added.id
      where added.state = 'active'
      returning memory_ref, length
    )`;
}
