import sql, { empty, type Sql } from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import { isSourceThread, ofSource } from "../../scope/scope-predicates.js";
import type { MemoryKind, MemoryLifecycle } from "../item/memory.js";
import type { MemoryOrigin, MemoryTrust } from "../item/trust.js";

/**
 * CTEs `term` (memory_ref, length) and `actor_term`, which index the active memories of the CTE `added` (ref, id, state)
 * by the words of `input` (id, terms, "actorTerms").
 */
export function termRows(db: Connection, ownerRef: number): Sql {
  const { schema } = db;
  return sql`
    term as (
      insert into ${schema}.memory_term (owner_ref, lexeme, memory_ref, frequency, length)
      select ${ownerRef}, v.lexeme, added.ref, least(coalesce(cardinality(v.positions), 1), 32767),
        sum(coalesce(cardinality(v.positions), 1)) over (partition by added.ref)
      from added join input i on i.id = added.id
      cross join lateral unnest(to_tsvector(${db.language}::regconfig, i.terms)) v
      where added.state = 'active'
      returning memory_ref, length
    ),
    actor_term as (
      insert into ${schema}.memory_term (owner_ref, lexeme, memory_ref, frequency, length)
      select distinct ${ownerRef}::bigint, '@' || word, added.ref, 1, 1
      from added join input i on i.id = added.id
      cross join lateral regexp_split_to_table(i."actorTerms", '\\s+') word
      where added.state = 'active' and word <> ''
    )`;
}

/** A link to another memory of the owner, as strong as the two are similar. */
export interface MemoryLink {
  readonly ref: number;
  readonly strength: number;
}

/** A row of `memory` to insert, with what belongs to it. */
export interface NewMemory {
  readonly id: string;
  readonly tenantId: string;
  readonly userId: string;
  readonly appId: string;
  readonly kind: MemoryKind;
  readonly category: string;
  readonly key: string | null;
  readonly value: string | null;
  readonly text: string;
  readonly contentHash: string;
  readonly importance: number;
  readonly confidence: number;
  readonly pinned: boolean;
  readonly state: MemoryLifecycle;
  readonly tags: readonly string[];
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly actorId: string | null;
  /** The actor's name prepared for `to_tsvector`. */
  readonly actorTerms: string;
  readonly role: string | null;
  readonly origin: MemoryOrigin;
  readonly trust: MemoryTrust;
  /** The source thread's own id. */
  readonly threadId: string | null;
  readonly sourceSeqs: readonly number[];
  readonly evidence: string | null;
  readonly turnStart: number | null;
  readonly turnEnd: number | null;
  readonly assertedTurn: number;
  readonly seenCount: number;
  readonly validFrom: string | null;
  readonly validTo: string | null;
  readonly supersededBy: string | null;
  /** Text prepared for `to_tsvector`. */
  readonly terms: string;
  /** The vector as text; null without embeddings. */
  readonly vector: string | null;
  /** Memories to link to. */
  readonly links: readonly MemoryLink[];
}

/** Inserts memories with their terms, vectors and links, and counts them. One statement. */
export async function insertMemories(
  tx: Connection,
  input: { ownerRef: number; memories: readonly NewMemory[]; space: EmbeddingSpace | null },
): Promise<void> {
  const { ownerRef, memories, space } = input;
  if (memories.length === 0) return;
  await tx.query(
    sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(memories)}::json) as i (
        id uuid, "tenantId" text, "userId" text, "appId" text, kind text, category text, key text, value text,
        text text, "contentHash" text, importance real, confidence real, pinned boolean, state text, tags json,
        "agentId" text, "runId" text, "actorId" text, role text, origin text, trust text, "threadId" text, "sourceSeqs" json,
        "actorTerms" text, evidence text, "turnStart" integer, "turnEnd" integer, "assertedTurn" bigint, "seenCount" integer,
        "validFrom" timestamptz, "validTo" timestamptz, "supersededBy" uuid, terms text, vector text, links json
      )
    ),
    added as (
      insert into ${tx.schema}.memory (
        id, owner_ref, tenant_id, user_id, app_id, kind, category, key, value, content, content_hash,
        importance, confidence, pinned, state, tags, agent_id, run_id, actor_id, role, origin, trust, thread_ref, source_seqs,
        evidence, turn_start, turn_end, asserted_turn, seen_count, valid_from, valid_to, superseded_by,
        last_accessed_at, created_at, updated_at
      )
      select i.id, ${ownerRef}, i."tenantId", i."userId", i."appId", i.kind, i.category, i.key, i.value, i.text,
        i."contentHash", i.importance, i.confidence, i.pinned, i.state,
        array(select json_array_elements_text(i.tags)), i."agentId", i."runId", i."actorId", i.role, i.origin, i.trust, t.id,
        array(select json_array_elements_text(${ofSource(sql`i."sourceSeqs"`, sql`i."userId"`)})::integer),
        ${ofSource(sql`i.evidence`, sql`i."userId"`)}, i."turnStart", i."turnEnd",
        i."assertedTurn", i."seenCount", coalesce(i."validFrom", ${tx.now()}), i."validTo", i."supersededBy",
        ${tx.now()}, ${tx.now()}, ${tx.now()}
      from input i
      left join lateral (
        select id from ${tx.schema}.thread t
        where ${isSourceThread({ tenantId: sql`i."tenantId"`, userId: sql`i."userId"`, appId: sql`i."appId"` }, sql`i."threadId"`)}
        limit 1
      ) t on true
      returning ref, id, state
    ),
    ${termRows(tx, ownerRef)},
    ${space ? embeddingRows(tx, ownerRef, space) : empty}
    link as (
      insert into ${tx.schema}.relation (from_ref, to_ref, strength)
      select added.ref, l.ref, l.strength
      from added join input i on i.id = added.id
      cross join lateral json_to_recordset(i.links) as l (ref bigint, strength real)
      where added.state = 'active' and l.ref <> added.ref
      on conflict do nothing
    )
    update ${tx.schema}.owner o
    set memory_count = o.memory_count + (select count(*) from added where state = 'active'),
      memory_length = o.memory_length
        + coalesce((select sum(length) from (select max(length) as length from term group by memory_ref) d), 0)
    where o.id = ${ownerRef}`,
    { prepare: true },
  );
}

function embeddingRows(tx: Connection, ownerRef: number, space: EmbeddingSpace): Sql {
  return sql`vector as (
    insert into ${tx.schema}.memory_embedding (space_ref, memory_ref, owner_ref, embedding, active)
    select ${space.ref}, added.ref, ${ownerRef}, i.vector::${space.type}, added.state = 'active'
    from added join input i on i.id = added.id where i.vector is not null
  ),`;
}
