import sql, { empty, type Sql } from "sql-template-tag";
import { hasVectors } from "../../models/embedding-space.js";
import { names, values, without } from "../../postgres/columns.js";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { wordlessLine } from "../audit/memory-change.js";
import { addedSources, changedSources } from "../item/index-rows.js";
import { memoryColumns } from "../item/memory-fields.js";
import {
  type Changer,
  type Deactivation,
  evidenceLink,
  type JoinedMemory,
  type MessagesOfThread,
  type MovedInterval,
  type Sighting,
  type SplitInterval,
  type StoredLink,
} from "./change-set.js";

/** Removes memories from every search; also hides closed ones, which history shows. */
export async function deactivateMemories(
  tx: Connection,
  by: Changer,
  deactivated: readonly Deactivation[] = [],
): Promise<void> {
  if (deactivated.length === 0) return;
  const vectors = by.space || (await hasVectors(tx));
  await tx.query(
    sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(deactivated)}::json) as i (
        id uuid, state text, "supersededBy" uuid, "validTo" timestamptz, "purgeAfterMs" float8
      )
    ),
    ${ownTargets(tx, by.ownerRef, sql`and (state = 'active' or (state = 'superseded' and i.state = 'soft_deleted'))`)},
    closed as (
      update ${tx.schema}.memory m
      set state = i.state, superseded_by = i."supersededBy", valid_to = greatest(i."validTo", case when i."validTo" is not null then m.valid_from end),
        purge_at = ${tx.now()} + i."purgeAfterMs" * interval '1 millisecond', doubted_at = null, updated_at = ${tx.now()}
      from target i where m.ref = i.ref
      returning m.ref, i.was
    ),
    ${vectors ? sql`vector as (update ${tx.schema}.memory_embedding e set active = false from closed where e.memory_ref = closed.ref),` : empty}
    term as (
      delete from ${tx.schema}.memory_term t using closed where t.memory_ref = closed.ref
      returning t.memory_ref, t.length
    )
    update ${tx.schema}.owner o
    set memory_count = o.memory_count - (select count(*) from closed where was = 'active'),
      memory_length = o.memory_length
        - coalesce((select sum(length) from (select max(length) as length from term group by memory_ref) d), 0)
    where o.id = ${by.ownerRef}`,
    { prepare: true },
  );
}

/** Stores memories as their last sighting leaves them; stored times are more precise. */
export async function touchMemories(
  tx: Connection,
  ownerRef: OwnerRef,
  sightings: readonly Sighting[] = [],
): Promise<void> {
  if (sightings.length === 0) return;
  const last = new Map(sightings.map((sighting) => [sighting.id, sighting]));
  await tx.query(
    sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify([...last.values()])}::json) as i (
        id uuid, "seenCount" integer, confidence real, importance real, turn bigint, "assertedAt" timestamptz,
        origin text, trust text, metadata jsonb, "expiresAt" timestamptz
      )
    ),
    ${ownTargets(tx, ownerRef)}
    update ${tx.schema}.memory m
    set seen_count = i."seenCount", confidence = i.confidence, importance = i.importance,
      asserted_turn = greatest(m.asserted_turn, i.turn),
      asserted_at = greatest(m.asserted_at, m.valid_from, i."assertedAt"),
      origin = i.origin, trust = i.trust, metadata = i.metadata, expires_at = i."expiresAt",
      last_accessed_at = ${tx.now()}, updated_at = ${tx.now()}
    from target i where m.ref = i.ref`,
    { prepare: true },
  );
}

/**
 * Deletes inactive memories of a locked owner, and their text in the change log. The audit trail
 * stays.
 */
export async function purgeMemories(
  tx: Connection,
  ownerRef: OwnerRef,
  ids: readonly string[] = [],
): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(sql`
    with purged as (
      delete from ${tx.schema}.memory m
      where m.owner_ref = ${ownerRef} and m.id = any (${ids}::uuid[]) and m.state <> 'active'
      returning m.id
    )
    update ${tx.schema}.change_log c set line = ${wordlessLine}
    from purged p where c.memory_id = p.id and c.owner_ref = ${ownerRef}`);
}

