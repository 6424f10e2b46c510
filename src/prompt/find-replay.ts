import sql, { type Sql } from "sql-template-tag";
import type { MemoryItem } from "../memories/item/memory.js";
import type { TranscriptMessage } from "../messages/message-text.js";
import type { Connection } from "../postgres/connection.js";
import { type ThreadAddress, threadForbidden } from "../scope/scope.js";
import { isOwnThread, isSeenFrom, threadIs } from "../scope/scope-predicates.js";
import { type MemoryEntry, memoriesByRef, memoriesOf } from "../search/search-memories.js";
import type { ConversationSummary } from "../transcript/find-conversation.js";
import {
  type HandedOn,
  maxTalk,
  type ShownNews,
  type ShownPart,
  type ShownTurn,
  type ToldWords,
} from "../transcript/shown-turns.js";
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

/** What is stored of a turn. */
export interface StoredTurn
  extends Pick<ShownTurn, "turn" | "seq" | "messageId" | "summaryId" | "omitted" | "firstSeq"> {
  readonly agentId: string | null;
  /** In milliseconds. */
  readonly at: number;
  readonly memories: readonly {
    readonly id: string;
    readonly part: ShownPart;
    /** Whether its words changed since; null if it is gone, or no checksum was kept. */
    readonly isEdited: boolean | null;
  }[];
  readonly news: ShownNews | null;
  readonly told: ToldWords | null;
  readonly handed: HandedOn | null;
}

/** A message that a turn was shown. */
export interface StoredTalk {
  /** Whether the caller's own was shown instead of the transcript's. */
  readonly isHeld: boolean;
  /** Null if the transcript lacks it. */
  readonly message:
    | (TranscriptMessage & {
        /** The thread's last seq when it was edited last; null: never. */
        readonly editedAtSeq: number | null;
        /** Whether redaction or a file made it differ from what was said. */
        readonly altered: boolean;
      })
    | null;
}

/** The turns of an epoch, and what they refer to if it is still there and the scope may see it. */
export interface ShownEpoch {
  /** From the turn that opened the epoch to the turn itself; empty for an unknown turn. */
  readonly turns: readonly StoredTurn[];
  readonly memories: ReadonlyMap<string, MemoryItem>;
  /** The conversation that the turn itself was shown. */
  readonly talk: readonly StoredTalk[];
  /** The turn's own. Without text, if a message that it covers changed. */
  readonly summary: (Omit<ConversationSummary, "text"> & { readonly text: string | null }) | null;
  /** Ids of requests for consent. */
  readonly consents: readonly string[];
  /** Unread messages: "thread seq" to words. */
  readonly unread: Readonly<Record<string, string>>;
}

interface TurnNumber {
  readonly turn: number;
  readonly seq?: number | undefined;
  /** The conversation, if the thread has an agent's tasks in it. */
  readonly tasksOf?: string | undefined;
}

type Row = Omit<ShownEpoch, "memories"> & {
  readonly owned: boolean;
  readonly memories: readonly MemoryEntry[];
};

