import sql from "sql-template-tag";
import type { NewMessage } from "../conversation/append-messages.js";
import { column, fields, names, recordset } from "../postgres/columns.js";
import type { Connection } from "../postgres/connection.js";
import type { OwnerRef, ThreadRef } from "../scope/scope.js";
import { recordTypes } from "./record-types.js";

/** A message to import. */
export interface ImportedMessage extends NewMessage {
  readonly threadRef: ThreadRef;
  readonly seq: number;
  readonly saidAt: string;
  readonly createdAt: string;
  readonly agentId?: string | null | undefined;
  readonly runId?: string | null | undefined;
}

/** The positions, from 0, of messages whose place in their thread is taken by another, or that stand elsewhere in it. */
export async function findMisplacedMessages(
  tx: Connection,
  messages: readonly ImportedMessage[],
): Promise<number[]> {
  const rows = await tx.query<{ position: number }>(sql`
    select i.position::int - 1 as position
    from unnest(
      ${messages.map(({ threadRef }) => threadRef)}::bigint[], ${messages.map(({ seq }) => seq)}::int[],
      ${messages.map(({ messageId }) => messageId)}::text[]
    ) with ordinality as i (thread_ref, seq, message_id, position)
    where exists (
      select from ${tx.schema}.message m
      where m.thread_ref = i.thread_ref and m.seq = i.seq and m.message_id <> i.message_id
    ) or exists (
      select from ${tx.schema}.message m
      where m.thread_ref = i.thread_ref and m.message_id = i.message_id and m.seq <> i.seq
    )
    order by 1`);
  return rows.map(({ position }) => position);
}

/** What was added to a thread. */
export interface AddedMessages {
  readonly threadRef: ThreadRef;
  readonly messages: number;
  readonly lastSeq: number;
}

/** What is stored of a message. */
const importedColumns = {
  threadRef: column.bigint("thread_ref"),
  ...recordTypes.message.columns,
  ...{ role: column.text("role"), actor: column.text("actor"), text: column.text("content") },
};

/** Adds the messages that are not there yet, indexes and counts them. Returns how many, by thread. One statement. */
export async function importMessages(
  tx: Connection,
  input: { ownerRef: OwnerRef; messages: readonly ImportedMessage[] },
): Promise<AddedMessages[]> {
  const { schema } = tx;
  return tx.query<AddedMessages & Record<string, unknown>>(sql`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input.messages)}::json) as i (
        ${recordset(importedColumns)}, terms text, "actorTerms" text
      )
    ),
    added as (
      insert into ${schema}.message (${names(importedColumns)})
      select ${fields(importedColumns)} from input i
      on conflict do nothing
      returning thread_ref, seq
    ),
    fresh as (
      select i.* from input i join added a on a.thread_ref = i."threadRef" and a.seq = i.seq
    ),
    term as (
      select f."threadRef" as thread_ref, f.seq, v.lexeme,
        least(coalesce(cardinality(v.positions), 1), 32767) as frequency,
        sum(coalesce(cardinality(v.positions), 1)) over (partition by f."threadRef", f.seq) as length
      from fresh f cross join lateral unnest(to_tsvector(${tx.language}::regconfig, f.terms)) v
    ),
    indexed as (
      insert into ${schema}.message_term (owner_ref, lexeme, thread_ref, seq, frequency, length)
      select ${input.ownerRef}::bigint, lexeme, thread_ref, seq, frequency, length from term
      union
      select ${input.ownerRef}::bigint, '@' || word, f."threadRef", f.seq, 1, 1
      from fresh f cross join lateral regexp_split_to_table(f."actorTerms", '\\s+') word
      where f.role in ('user', 'assistant') and word <> ''
    ),
    counted as (
      update ${schema}.owner o
      set message_count = o.message_count + (select count(distinct (thread_ref, seq)) from term),
        message_length = o.message_length + (select coalesce(sum(frequency), 0) from term)
      where o.id = ${input.ownerRef}
    ),
    rounds as (
      update ${schema}.thread t set turns = t.turns + f.rounds
      from (select "threadRef" as ref, count(*) as rounds from fresh where role = 'user' group by 1) f
      where t.id = f.ref
    )
    select thread_ref::float8 as "threadRef", count(*)::int as messages, max(seq) as "lastSeq"
    from added group by thread_ref`);
}

/** Counts background work on what was added as done: no facts are learned from it, and no episodes are made of it. */
export async function skipThreadWork(tx: Connection, added: readonly AddedMessages[]): Promise<void> {
  await tx.query(sql`
    insert into ${tx.schema}.thread_task as k (thread_ref, task, done_until)
    select a.ref, t.task, case t.task when 'extract' then a.last_seq else (
      select count(*)::int from ${tx.schema}.message m
      where m.thread_ref = a.ref and m.role = 'user' and m.seq <= a.last_seq
    ) end
    from unnest(
      ${added.map(({ threadRef }) => threadRef)}::bigint[], ${added.map(({ lastSeq }) => lastSeq)}::int[]
    ) as a (ref, last_seq)
    cross join (values ('extract'), ('compress')) as t (task)
    on conflict (thread_ref, task) do update set done_until = greatest(k.done_until, excluded.done_until)`);
}