/**
 * CTE `target`: the rows of the CTE `input` (id, …) that are memories of the owner and meet
 * `condition`, with their `ref`.
 */
function ownTargets({ schema }: Connection, ownerRef: OwnerRef, condition: Sql = empty): Sql {
  return sql`target as materialized (
    -- One lookup each: a join would read all of the owner's memories.
    select m.ref, m.state as was, i.* from input i cross join lateral (
      select ref, state from ${schema}.memory where id = i.id and owner_ref = ${ownerRef} ${condition} limit 1
    ) m
  )`;
}

/** Changes what is given of each interval; the rest stays. */
export async function moveIntervals(
  tx: Connection,
  ownerRef: OwnerRef,
  moves: readonly MovedInterval[] = [],
): Promise<void> {
  if (moves.length === 0) return;
  await tx.query(sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(moves)}::json) as i (
        id uuid, "validFrom" timestamptz, "validTo" timestamptz, "supersededBy" uuid
      )
    ),
    ${ownTargets(tx, ownerRef)}
    update ${tx.schema}.memory m
    set asserted_at = coalesce(m.asserted_at, m.valid_from),
      valid_from = coalesce(i."validFrom", m.valid_from),
      valid_to = coalesce(i."validTo", m.valid_to),
      superseded_by = coalesce(i."supersededBy", m.superseded_by),
      updated_at = ${tx.now()}
    from target i where m.ref = i.ref`);
}

const copiedColumns = without(
  memoryColumns,
  "seenCount",
  "accessCount",
  "assertedAt",
  "purgeAt",
  "doubtedAt",
  "revision",
);

/**
 * Splits each value: a closed copy ends at `until`, and the memory itself starts `from` its next
 * sighting.
 */
export async function splitIntervals(
  tx: Connection,
  ownerRef: OwnerRef,
  splits: readonly SplitInterval[] = [],
): Promise<void> {
  for (const { id, copyId, until, from, supersededBy } of splits) {
    const closed = {
      id: sql`${copyId}`,
      state: sql`'superseded'`,
      validTo: sql`${until.toISOString()}`,
      supersededBy: sql`${supersededBy}`,
      lastAccessedAt: tx.now(),
      createdAt: tx.now(),
      updatedAt: tx.now(),
    };
    await tx.query(sql`
      with whole as materialized (
        select * from ${tx.schema}.memory where id = ${id} and owner_ref = ${ownerRef}
      ),
      earlier as (
        insert into ${tx.schema}.memory (owner_ref, ${names(copiedColumns)})
        select w.owner_ref, ${values(copiedColumns, "w", closed)} from whole w
        returning ref, thread_ref, source_seqs
      ),
      ${addedSources(tx, "earlier")}
      update ${tx.schema}.memory m
      set valid_from = ${from.toISOString()}, asserted_at = coalesce(m.asserted_at, m.valid_from), updated_at = ${tx.now()}
      from whole where m.ref = whole.ref`);
  }
}

/** Gives memories what those merged into them had. */
export async function joinMemories(
  tx: Connection,
  ownerRef: OwnerRef,
  joined: readonly JoinedMemory[] = [],
): Promise<void> {
  if (joined.length === 0) return;
  const { schema } = tx;
  await tx.query(sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(joined)}::json) as i (
        id uuid, gone uuid[], pinned boolean, tags text[], "sourceOf" uuid, seqs integer[]
      )
    ),
    joined as (
      update ${schema}.memory m
      set pinned = i.pinned, tags = i.tags, thread_ref = s.thread_ref, evidence = s.evidence,
        source_seqs = case when s.thread_ref is null then m.source_seqs else i.seqs end,
        access_count = m.access_count + coalesce(g.used, 0)
      from input i
      cross join lateral (
        select thread_ref, evidence from ${schema}.memory where id = coalesce(i."sourceOf", i.id) limit 1
      ) s
      cross join lateral (
        select sum(access_count)::integer as used from ${schema}.memory where id = any (i.gone)
      ) g
      where m.id = i.id and m.owner_ref = ${ownerRef}
      returning m.ref, m.thread_ref, m.source_seqs
    ),
    ${changedSources(tx, "joined")}
    select from joined`);
}

