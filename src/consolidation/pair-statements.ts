import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef } from "../scope/scope.js";
import type { PairVerdict } from "./pair-votes.rule.js";

/** The `pairs` with a link in either direction, as "from to". */
export async function findLinked(
  db: Connection,
  pairs: readonly { readonly from: number; readonly to: number }[],
): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ from: number; to: number }>(sql`
    select i."from", i."to" from json_to_recordset(${JSON.stringify(pairs)}::json) as i ("from" bigint, "to" bigint)
    where exists (
      select from ${db.schema}.relation r
      where (r.from_ref = i."from" and r.to_ref = i."to") or (r.from_ref = i."to" and r.to_ref = i."from")
    )`);
  return new Set(rows.map(({ from, to }) => `${from} ${to}`));
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