/** One round trip; null for an unknown thread. @throws MemoryError `THREAD_FORBIDDEN` */
export async function findShownEpoch(
  db: Connection,
  { scope, threadId }: ThreadAddress,
  { turn, seq, tasksOf }: TurnNumber,
): Promise<ShownEpoch | null> {
  const { schema } = db;
  const isTurn =
    tasksOf === undefined
      ? sql`a.turn = ${turn} and a.seq = coalesce(${seq ?? null}::int, a.seq)`
      : isWithinTurn(db, { scope, threadId: tasksOf }, turn);
  const [row] = await db.query<Row>(sql`
    with t as materialized (
      select t.id, ${isOwnThread(scope)} as owned from ${schema}.thread t where ${threadIs(scope.tenantId ?? "", threadId)}
    ),
    shown as materialized (
      select s.*, g.message_id, g.agent_id from t cross join lateral (${epochRows(db, isTurn)}) s
      join ${schema}.message g on g.thread_ref = s.thread_ref and g.seq = s.seq where t.owned
    ),
    own as materialized (
      select s.thread_ref, s.seq, s.summary_id, coalesce(s.handed -> 'talk', jsonb_build_array(jsonb_build_array(
        -- A caller that printed its prompt itself had the whole conversation of the epoch.
        least((select min(o.first_seq) from shown o), s.seq), s.seq
      ))) as talk from shown s order by s.seq desc limit 1
    ),
    visible as materialized (
      select m.ref, m.id, ${schema}.line_check(m.category, m.key, m.value, m.content, m.trust) as line_check
      from ${schema}.memory m
      where m.state in ('active', 'superseded', 'merged') and ${isSeenFrom(scope)} and m.id = any (array(
        select unnest(s.memory_ids) from shown s
        union select (r.value #>> '{}')::uuid from shown s cross join lateral (
          select jsonb_path_query(s.told, '$.changes[*].memoryId') union all select jsonb_path_query(s.news, '$.changes[*][2]')
          union all select jsonb_path_query(s.news, '$.consents[*][1]')
        ) r (value)
      ))
    )
    select t.owned, array(
        select json_build_object(
          'turn', s.turn, 'seq', s.seq, 'messageId', s.message_id, 'agentId', s.agent_id, 'at', date_part('epoch', s.created_at) * 1000,
          'summaryId', s.summary_id, 'omitted', s.omitted, 'firstSeq', s.first_seq, 'news', s.news, 'told', s.told, 'handed', s.handed,
          'memories', array(
            select json_build_object('id', e.id, 'part', e.part, 'isEdited', v.line_check <> e.line_check)
            from unnest(s.memory_ids, s.parts, s.checks) with ordinality e (id, part, line_check, place)
            left join visible v on v.id = e.id order by e.place
          )
        ) from shown s order by s.seq
      ) as turns,
      ${memoriesOf(db, sql`select ref from visible`, sql`, ${earlierValue(db)}`)} as memories,
      ${talkOf(db)} as talk,
      (
        select json_build_object(
          'id', s.id, 'startSeq', s.start_seq, 'endSeq', s.end_seq, 'text', s.content, 'endMessageId', '',
          'startTurn', coalesce(s.start_turn, (
            select count(*) from ${schema}.message m where m.thread_ref = s.thread_ref and m.role = 'user' and m.seq <= s.start_seq
          )), 'endTurn', coalesce(s.end_turn, (
            select count(*) from ${schema}.message m where m.thread_ref = s.thread_ref and m.role = 'user' and m.seq <= s.end_seq
          ))
        )
        from own join ${schema}.summary s on s.id = own.summary_id and s.thread_ref = own.thread_ref
      ) as summary,
      array(
        select c.id::text from ${schema}.consent_request c
        where c.id = any (array(select (jsonb_path_query(s.news, '$.consents[*][0]') #>> '{}')::uuid from shown s))
      ) as consents,
      (
        select coalesce(json_object_agg(m.thread_ref || ' ' || m.seq, left(m.content, 2000)), '{}')
        from (select distinct unnest(array(select jsonb_path_query(s.news, '$.unread[*]'))) from shown s) u (place) cross join lateral (
          select * from ${schema}.message m
          where m.thread_ref = (u.place ->> 0)::bigint and m.seq = (u.place ->> 1)::int and m.role = 'user' limit 1
        ) m
      ) as unread
    from t`);
  if (!row) return null;
  const { owned, memories, ...epoch } = row;
  if (!owned) throw threadForbidden(threadId);
  const byId = [...memoriesByRef(memories).values()].map((memory) => [memory.id, memory] as const);
  return { ...epoch, memories: new Map(byId) };
}

/** The messages at the places of `own.talk`, in order. */
const talkOf = ({ schema }: Connection): Sql => sql`array(
        select json_build_object('isHeld', p.is_held, 'message', case when m.seq is not null then json_build_object(
          'seq', m.seq, 'messageId', m.message_id, 'role', m.role, 'actor', m.actor, 'text', m.content,
          'serialised', m.serialised, 'editedAtSeq', m.edited_at_seq, 'altered', m.altered
        ) end)
        from (
          select own.thread_ref, e.at, n.seq, e.value #>> '{}' as id,
            jsonb_typeof(e.value) <> 'array' or jsonb_array_length(e.value) = 3 as is_held
          from own cross join jsonb_array_elements(own.talk) with ordinality e (value, at) cross join lateral (
            -- Of an array the planner expects ten rows, of a series a thousand: it would compile the statement, which takes 0.1 s.
            select unnest(array(select generate_series((e.value ->> 0)::int, (e.value ->> 1)::int))) where jsonb_typeof(e.value) = 'array'
            union all select own.seq where jsonb_typeof(e.value) = 'null'
            union all select null where jsonb_typeof(e.value) = 'string'
          ) n (seq)
          limit ${maxTalk}
        ) p
        left join lateral (
          select * from ${schema}.message m where m.thread_ref = p.thread_ref and m.seq = coalesce(p.seq, (
            select i.seq from ${schema}.message i where i.thread_ref = p.thread_ref and i.message_id = p.id limit 1
          )) limit 1
        ) m on true
        order by p.at, p.seq
      )`;

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
