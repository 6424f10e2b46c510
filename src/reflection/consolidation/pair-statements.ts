import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { OwnerRef } from "../../scope/scope.js";
import { fingerprintOf, refsOf, type StoredPair } from "./choose-pairs.rule.js";
import { fingerprintsForMs } from "./consolidation-options.js";
import type { SettledPair } from "./settle-pairs.rule.js";

/** Whether each of `pairs` has a link in either direction. */
export async function findLinked(
  db: Connection,
  pairs: readonly StoredPair[],
): Promise<readonly boolean[]> {
  const rows = await db.query<{ linked: boolean }>(sql`
    select exists (
      select from ${db.schema}.relation r
      where (r.from_ref = i.first and r.to_ref = i.second) or (r.from_ref = i.second and r.to_ref = i.first)
    ) as linked
    from rows from (json_to_recordset(${JSON.stringify(refsOf(pairs))}::json) as (first bigint, second bigint))
      with ordinality i (first, second, place)
    order by i.place`);
  return rows.map(({ linked }) => linked);
}

/** Fingerprints of pairs that were compared lately. */
export async function findCompared(
  db: Connection,
  ownerRef: OwnerRef,
  fingerprints: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ fingerprint: string }>(sql`
    select fingerprint from ${db.schema}.compared_pair
    where owner_ref = ${ownerRef} and fingerprint = any (${fingerprints}::text[])
      and compared_at > ${db.now()} - ${fingerprintsForMs}::float8 * interval '1 millisecond'`);
  return new Set(rows.map(({ fingerprint }) => fingerprint));
}

export async function keepCompared(
  tx: Connection,
  ownerRef: OwnerRef,
  settled: readonly SettledPair[],
): Promise<void> {
  const pairs = settled.map((pair) => {
    return { fingerprint: fingerprintOf(pair), verdict: pair.vote.verdict };
  });
  await tx.query(sql`
    insert into ${tx.schema}.compared_pair as c (owner_ref, fingerprint, verdict, compared_at)
    select ${ownerRef}, fingerprint, verdict, ${tx.now()}
    from json_to_recordset(${JSON.stringify(pairs)}::json) as i (fingerprint text, verdict text)
    on conflict (owner_ref, fingerprint) do update
      set verdict = excluded.verdict, compared_at = excluded.compared_at`);
}

export async function sweepCompared(db: Connection): Promise<void> {
  await db.query(sql`
    delete from ${db.schema}.compared_pair
    where compared_at <= ${db.now()} - ${fingerprintsForMs}::float8 * interval '1 millisecond'`);
}
