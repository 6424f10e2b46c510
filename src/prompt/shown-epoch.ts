import sql, { type Sql } from "sql-template-tag";
import type { MemoryItem } from "../memories/item/memory.js";
import type { TranscriptMessage } from "../messages/message-text.js";
import type { Connection } from "../postgres/connection.js";
import { type Scope, type ThreadAddress, threadForbidden } from "../scope/scope.js";
import { isOwnThread, isSeenFrom, threadIs } from "../scope/scope-predicates.js";
import { type MemoryEntry, memoriesByRef, memoriesOf } from "../search/search-memories.js";
import type { Conversation } from "../transcript/find-conversation.js";
import { type StoredShown, storedShown } from "../transcript/shown-turns.js";
import { earlierValue } from "./find-recall.js";

/**
 * What the turns of an epoch of thread `t` were shown, up to the turn `a`: rows of `shown` of the
 * same reader, from the turn that opened the epoch.
 */
export const epochRows = ({ schema }: Connection, isTurn: Sql): Sql => sql`
  select s.* from (
    select a.* from ${schema}.shown a where a.thread_ref = t.id and ${isTurn} order by a.seq desc limit 1
  ) a
  join ${schema}.shown s on s.thread_ref = t.id and s.reader is not distinct from a.reader and s.seq <= a.seq
    and s.seq >= coalesce((
      select o.seq from ${schema}.message o where o.thread_ref = t.id and o.message_id = a.handed ->> 'openedBy'
    ), (
      select max(o.seq) from ${schema}.shown o
      where o.thread_ref = t.id and o.seq <= a.seq and o.first_seq is not null and o.reader is not distinct from a.reader
    ), a.seq)`;

export interface ShownEpoch {
  readonly threadRef: number;
  /** From the turn that opened the epoch to the turn itself; empty for an unknown turn. */
  readonly turns: readonly StoredShown[];
}

interface TurnNumber {
  readonly turn: number;
  readonly seq?: number | undefined;
  /** The conversation, if the thread has an agent's tasks in it. */
  readonly tasksOf?: string | undefined;
}

/** Null for an unknown thread. @throws MemoryError `THREAD_FORBIDDEN` */
export async function findShownEpoch(
  db: Connection,
  { scope, threadId }: ThreadAddress,
  { turn, seq, tasksOf }: TurnNumber,
): Promise<ShownEpoch | null> {
  const isTurn =
    tasksOf === undefined
      ? sql`a.turn = ${turn} and a.seq = coalesce(${seq ?? null}::int, a.seq)`
      : isWithinTurn(db, { scope, threadId: tasksOf }, turn);
  const [row] = await db.query<ShownEpoch & { readonly owned: boolean }>(sql`
    select ${isOwnThread(scope)} as owned, t.id::float8 as "threadRef", array(
      select ${storedShown} from (${epochRows(db, isTurn)}) s
      join ${db.schema}.message g on g.thread_ref = s.thread_ref and g.seq = s.seq
      order by s.seq
    ) as turns
    from ${db.schema}.thread t where ${threadIs(scope.tenantId ?? "", threadId)}`);
  if (row && !row.owned) throw threadForbidden(threadId);
  return row ?? null;
}

/** Whether a task, whose thread counts no turns, was done within a turn of its conversation. */
function isWithinTurn({ schema }: Connection, of: ThreadAddress, turn: number): Sql {
  const { scope, threadId } = of;
  const lastOf = (number: Sql) => sql`(
    select max(x.created_at) from ${schema}.thread t join ${schema}.shown x on x.thread_ref = t.id
    where ${threadIs(scope.tenantId ?? "", threadId)} and ${isOwnThread(scope)} and ${number}
  )`;
  return sql`a.created_at <= ${lastOf(sql`x.turn = ${turn}`)}
    and a.created_at > coalesce(${lastOf(sql`x.turn < ${turn}`)}, '-infinity')`;
}

/** A message of the transcript, and what it is compared by. */
export interface StoredTalk extends TranscriptMessage {
  /** The thread's last seq when it was edited last; null: never. */
  readonly editedAtSeq: number | null;
  /** Whether redaction or a file made it differ from what was said. */
  readonly altered: boolean;
}

