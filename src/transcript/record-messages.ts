import sql, { empty, type Sql } from "sql-template-tag";
import type { TranscriptMessage } from "../messages/message-text.js";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import { collided, retryOn } from "../postgres/retry.js";
import type { ThreadAddress } from "../scope/scope.js";
import { isSeenFrom, scopeColumns, uuidOf } from "../scope/scope-predicates.js";
import { threadAndOwner } from "./claim-thread.js";
import { type ShownContext, saveShown } from "./shown-turns.js";
import { type RecordedTalk, type TalkWindow, talkObject, threadTalk } from "./thread-talk.js";

export interface NewMessage extends Omit<TranscriptMessage, "seq"> {
  /** Prepared by `searchText`; empty for messages that are not searched. */
  readonly terms: string;
  /** Characters at its end that are too many to be searched. */
  readonly unsearched?: number;
  /** `wordsCheck`: the checksum of its redacted words, by which an edit is seen; null if unknown. */
  readonly check: number | null;
  /** Whether redaction or a file made it differ from what was said. @default false */
  readonly altered?: boolean;
}

interface TurnToRecord extends ThreadAddress, TalkWindow {
  readonly messages: readonly NewMessage[];
  readonly saidAt?: Date | undefined;
  readonly timeZone: string;
  readonly agentId?: string | undefined;
  readonly runId?: string | undefined;
  readonly shown?: ShownContext | undefined;
  readonly extract?: ExtractAfter | undefined;
  readonly note?: NoteAfter | undefined;
  /** Ids of recorded messages that may be edits. @default all with other words */
  readonly edited?: readonly string[] | undefined;
  /** What a run made of recorded messages in its state. */
  readonly rewritten?: readonly { readonly id: string; readonly check: number }[] | undefined;
}

/** Extraction is due after this many user messages, or after this silence. */
export type ExtractAfter = { readonly messages: number; readonly idleMs: number };

export type NoteAfter = Pick<ExtractAfter, "idleMs">;

/** Id of LangChain's summary: marks a thread that LangChain summarises. */
export const othersSummaryId = "mnemograph.others_summary";

export interface RecordedThread {
  readonly threadRef: number;
  readonly recorded: number;
  /** −1 for an empty transcript. */
  readonly lastSeq: number;
  readonly talk: RecordedTalk;
  /** Ascending seqs of user messages in the last window, and of the last one. */
  readonly turnStarts: number[];
  /** Whether a worker makes a summary of it now. */
  readonly processing: boolean;
  readonly summarisedSeq: number | null;
  readonly turns: number;
  /** The last compressed turn; 0 for none. */
  readonly compressedTurns: number;
  /** Milliseconds until extraction is due; null if it is not. */
  readonly extractInMs: number | null;
  /** Whether these messages belong to the turn that ended the conversation. */
  readonly closed: boolean;
  /** Ids of given messages that were recorded with other words. */
  readonly edited: readonly string[];
  /** Since when LangChain's middleware summarises the thread; null if it does not. */
  readonly summarisedByOthers: "now" | "before" | null;
}

/** Of a row `k` of `work`: a worker makes the summary, or it is due and no worker had it yet. */
export const isSummaryUnderWay = (now: Sql): Sql => sql`(
  coalesce(k.lease_until > ${now}, false)
  or (k.lease_until is null and k.retry_at is not null and k.due_since is null)
)`;

/** Waits grow to some 250 ms: enough for hundreds of concurrent writers. */
const collisions = {
  most: 50,
  stepMs: 10,
  busy: "Nothing was recorded: others wrote to the same thread each of the 50 times it was tried. Try again.",
};

/**
 * Records the end of a turn in one atomic statement: appends the messages that the thread lacks,
 * marks the work that they make due, and keeps what the turn was shown, which counts as used. Null
 * for another scope's thread. The thread's row is locked, but the snapshot may be older than the
 * lock: then the insert violates the key (thread, seq) or (thread, message id), and the next try has
 * a new snapshot. So seqs have no gaps and no message is stored twice.
 * @throws MemoryError `BUSY`
 */
export async function recordMessages(
  db: Connection,
  input: TurnToRecord,
): Promise<RecordedThread | null> {
  // 23503: the owner was forgotten after the snapshot; the next try creates it again.
  return retryOn(
    ["23505", "23503"],
    async () => {
      const [row] = await db.query<RecordedRow>(recordStatement(db, input), { prepare: true });
      const { id, unsettled, ...thread } = row as RecordedRow;
      if (unsettled) return collided;
      return id === null ? null : { ...thread, threadRef: Number(id) };
    },
    collisions,
  );
}

