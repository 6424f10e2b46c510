import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { changedSources } from "../item/source-rows.js";
import { evidenceLink, type JoinedMemory, type StoredLink } from "./change-set.js";

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
