import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";

/** Whose words go, of one owner's conversations. */
interface ToldOf {
  readonly ownerRef: string | number;
  /** Memories and requests for consent. @default none */
  readonly ids?: readonly string[] | undefined;
  /** Messages of a thread; without `seqs`, all of these threads. @default none */
  readonly threads?: readonly (string | number)[] | undefined;
  readonly seqs?: readonly number[] | undefined;
}

/**
 * Erases, from what turns of an owner's conversations were told, the words of memories, requests and
 * messages. Their references stay: a replay has a mark in the place of each.
 */
export async function eraseTold(
  tx: Connection,
  { ownerRef, ids = [], threads = [], seqs }: ToldOf,
): Promise<void> {
  const { schema } = tx;
  const named = (field: string): Sql => sql`e.value ->> ${field} = any (${ids}::text[])`;
  const isOfThread = sql`e.value #>> '{place,0}' = any (${threads.map(String)}::text[])
    and (${seqs === undefined} or e.value #>> '{place,1}' = any (${(seqs ?? []).map(String)}::text[]))`;
  const without = (list: string, isGone: Sql): Sql => sql`(
      select coalesce(jsonb_agg(e.value order by e.place), '[]')
      from jsonb_array_elements(s.told -> ${list}) with ordinality e (value, place) where (${isGone}) is not true
    )`;
  const changed = await tx.query<{ thread: string; seq: number; told: string }>(sql`
    select s.thread_ref::text as thread, s.seq, n.told::text as told
    from ${schema}.thread t cross join lateral (
      select * from ${schema}.shown where thread_ref = t.id and told is not null
    ) s cross join lateral (
      select jsonb_build_object(
        'changes', ${without("changes", sql`${named("memoryId")} or ${named("insteadId")}`)},
        'consents', ${without("consents", sql`${named("id")} or ${named("currentId")}`)},
        'unread', ${without("unread", isOfThread)}
      ) as told
    ) n
    where t.owner_ref = ${ownerRef}::bigint and n.told <> s.told`);
  if (changed.length === 0) return;
  const [refs, places] = [changed.map(({ thread }) => thread), changed.map(({ seq }) => seq)];
  await tx.query(sql`
    update ${schema}.shown s set told = i.told::jsonb
    from unnest(${refs}::bigint[], ${places}::integer[], ${changed.map(({ told }) => told)}::text[]) i (thread_ref, seq, told)
    where s.thread_ref = i.thread_ref and s.seq = i.seq`);
}