type RecordedRow = Omit<RecordedThread, "threadRef"> & {
  /** Whether another transaction is creating the owner or thread. */
  readonly unsettled: boolean;
  readonly id: string | null;
};

/** The functions below make its parts, in this order: a part reads those before it. */
function recordStatement(db: Connection, turn: TurnToRecord): Sql {
  const { schema } = db;
  return sql`
    with
    ${inputMessages(db, turn)},
    ${lockThread(db, turn)},
    ${appendMessages(db, turn)},
    ${markDueWork(db, turn)},
    ${reportTurn(db, turn)},
    ${countUse(db, turn)},
    ${saveShown(db, turn.scope, turn.shown)},
    ${threadTalk(db, turn)}${keepRewritten(db, turn)}
    select owned.id, not exists (select from owned) and not exists (select from known_thread where not owned) as unsettled,
      (select count(*) from fresh)::int as recorded,
      (select last_seq + (select count(*) from fresh) from before)::int as "lastSeq",
      ${talkObject(turn)} as talk,
      array(select distinct seq::int from starts order by 1) as "turnStarts",
      exists (
        select from ${schema}.work k
        where k.thread_ref = owned.id and k.kind = 'summaries' and k.given_up_at is null and ${isSummaryUnderWay(db.now())}
      ) as processing,
      (select seq from summarised) as "summarisedSeq",
      owned.turns,
      coalesce((
        select k.done_until from ${schema}.work k
        where k.thread_ref = owned.id and k.kind = 'episodes' and k.given_up_at is null
      ), 0)::int as "compressedTurns",
      (
        select extract(epoch from due.retry_at - ${db.now()})::float8 * 1000 from due where due.kind = 'facts' limit 1
      ) as "extractInMs",
      coalesce(owned.ended, false) and exists (select from fresh) as closed,
      ${editedIds(db, turn)} as edited,
      (
        select 'now' from fresh where message_id = ${othersSummaryId}
        union all select 'before' from before b join ${schema}.message m on m.thread_ref = b.thread_ref
        where m.seq <= b.last_seq and m.message_id = ${othersSummaryId}
      ) as "summarisedByOthers"
    from (values (1)) one left join owned on true`;
}

/**
 * CTEs `input`, the messages in order, and `term`, each word's `frequency` in a message of `length`
 * words.
 */
function inputMessages(db: Connection, { messages }: TurnToRecord): Sql {
  const column = <Key extends keyof NewMessage>(key: Key) =>
    messages.map((message) => message[key]);
  return sql`
    input as (
      select * from unnest(
        ${column("messageId")}::text[], ${column("role")}::text[], ${column("actor")}::text[],
        ${column("text")}::text[], ${column("serialised")}::text[], ${column("terms")}::text[],
        ${column("check")}::integer[], ${messages.map(({ altered = false }) => altered)}::boolean[]
      ) with ordinality as i (message_id, role, actor, content, serialised, terms, words_check, altered, position)
    ),
    term as materialized (
      select position, w.lexeme, w.frequency, sum(w.frequency) over (partition by position) as length
      from input cross join lateral ${lexemes(db, sql`terms`)} w
    )`;
}

/**
 * The CTEs of `threadAndOwner`, and `owned (id, owner_ref, turns, ended)`: the thread's row,
 * locked, created if new, with new turns counted; empty for another scope's thread. New messages
 * reopen a thread, except in the turn that ended it. `before (thread_ref, last_seq)`; `fresh`: the
 * messages that the thread lacks, with refs and `seq`.
 */
