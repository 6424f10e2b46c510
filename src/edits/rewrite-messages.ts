import { SystemMessage } from "@langchain/core/messages";
import sql from "sql-template-tag";
import type { NewMessage } from "../conversation/record-messages.js";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import { encodeMessage } from "../text/message-codec.js";
import type { ChangedThread } from "./settle-resting.js";

/** Stores new words in the places of the old, with their search terms. */
export async function rewriteMessages(
  tx: Connection,
  {
    threadRef,
    ownerRef,
    edits,
  }: { threadRef: number; ownerRef: number; edits: readonly NewMessage[] },
): Promise<ChangedThread> {
  const { schema } = tx;
  const column = <Key extends keyof NewMessage>(key: Key) => edits.map((edit) => edit[key]);
  const input = sql`unnest(
    ${column("messageId")}::text[], ${column("text")}::text[], ${column("serialised")}::text[], ${column("terms")}::text[],
    ${column("check")}::integer[]
  ) i (message_id, content, serialised, terms, words_check)`;
  const changed = await tx.query<ChangedThread["messages"][number]>(sql`
    with changed as (
      update ${schema}.message m
      set content = i.content, serialised = i.serialised, words_check = i.words_check, state_check = null,
        version = m.version + 1, earlier_checks = array_remove(array_append(m.earlier_checks, m.words_check), null),
        edited_at_seq = (select max(l.seq) from ${schema}.message l where l.thread_ref = ${threadRef})
      from ${input} join ${schema}.message b on b.thread_ref = ${threadRef} and b.message_id = i.message_id
      where m.thread_ref = ${threadRef} and m.seq = b.seq and m.words_check is distinct from i.words_check
      returning m.seq, m.role, m.content, b.content as before
    ),
    gone as (
      delete from ${schema}.message_term t using changed c
      where t.thread_ref = ${threadRef} and t.seq = c.seq returning t.seq, t.length
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count - g.count, message_length = o.message_length - g.length
      from (
        select count(*) as count, coalesce(sum(length), 0) as length
        from (select max(length) as length from gone group by seq) m
      ) g
      where o.id = ${ownerRef}
    )
    select seq, role, content as words, before from changed`);
  await tx.query(sql`
    with term as (
      select m.seq, w.lexeme, w.frequency, sum(w.frequency) over (partition by m.seq) as length
      from ${input}
      join ${schema}.message m on m.thread_ref = ${threadRef} and m.message_id = i.message_id
        and m.seq = any (${changed.map(({ seq }) => seq)}::integer[])
      cross join lateral ${lexemes(tx, sql`i.terms`)} w
    ),
    indexed as (
      insert into ${schema}.message_term (owner_ref, lexeme, thread_ref, seq, frequency, length)
      select ${ownerRef}, lexeme, ${threadRef}, seq, frequency, length from term
    )
    update ${schema}.owner o
    set message_count = o.message_count + (select count(distinct seq) from term),
      message_length = o.message_length + (select coalesce(sum(frequency), 0) from term)
    where o.id = ${ownerRef}`);
  return { threadRef, messages: changed };
}

/**
 * Leaves an empty system message in the place of one, which no prompt shows: its id stays known, so
 * that a client that still has the message cannot record it again.
 */
export async function blankMessage(
  tx: Connection,
  { threadRef, ownerRef, messageId }: { threadRef: number; ownerRef: number; messageId: string },
): Promise<ChangedThread> {
  const { schema } = tx;
  const serialised = encodeMessage(new SystemMessage({ id: messageId, content: "" }));
  const messages = await tx.query<ChangedThread["messages"][number]>(sql`
    with changed as (
      update ${schema}.message m
      set role = 'system', content = '', actor = null, serialised = ${serialised}, words_check = null, state_check = null,
        earlier_checks = '{}', version = m.version + 1
      from ${schema}.message b
      where b.thread_ref = ${threadRef} and b.message_id = ${messageId} and m.thread_ref = ${threadRef} and m.seq = b.seq
      returning m.seq, b.role, b.content as before
    ),
    gone as (
      delete from ${schema}.message_term t using changed c
      where t.thread_ref = ${threadRef} and t.seq = c.seq returning t.length
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count - 1, message_length = o.message_length - g.length
      from (select max(length) as length from gone having count(*) > 0) g
      where o.id = ${ownerRef}
    ),
    turns as (
      update ${schema}.thread t set turns = t.turns - 1
      from changed c where t.id = ${threadRef} and c.role = 'user'
    )
    select seq, role, '' as words, before from changed`);
  return { threadRef, messages };
}