/** What an epoch's turns refer to, as far as it is still there and the scope may see it. */
export interface ShownContents {
  readonly memories: ReadonlyMap<string, MemoryItem>;
  /** `line_check` of each memory. */
  readonly checks: Readonly<Record<string, number>>;
  readonly messages: readonly StoredTalk[];
  /** Without text, if a message that it covers changed. */
  readonly summary:
    | (Omit<NonNullable<Conversation["summary"]>, "text"> & { readonly text: string | null })
    | null;
  /** Ids of requests for consent. */
  readonly consents: readonly string[];
  /** Unread messages: "thread seq" to words. */
  readonly unread: Readonly<Record<string, string>>;
}

interface ShownRefs {
  readonly threadRef: number;
  readonly memoryIds: readonly string[];
  readonly seqs: readonly number[];
  readonly messageIds: readonly string[];
  readonly summaryId: number | null;
  readonly consents: readonly string[];
  readonly unread: readonly (readonly [number, number])[];
}

/** One round trip. */
export async function findShownContents(
  db: Connection,
  scope: Scope,
  { threadRef, ...refs }: ShownRefs,
): Promise<ShownContents> {
  const { schema } = db;
  const [row] = await db.query<
    Omit<ShownContents, "memories"> & { readonly memories: readonly MemoryEntry[] }
  >(sql`
    with seen as materialized (
      select m.ref, m.id, ${schema}.line_check(m.category, m.key, m.value, m.content, m.trust) as line_check
      from ${schema}.memory m
      where m.id = any (${refs.memoryIds}::uuid[]) and m.state in ('active', 'superseded', 'merged') and ${isSeenFrom(scope)}
    )
    select ${memoriesOf(db, sql`select ref from seen`, sql`, ${earlierValue(db)}`)} as memories,
      (select coalesce(json_object_agg(id, line_check), '{}') from seen) as checks,
      array(
        select json_build_object('seq', m.seq, 'messageId', m.message_id, 'role', m.role, 'actor', m.actor, 'text', m.content,
          'serialised', m.serialised, 'editedAtSeq', m.edited_at_seq, 'altered', m.altered)
        from ${schema}.message m
        where m.thread_ref = ${threadRef} and (m.seq = any (${refs.seqs}::int[]) or m.message_id = any (${refs.messageIds}::text[]))
        order by m.seq
      ) as messages,
      (
        select json_build_object(
          'id', s.id, 'startSeq', s.start_seq, 'endSeq', s.end_seq, 'text', s.content, 'endMessageId', '',
          'startTurn', coalesce(s.start_turn, (
            select count(*) from ${schema}.message m where m.thread_ref = s.thread_ref and m.role = 'user' and m.seq <= s.start_seq
          )), 'endTurn', coalesce(s.end_turn, (
            select count(*) from ${schema}.message m where m.thread_ref = s.thread_ref and m.role = 'user' and m.seq <= s.end_seq
          ))
        )
        from ${schema}.summary s
        where s.id = ${refs.summaryId}::bigint and s.thread_ref = ${threadRef}
      ) as summary,
      array(
        select c.id::text from ${schema}.consent_request c where c.id = any (${refs.consents}::uuid[])
      ) as consents,
      (
        select coalesce(json_object_agg(m.thread_ref || ' ' || m.seq, left(m.content, 2000)), '{}')
        from unnest(${refs.unread.map(([ref]) => ref)}::bigint[], ${refs.unread.map(([, seq]) => seq)}::int[]) u (ref, seq)
        join ${schema}.message m on m.thread_ref = u.ref and m.seq = u.seq and m.role = 'user'
      ) as unread`);
  const { memories = [], ...others } = row ?? {
    checks: {},
    messages: [],
    summary: null,
    consents: [],
    unread: {},
  };
  const byRef = memoriesByRef(memories);
  return { ...others, memories: new Map([...byRef.values()].map((each) => [each.id, each])) };
}