function lockThread(db: Connection, turn: TurnToRecord): Sql {
  const { schema } = db;
  const { scope, threadId, shown } = turn;
  const revSeen = shown?.revision ?? 0;
  const { tenantId, userId, appId } = scopeColumns(scope);
  return sql`${threadAndOwner(db, turn, {
    turns: sql`(select count(*) from input where role = 'user')`,
    messages: sql`(select count(distinct position) from term)`,
    messageLength: sql`(select coalesce(sum(frequency), 0) from term)`,
  })},
    -- With an offset each is looked up by its key; as a join, the planner may read all messages.
    unknown as materialized (
      select i.* from input i where not exists (
        select from ${schema}.message m
        where m.thread_ref = (select id from known_thread) and m.message_id = i.message_id offset 0
      )
    ),
    delta as materialized (
      select count(*) > 0 as any_new, count(*) filter (where role = 'user') as turns, ${db.now()} as now from unknown
    ),
    made as (
      insert into ${schema}.thread
        (tenant_id, thread_id, user_id, app_id, owner_ref, rev_seen, turns, created_at, last_activity_at)
      -- A turn that began before its user was forgotten has seen later revisions than the new owner has.
      select ${tenantId}, ${threadId}, ${userId}, ${appId}, o.id, least(${revSeen}::bigint, o.revision), n.turns, n.now, n.now
      from its_owner o, delta n where not exists (select from known_thread)
      on conflict do nothing
      returning id, owner_ref, turns, false as ended
    ),
    continued as (
      update ${schema}.thread t
      set last_activity_at = n.now, rev_seen = greatest(t.rev_seen, least(${revSeen}::bigint, o.revision)),
        turns = t.turns + n.turns,
        ended_at = case when t.closing_until > n.now or not n.any_new then t.ended_at end,
        closing_until = case when not n.any_new then t.closing_until end
      from known_thread k, its_owner o, delta n where t.id = k.id and k.owned
      returning t.id, t.owner_ref, t.turns, t.ended_at is not null as ended
    ),
    owned as (
      select * from made union all select * from continued
    ),
    before as materialized (
      select owned.id as thread_ref, coalesce(
        (select m.seq from ${schema}.message m where m.thread_ref = owned.id order by m.seq desc limit 1), -1
      ) as last_seq
      from owned
    ),
    fresh as (
      select i.*, owned.id as thread_ref, owned.owner_ref,
        before.last_seq + row_number() over (order by i.position) as seq
      from owned, before, unknown i
    )`;
}

/** CTEs that write `fresh`: `counted (id)`, an owner that existed before; `added`; `indexed`. */
function appendMessages(db: Connection, { saidAt, timeZone, agentId, runId }: TurnToRecord): Sql {
  const { schema } = db;
  return sql`
    counted as (
      update ${schema}.owner o
      set turns = o.turns + (select count(*) from fresh where role = 'user'),
        message_count = o.message_count
          + (select count(distinct position) from term join fresh using (position)),
        message_length = o.message_length
          + (select coalesce(sum(frequency), 0) from term join fresh using (position))
      from known_owner where o.id = known_owner.id and exists (select from fresh)
      returning o.id
    ),
    added as (
      insert into ${schema}.message
        (thread_ref, seq, message_id, role, actor, content, serialised, agent_id, run_id, said_at, time_zone, created_at,
          words_check, altered)
      select thread_ref, seq, message_id, role, actor, content, serialised, ${agentId ?? null}::text,
        ${runId ?? null}::text, coalesce(${saidAt ?? null}::timestamptz, ${db.now()}), ${timeZone}::text, ${db.now()}, words_check, altered
      from fresh
    ),
    indexed as (
      insert into ${schema}.message_term (owner_ref, lexeme, thread_ref, seq, frequency, length)
      select f.owner_ref, term.lexeme, f.thread_ref, f.seq, term.frequency, term.length
      from fresh f join term on term.position = f.position
    )`;
}

/**
 * Always true: reading `counted` makes a part wait until the owner's row is locked, which all
 * writers of memories lock before other rows.
 */
const afterOwnerLock = sql`(select count(*) from counted) >= 0`;

/** CTEs `extraction (wait_ms)`, and `due (kind, retry_at)`: when facts and notes are due. */
function markDueWork(db: Connection, turn: TurnToRecord): Sql {
  const { schema } = db;
  const { extract, note } = turn;
  // One message alone is extracted at once.
  const idleMs = extract && extract.messages > 1 ? extract.idleMs : 0;
  const dueNotes = note
    ? sql`union all
      select owned.id, 'notes', -1,
        ${db.now()} + case when owned.ended then 0 else ${note.idleMs}::float8 end * interval '1 millisecond'
      from owned where exists (select from fresh) and ${afterOwnerLock}`
    : empty;
  return sql`
    extraction as materialized (
      select ${extractWaitMs(db, extract)} as wait_ms
    ),
    due as (
      insert into ${schema}.work as k (thread_ref, kind, done_until, retry_at)
      select distinct f.thread_ref, 'facts', -1, ${db.now()} + e.wait_ms * interval '1 millisecond' from fresh f, extraction e
      where ${extract !== undefined} and f.role = 'user' and ${afterOwnerLock}
      ${dueNotes}
      on conflict (thread_ref, kind) where given_up_at is null do update set retry_at = case
        when k.kind = 'notes' and not (k.attempts > 0 and k.lease_until is null) then excluded.retry_at
        -- Waits for its retry, or for another day.
        when (k.attempts > 0 and k.lease_until is null)
          or k.retry_at - excluded.retry_at > ${idleMs} * interval '1 millisecond'
        then coalesce(k.retry_at, excluded.retry_at) else excluded.retry_at
      end
      returning kind, retry_at
    )`;
}

