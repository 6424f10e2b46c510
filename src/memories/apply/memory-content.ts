import sql, { empty, type Sql } from "sql-template-tag";
import { type EmbeddingSpace, hasVectors } from "../../models/embedding-space.js";
import { assignments, fields, names, recordset } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import { lexemes } from "../../postgres/lexemes.js";
import type { OwnerRef } from "../../scope/scope.js";
import { isSourceThread } from "../../scope/scope-predicates.js";
import {
  addedSources,
  changedSources,
  countAdded,
  sourceOf,
  termRows,
  wordRows,
} from "../item/index-rows.js";
import { type MemoryRewrite, type NewMemory, newColumns, rewrittenColumns } from "./change-set.js";

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

type Rewriting = { ownerRef: OwnerRef; rewrite: MemoryRewrite; space: EmbeddingSpace | null };

/** Gives a memory of a locked owner new content, and updates its indexes. */
export async function rewriteMemory(tx: Connection, input: Rewriting): Promise<void> {
  const { ownerRef, rewrite } = input;
  const { source } = rewrite;
  const { schema } = tx;
  const vectors = await storeVectors(tx, input);
  await tx.query(sql`
    with target as (
      select m.ref, m.state, m.content, (
        select t.id from ${schema}.thread t
        where ${isSourceThread({ tenantId: sql`m.tenant_id`, userId: sql`m.user_id`, appId: sql`m.app_id` }, source?.threadId ?? null)}
      ) as source_ref
      from ${schema}.memory m where m.id = ${rewrite.id} and m.owner_ref = ${ownerRef}
    ),
    rewritten as (
      update ${schema}.memory m
      set ${assignments(rewrittenColumns, rewrite)},
        origin = coalesce(${rewrite.origin ?? null}::text, m.origin),
        trust = coalesce(${rewrite.trust ?? null}::text, m.trust),
        thread_ref = coalesce(target.source_ref, m.thread_ref),
        source_seqs = case when target.source_ref is null then m.source_seqs else ${source?.seqs ?? null}::integer[] end,
        evidence = case when target.source_ref is null then m.evidence else ${source?.quote ?? null}::text end,
        valid_from = coalesce(${rewrite.heldSince ?? null}::timestamptz, m.valid_from),
        valid_to = null, superseded_by = null, purge_at = null,
        last_accessed_at = ${tx.now()}, updated_at = ${tx.now()}
      from target where m.ref = target.ref
      returning m.ref, m.thread_ref, m.source_seqs
    ),
    ${changedSources(tx, "rewritten")},
    ${vectors}
    ${linkRows(tx, rewrite)}
    term as (
      select w.lexeme, w.frequency, sum(w.frequency) over () as length
      from ${lexemes(tx, rewrite.terms)} w
    ),
    stale as materialized (
      select coalesce(max(t.length), 0) as length
      from target join ${schema}.memory_term t on t.memory_ref = target.ref
    ),
    dropped as (
      delete from ${schema}.memory_term t using target
      where t.memory_ref = target.ref and t.lexeme not in (select lexeme from term)
    ),
    indexed as (
      insert into ${schema}.memory_term (owner_ref, lexeme, memory_ref, frequency, length)
      select ${ownerRef}, term.lexeme, rewritten.ref, term.frequency, term.length from rewritten, term
      on conflict (owner_ref, lexeme, memory_ref)
        do update set frequency = excluded.frequency, length = excluded.length
    )
    update ${schema}.owner o
    set memory_count = o.memory_count + (select count(*) from target where state <> 'active'),
      memory_length = o.memory_length + (select coalesce(max(length), 0) from term) - (select length from stale)
    where o.id = ${ownerRef}`);
}

function linkRows({ schema }: Connection, { links, text }: MemoryRewrite): Sql {
  if (links === null) return empty;
  return sql`link as (
    select coalesce(l.ref, (select ref from ${schema}.memory where id = l.id)) as ref, l.strength
    from json_to_recordset(${JSON.stringify(links)}::json) as l (ref bigint, id uuid, strength real)
  ),
  unlinked as (
    delete from ${schema}.relation r using target
    where r.from_ref = target.ref and r.relation_type = 'related_to' and r.to_ref not in (select ref from link)
  ),
  unlinked_to as (
    delete from ${schema}.relation r using target
    where r.to_ref = target.ref and r.relation_type = 'related_to' and target.content <> ${text}
  ),
  linked as (
    insert into ${schema}.relation (from_ref, to_ref, strength)
    select rewritten.ref, link.ref, link.strength from rewritten, link where link.ref <> rewritten.ref
    on conflict (from_ref, to_ref, relation_type) do update set strength = excluded.strength
  ),`;
}

/** Replaces or deletes vectors of the old text. */
async function storeVectors(tx: Connection, { ownerRef, rewrite, space }: Rewriting): Promise<Sql> {
  const { schema } = tx;
  if (space && rewrite.vector !== null) {
    return sql`vector as (
      insert into ${schema}.memory_embedding (space_ref, memory_ref, owner_ref, embedding)
      select ${space.ref}, ref, ${ownerRef}, ${rewrite.vector}::${space.type} from rewritten
      on conflict (space_ref, memory_ref) do update set embedding = excluded.embedding, active = true
    ),
    outdated as (
      delete from ${schema}.memory_embedding e using target
      where e.memory_ref = target.ref and e.space_ref <> ${space.ref} and target.content <> ${rewrite.text}
    ),`;
  }
  if (!(await hasVectors(tx))) return empty;
  return sql`outdated as (
    delete from ${schema}.memory_embedding e using target
    where e.memory_ref = target.ref and target.content <> ${rewrite.text}
  ),
  kept as (
    update ${schema}.memory_embedding e set active = ${rewrite.state} = 'active' from target
    where e.memory_ref = target.ref and target.content = ${rewrite.text}
  ),`;
}