export async function linkMemories(
  tx: Connection,
  links: readonly StoredLink[] = [],
): Promise<void> {
  if (links.length === 0) return;
  const { schema } = tx;
  await tx.query(sql`
    with input as materialized (
      select "from", "to", strength, coalesce(type, 'related_to') as type
      from json_to_recordset(${JSON.stringify(links)}::json) as i ("from" bigint, "to" bigint, strength real, type text)
    ),
    replaced as (
      delete from ${schema}.relation r using input i
      where r.from_ref = i."from" and r.to_ref = i."to" and i.type = ${evidenceLink} and r.relation_type <> i.type
    ),
    added as (
      insert into ${schema}.relation (from_ref, to_ref, relation_type, strength)
      select distinct "from", "to", type, strength from input
      on conflict do nothing
    )
    select 1 as done`);
}

/**
 * Takes messages from the sources of memories that also rest on others, with a quote that none of
 * those contains.
 */
export async function partSources(
  tx: Connection,
  { ownerRef }: Changer,
  parted: readonly MessagesOfThread[] = [],
): Promise<void> {
  const { schema } = tx;
  for (const { threadRef, seqs } of parted) {
    await tx.query(sql`
    with shared as (
      select distinct s.memory_ref as ref from ${schema}.memory_source s
      where s.thread_ref = ${threadRef} and s.seq = any (${seqs}::integer[]) and exists (
        select from ${schema}.memory_source o
        where o.memory_ref = s.memory_ref and o.thread_ref = ${threadRef} and o.seq <> all (${seqs}::integer[])
      )
    ),
    parted as (
      update ${schema}.memory m set
        source_seqs = array(select c.seq from unnest(m.source_seqs) c (seq) where c.seq <> all (${seqs}::integer[]) order by 1),
        evidence = case when exists (
          select from ${schema}.message o
          where o.thread_ref = m.thread_ref and o.seq = any (m.source_seqs) and o.seq <> all (${seqs}::integer[])
            and strpos(o.content, m.evidence) > 0
        ) then m.evidence end
      from shared where m.ref = shared.ref and m.owner_ref = ${ownerRef} and m.thread_ref = ${threadRef}
        and m.kind not in ('episode', 'note')
      returning m.ref, m.id, m.evidence
    ),
    -- What is recorded of them, too: a quote only if it is still theirs.
    recorded as (
      update ${schema}.history h
      set snapshot = (h.snapshot - case when h.snapshot ->> 'evidence' = p.evidence then '' else 'evidence' end)
        || jsonb_build_object('sourceSeqs', ${otherSeqs(sql`h.snapshot`, seqs)})
      from parted p
      where h.memory_id = p.id and h.owner_ref = ${ownerRef} and h.snapshot ->> 'threadId' = ${String(threadRef)}
    )
    delete from ${schema}.memory_source s using parted p
    where s.memory_ref = p.ref and s.thread_ref = ${threadRef} and s.seq = any (${seqs}::integer[])`);
  }
}

/** The source messages of a snapshot, without `seqs`. */
const otherSeqs = (snapshot: Sql, seqs: readonly number[]): Sql => sql`(
        select coalesce(jsonb_agg(c.seq order by c.place), '[]')
        from jsonb_array_elements(${snapshot} -> 'sourceSeqs') with ordinality c (seq, place)
        where c.seq <> all (array(select to_jsonb(s) from unnest(${seqs}::integer[]) s))
      )`;