/** None once enough user messages are unread, else the silence that extraction waits for. */
function extractWaitMs({ schema }: Connection, extract: ExtractAfter | undefined): Sql {
  if (extract === undefined || extract.messages <= 1) return sql`0`;
  const { messages, idleMs } = extract;
  return sql`case when (select count(*) from fresh where role = 'user') + (
          select count(*) from before b cross join lateral (
            select from ${schema}.message m
            where m.thread_ref = b.thread_ref and m.seq <= b.last_seq and m.role = 'user' and m.seq > coalesce((
              select k.done_until from ${schema}.work k
              where k.thread_ref = b.thread_ref and k.kind = 'facts' and k.given_up_at is null
            ), -1)
            limit ${messages}::bigint
          ) m
        ) >= ${messages}::bigint then 0 else ${idleMs}::float8 end`;
}

/** CTE `reported`: events for the turn's search, and for text that is too long to be searched. */
function reportTurn(db: Connection, turn: TurnToRecord): Sql {
  const { scope, threadId, agentId, runId, shown, messages } = turn;
  const { tenantId, userId, appId } = scopeColumns(scope);
  const similarity = shown?.similarity;
  const unsearched = messages.reduce((sum, message) => sum + (message.unsearched ?? 0), 0);
  return sql`
    reported as (
      insert into ${db.schema}.event
        (tenant_id, user_id, app_id, thread_id, agent_id, run_id, node, step, op, status, similarity, detail, created_at)
      select ${tenantId}, ${userId}, ${appId}, ${threadId}, ${agentId ?? null}::text, ${runId ?? null}::text,
        e.node, e.step, e.op, e.status, e.similarity, e.detail, ${db.now()}
      from owned cross join (values
        ('context', 'recall', 'search', 'ok', ${similarity ?? null}::real, null, ${similarity !== undefined}::boolean),
        ('hotpath', 'remember', 'create', 'skipped', null, ${`${unsearched} characters not searched`}::text, ${unsearched > 0}::boolean)
      ) e (node, step, op, status, similarity, detail, happened)
      where e.happened and exists (select from fresh)
    )`;
}

/** CTE `accessed`: memories that the turn was shown count as used, which keeps them from ageing. */
function countUse(db: Connection, { scope, shown }: TurnToRecord): Sql {
  return sql`
    accessed as (
      update ${db.schema}.memory m
      set last_accessed_at = ${db.now()}, access_count = m.access_count + 1
      from owned
      where m.id = any (${(shown?.memoryIds ?? []).map(uuidOf)}::uuid[]) and ${isSeenFrom(scope)}
        and ${afterOwnerLock}
    )`;
}

/**
 * CTE that keeps the checksum of what a run made of a recorded message, so that the next turn does
 * not take it for an edit.
 */
function keepRewritten({ schema }: Connection, { rewritten = [] }: TurnToRecord): Sql {
  if (rewritten.length === 0) return empty;
  return sql`,
    rewritten as (
      update ${schema}.message m set state_check = w.words
      from unnest(${rewritten.map(({ id }) => id)}::text[], ${rewritten.map(({ check }) => check)}::integer[]) w (id, words)
      where m.thread_ref = (select id from known_thread where owned) and m.message_id = w.id
        and m.words_check <> w.words and m.state_check is distinct from w.words and m.role in ('user', 'assistant')
    )`;
}

/**
 * Ids of given messages that were recorded with other words. `is_edit` (conversation.sql) says
 * which of these are edits.
 */
function editedIds({ schema }: Connection, { edited }: TurnToRecord): Sql {
  const isEdit = edited
    ? sql`i.message_id = any (${edited}::text[])`
    : sql`${schema}.is_edit(owned.id, m.seq, i.words_check, array(select message_id from input))`;
  return sql`array(
        select i.message_id from before b cross join input i cross join lateral (
          select m.seq, m.words_check from ${schema}.message m
          where m.thread_ref = b.thread_ref and m.message_id = i.message_id and m.seq <= b.last_seq
            and m.role in ('user', 'assistant') offset 0
        ) m
        where m.words_check <> i.words_check
          and ${isEdit}
      )`;
}
