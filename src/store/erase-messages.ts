import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";

/**
 * Deletes at most `limit` messages of locked threads with their terms, and takes them out of their owner's counts.
 * One statement.
 */
export async function eraseMessages(
  tx: Connection,
  { threads, limit }: { threads: readonly string[]; limit: number },
): Promise<{ message: number; message_term: number }> {
  const { schema } = tx;
  const [row] = await tx.query<{ message: number; message_term: number }>(sql`
    with doomed as (
      select thread_ref, seq from ${schema}.message
      where thread_ref = any (${threads}::bigint[]) order by thread_ref, seq limit ${limit}
    ),
    term as (
      delete from ${schema}.message_term t using doomed d where t.thread_ref = d.thread_ref and t.seq = d.seq
      returning t.owner_ref, t.thread_ref, t.seq, t.lexeme, t.frequency
    ),
    gone as (
      delete from ${schema}.message m using doomed d where m.thread_ref = d.thread_ref and m.seq = d.seq
      returning 1
    ),
    -- Speakers' names, which are marked with "@", are in the index but not in the counts.
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count - c.count, message_length = o.message_length - c.length
      from (
        select owner_ref, count(distinct (thread_ref, seq)) as count, sum(frequency) as length
        from term where left(lexeme, 1) <> '@' group by owner_ref
      ) c
      where o.id = c.owner_ref
    )
    select (select count(*) from gone)::int as message, (select count(*) from term)::int as message_term`);
  return { message: row?.message ?? 0, message_term: row?.message_term ?? 0 };
}
