import sql from "sql-template-tag";
import { termRows } from "../memories/write/insert-memories.js";
import type { Connection } from "../postgres/connection.js";
import { isId, isSourceThread, ofSource, type ScopeColumns } from "../scope/scope-predicates.js";
import type { ExportLineOf } from "./export-line.js";

/** A memory to import, with what its index is made from. */
export interface ImportedMemory extends Omit<ExportLineOf<"memory">, "type" | "appId"> {
  readonly appId: string;
  readonly contentHash: string;
  /** Text and actor's name, prepared for `to_tsvector`. */
  readonly terms: string;
  readonly actorTerms: string;
}

/** Which of `ids` are memories already: true for those of this owner, false for those of others. */
export async function findKnownMemories(
  tx: Connection,
  { ownerRef, ids }: { ownerRef: number; ids: readonly string[] },
): Promise<Map<string, boolean>> {
  const rows = await tx.query<{ id: string; own: boolean }>(sql`
    select m.id, m.owner_ref = ${ownerRef} as own from ${tx.schema}.memory m where m.id = any (${ids}::uuid[])`);
  return new Map(rows.map(({ id, own }) => [id, own]));
}

/**
 * Adds memories to a locked owner with their terms, and counts them. Returns the ids of those added. One statement.
 *
 * What holds a slot, says the same, or tells of the same turns already stays active: what comes for its place is added
 * as superseded by it, and held until then at most. Nothing ends before it begins. Of two of `memories` that would collide one is added: try the others again.
 */
export async function importMemories(
  tx: Connection,
  input: { scope: ScopeColumns; ownerRef: number; memories: readonly ImportedMemory[] },
): Promise<string[]> {
  const { scope, ownerRef, memories } = input;
  const { schema } = tx;
  const rows = await tx.query<{ id: string }>(sql`
    with input as (
      select i.*, t.id as thread_ref, ${ofSource(sql`i."sourceSeqs"`, scope.userId)} as source_seqs,
        ${ofSource(sql`i.evidence`, scope.userId)} as quote
      from (select row_number() over () as position, m.* from json_to_recordset(${JSON.stringify(memories)}::json) as m (
        id uuid, "appId" text, kind text, category text, key text, value text, text text, "contentHash" text,
        importance real, confidence real, pinned boolean, state text, origin text, trust text, tags json,
        "agentId" text, "runId" text, "actorId" text, role text, "threadId" text, "sourceSeqs" json, evidence text,
        "turnStart" integer, "turnEnd" integer, "assertedTurn" bigint, "validFrom" timestamptz,
        "validTo" timestamptz, "assertedAt" timestamptz, "supersededBy" uuid, "seenCount" integer, "accessCount" integer,
        "lastAccessedAt" timestamptz, "purgeAt" timestamptz, "createdAt" timestamptz, "updatedAt" timestamptz,
        terms text, "actorTerms" text
      )) i
      left join lateral (
        select id from ${schema}.thread t
        where ${isSourceThread({ ...scope, appId: sql`i."appId"` }, sql`i."threadId"`)} limit 1
      ) t on true
    ),
    placed as (
      select i.*, holder.id as holder,
        case when holder.id is null then i.state when i.state = 'quarantined' then 'merged' else 'superseded' end
          as new_state
      from input i
      left join lateral (
        -- One look into one index each; joined by "or" they would read all of the owner's memories.
        (select m.id from ${schema}.memory m
        where i.state = 'active' and m.state = 'active' and m.owner_ref = ${ownerRef}
          and ${isId(sql`m.app_id`, sql`i."appId"`)} and m.kind = i.kind and m.content_hash = i."contentHash" limit 1)
        union all
        (select m.id from ${schema}.memory m
        where i.state = 'active' and m.state = 'active' and m.key is not null and m.owner_ref = ${ownerRef}
          and ${isId(sql`m.app_id`, sql`i."appId"`)} and m.category = i.category and m.key = i.key limit 1)
        union all
        (select m.id from ${schema}.memory m
        where i.state = 'active' and i.kind = 'episode' and m.state = 'active' and m.kind = 'episode'
          and m.thread_ref = i.thread_ref and m.turn_start = i."turnStart" limit 1)
        union all
        (select m.id from ${schema}.memory m
        where i.state = 'quarantined' and m.state = 'quarantined' and m.owner_ref = ${ownerRef}
          and ${isId(sql`m.app_id`, sql`i."appId"`)} and m.kind = i.kind and m.content_hash = i."contentHash" limit 1)
        limit 1
      ) holder on true
    ),
    added as (
      insert into ${schema}.memory (
        id, owner_ref, tenant_id, user_id, app_id, kind, category, key, value, content, content_hash, importance,
        confidence, pinned, state, origin, trust, tags, agent_id, run_id, actor_id, role, thread_ref, source_seqs,
        evidence, turn_start, turn_end, asserted_turn, valid_from, valid_to, asserted_at, superseded_by, seen_count, access_count,
        last_accessed_at, purge_at, created_at, updated_at
      )
      select id, ${ownerRef}, ${scope.tenantId}, ${scope.userId}, "appId", kind, category, key, value, text,
        "contentHash", importance, confidence, pinned, new_state, origin, trust,
        array(select json_array_elements_text(tags)), "agentId", "runId", "actorId", role, thread_ref,
        array(select json_array_elements_text(source_seqs)::integer), quote, "turnStart", "turnEnd",
        "assertedTurn", "validFrom",
        case when new_state = 'active' then null when holder is null then "validTo" else greatest("validFrom", coalesce("validTo", ${tx.now()})) end,
        "assertedAt",
        coalesce("supersededBy", holder), "seenCount", "accessCount", "lastAccessedAt", "purgeAt", "createdAt",
        "updatedAt"
      from placed order by position
      on conflict do nothing
      returning ref, id, state
    ),
    ${termRows(tx, ownerRef)},
    counted as (
      update ${schema}.owner o
      set memory_count = o.memory_count + (select count(*) from added where state = 'active'),
        memory_length = o.memory_length
          + coalesce((select sum(length) from (select max(length) as length from term group by memory_ref) d), 0)
      where o.id = ${ownerRef}
    )
    select id from added`);
  return rows.map(({ id }) => id);
}
