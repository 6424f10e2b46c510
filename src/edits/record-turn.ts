import sql from "sql-template-tag";
import type { NewMessage } from "../conversation/append-messages.js";
import {
  type RecordConfig,
  type RecordedTurn,
  type RecordInput,
  record,
} from "../conversation/record.js";
import { insertEvents } from "../events/event-log.js";
import { markWork } from "../jobs/work-table.js";
import type { Connection } from "../postgres/connection.js";
import type { Runtime } from "../runtime.js";
import { lockOwner } from "../scope/scope-predicates.js";
import { closeResting, type EditRuntime, inTransaction } from "./close-edited.js";
import type { ChangedThread } from "./resting-memories.js";

type RecordDue = NonNullable<Parameters<typeof record>[2]>;

/**
 * `record`, and the new words of recorded messages that were edited: in a transaction of its own,
 * since few turns have one.
 */
export async function recordTurn(
  deps: EditRuntime & Pick<Runtime<RecordConfig>, "config" | "redactor" | "describer">,
  input: RecordInput,
  due: RecordDue = {},
): Promise<RecordedTurn> {
  const turn = await record(deps, input, due);
  if (turn.edits.length === 0) return turn;
  const { scope, threadId } = input;
  const isRead = await inTransaction(deps, async (tx) => {
    const owner = await lockOwner(tx, scope);
    const thread = await rewriteMessages(tx, { ...turn, ownerRef: owner.ref });
    const said = thread.messages.flatMap(({ seq, role }) => (role === "user" ? seq : []));
    const unread = due.extract && said.length > 0 ? Math.min(...said) - 1 : null;
    if (unread !== null)
      await markWork(tx, { kind: "facts", of: "thread", ref: turn.threadRef }, { from: unread });
    await closeResting(deps, tx, { ownerRef: owner.ref, scope, threadId, thread, unread });
    const event = { scope, threadId, step: "remember", op: "update", status: "ok" } as const;
    await insertEvents(
      tx,
      thread.messages.map(() => ({ ...event, detail: "edited" })),
    );
    return unread !== null;
  });
  // The counts of before include summaries and episodes that are gone.
  const { recorded, closed, extractInMs, edits, messages } = turn;
  const now = await record(deps, { scope, threadId, messages: [] });
  return { ...now, recorded, closed, edits, messages, extractInMs: isRead ? 0 : extractInMs };
}

/** Stores new words in the places of the old, with their search terms. */
async function rewriteMessages(
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
        version = m.version + 1, earlier_checks = array_append(m.earlier_checks, m.words_check),
        edited_at_seq = (select max(l.seq) from ${schema}.message l where l.thread_ref = ${threadRef})
      from ${input}
      where m.thread_ref = ${threadRef} and m.message_id = i.message_id and m.words_check is distinct from i.words_check
      returning m.seq, m.role, m.content
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
    select seq, role, content as words from changed`);
  await tx.query(sql`
    with term as (
      select m.seq, v.lexeme, least(coalesce(cardinality(v.positions), 1), 32767) as frequency,
        sum(coalesce(cardinality(v.positions), 1)) over (partition by m.seq) as length
      from ${input}
      join ${schema}.message m on m.thread_ref = ${threadRef} and m.message_id = i.message_id
        and m.seq = any (${changed.map(({ seq }) => seq)}::integer[])
      cross join lateral unnest(to_tsvector(${tx.language}::regconfig, i.terms)) v
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
