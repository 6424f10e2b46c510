import sql from "sql-template-tag";
import type { Connection } from "../../postgres/connection.js";
import type { Changer, MessagesOfThread } from "./change-set.js";

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
      returning m.ref
    )
    delete from ${schema}.memory_source s using parted p
    where s.memory_ref = p.ref and s.thread_ref = ${threadRef} and s.seq = any (${seqs}::integer[])`);
  }
}
