import sql from "sql-template-tag";
import { changedSources } from "../memories/item/source-rows.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import type { PairVerdict } from "./pair-votes.rule.js";

/** What a memory takes over from those merged into it. */
export interface JoinedMemory {
  readonly id: string;
  readonly gone: readonly string[];
  readonly pinned: boolean;
  readonly tags: readonly string[];
  /** Id of the memory whose source it takes over; null without sources. */
  readonly sourceOf: string | null;
  /** Source messages of all of them in that source's thread. */
  readonly seqs: readonly number[];
}

/** Requires the owner's lock. One statement. */
export async function joinMemories(
  tx: Connection,
  { ownerRef, joined }: { readonly ownerRef: OwnerRef; readonly joined: readonly JoinedMemory[] },
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

export interface MemoryPairLink {
  readonly from: number;
  readonly to: number;
  /** 0 to 1. */
  readonly strength: number;
}

/** The `pairs` with a link in either direction, as "from to". */
export async function findLinked(
  db: Connection,
  pairs: readonly Pick<MemoryPairLink, "from" | "to">[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ from: number; to: number }>(sql`
    select i."from", i."to" from json_to_recordset(${JSON.stringify(pairs)}::json) as i ("from" bigint, "to" bigint)
    where exists (
      select from ${db.schema}.relation r
      where (r.from_ref = i."from" and r.to_ref = i."to") or (r.from_ref = i."to" and r.to_ref = i."from")
    )`);
  return new Set(rows.map(({ from, to }) => `${from} ${to}`));
}

/** Requires the owner's lock. One statement. */
export async function linkPairs(tx: Connection, links: readonly MemoryPairLink[]): Promise<void> {
  if (links.length === 0) return;
  await tx.query(sql`
    insert into ${tx.schema}.relation (from_ref, to_ref, strength)
    select "from", "to", strength
    from json_to_recordset(${JSON.stringify(links)}::json) as i ("from" bigint, "to" bigint, strength real)
    on conflict do nothing`);
}

export async function findCompared(
  db: Connection,
  input: {
    readonly ownerRef: OwnerRef;
    readonly fingerprints: readonly string[];
    readonly withinMs: number;
  },
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ fingerprint: string }>(sql`
    select fingerprint from ${db.schema}.compared_pair
    where owner_ref = ${input.ownerRef} and fingerprint = any (${input.fingerprints}::text[])
      and compared_at > ${db.now()} - ${input.withinMs}::float8 * interval '1 millisecond'`);
  return new Set(rows.map(({ fingerprint }) => fingerprint));
}

export async function keepCompared(
  tx: Connection,
  input: { ownerRef: OwnerRef; pairs: readonly { fingerprint: string; verdict: PairVerdict }[] },
): Promise<void> {
  await tx.query(sql`
    insert into ${tx.schema}.compared_pair as c (owner_ref, fingerprint, verdict, compared_at)
    select ${input.ownerRef}, fingerprint, verdict, ${tx.now()}
    from json_to_recordset(${JSON.stringify(input.pairs)}::json) as i (fingerprint text, verdict text)
    on conflict (owner_ref, fingerprint) do update
      set verdict = excluded.verdict, compared_at = excluded.compared_at`);
}

export async function sweepCompared(db: Connection, keepMs: number): Promise<void> {
  await db.query(sql`
    delete from ${db.schema}.compared_pair
    where compared_at <= ${db.now()} - ${keepMs}::float8 * interval '1 millisecond'`);
}
