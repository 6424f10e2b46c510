import sql, { empty } from "sql-template-tag";
import type { PendingConsent } from "../consents/consent-lines.rule.js";
import { type ChangeEvent, type ToldChange, toldLine } from "../memories/audit/memory-change.js";
import { unexpired } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { isId, scopeColumns, seenOwners } from "../scope/scope-predicates.js";
import { containedLine } from "../screening/contained-text.js";
import type { StoreFilter } from "../search/memory-filter.rule.js";
import {
  candidateRefs,
  candidateRows,
  candidatesOf,
  type FoundMemory,
  foundMemories,
  isBroadQuestion,
  type MemoryEntry,
  memoriesByRef,
  memoriesOf,
  noCandidates,
} from "../search/search-memories.js";
import { asksOnly } from "../text/asks-only.js";
import { clipped } from "../text/storable-text.js";
import { dayIn, fullDay } from "../text/time-zone.js";
import {
  type ConversationRow,
  conversationOf,
  conversationRow,
} from "../transcript/find-conversation.js";
import type { ShownNews } from "../transcript/shown-turns.js";
import type { RecallRequest } from "./recall-request.js";

/** Nobody would read more lines. */
const shownChanges = 3;

/** A change of a memory, told in a line. */
export type RecalledChange = {
  readonly rev: number;
  readonly memoryId: string;
  readonly event: ChangeEvent;
  readonly line: string;
  /** The memory that it replaces, if the prompt shows that. */
  readonly insteadId: string | null;
  /** Whether its line says that the memory may no longer hold. */
  readonly isDoubted: boolean;
};

/** A message of another conversation that no extraction has read yet. */
export interface UnreadMessage {
  readonly text: string;
  /** Null in a replay where it is gone. */
  readonly saidAt: string | null;
  readonly place: readonly [threadRef: number, seq: number];
}

export type RecalledConsent = PendingConsent & { readonly currentId: string | null };

/** What an earlier turn of the epoch was told beside memories. */
interface ToldNews {
  readonly messageId: string;
  readonly news: ShownNews;
  readonly changes: readonly RecalledChange[];
  readonly consents: readonly RecalledConsent[];
  readonly unread: readonly UnreadMessage[];
}

export type RecallResult = Awaited<ReturnType<typeof findRecall>>;

type ListedMemories = readonly [list: "profile" | "fallback" | "note", refs: readonly number[]];

export type ChangeRow = Omit<RecalledChange, "line" | "isDoubted"> & ToldChange;

type Row = {
  readonly conversation: ConversationRow | null;
  readonly revision: number | null;
  readonly trimmedTo: number | null;
  readonly changeCount: number;
  readonly changes: readonly ChangeRow[];
  readonly consents: readonly RecalledConsent[];
  readonly told:
    | readonly (Omit<ToldNews, "changes"> & { readonly changes: readonly ChangeRow[] })[]
    | null;
  readonly broad: boolean;
  /** Memories that may be shown unasked. */
  readonly knownCount: number;
  readonly knownCut: boolean;
  /** Unextracted messages of the user's other threads, in a thread's first turn. */
  readonly unread: readonly UnreadMessage[];
  readonly listed: readonly ListedMemories[];
  readonly found: readonly FoundMemory[];
  readonly memories: readonly MemoryEntry[];
};

/** One round trip. @throws MemoryError `DATABASE_TIMEOUT` after `timeoutMs` */
export async function findRecall(db: Connection, request: RecallRequest, timeoutMs: number) {
  const [row] = await db.query<Row>(recallStatement(db, request), { prepare: true, timeoutMs });
  const { conversation, revision, trimmedTo, listed, found, memories, ...others } = row as Row;
  const { changes, told, unread } = others;
  const asTold = (change: ChangeRow) => changeOf(change, request.timeZone);
  const byRef = memoriesByRef(memories);
  const listOf = (name: ListedMemories[0]) =>
    (listed.find(([list]) => list === name)?.[1] ?? []).flatMap((ref) => byRef.get(ref) ?? []);
  return {
    ...others,
    conversation: conversationOf(conversation),
    revision: revision ?? 0,
    // A new thread has no changes: all existing memories are new to it.
    revSeen: Math.max(conversation?.rev_seen ?? revision ?? 0, trimmedTo ?? 0),
    changes: changes.map(asTold),
    told: (told ?? []).map((each) => ({ ...each, changes: each.changes.map(asTold) })),
    unread: unread.filter(({ text }) => !asksOnly(text)).slice(-request.unread),
    profile: listOf("profile"),
    rest: listOf("fallback"),
    notes: listOf("note"),
    candidates: candidatesOf(found, byRef),
    shown: new Map([...byRef.values()].map((memory) => [memory.id, memory])),
  };
}

function recallStatement(
  db: Connection,
  { limits, reader, filter, question, search, known, ...request }: RecallRequest,
) {
  const { schema } = db;
  const { scope, threadId } = request;
  const { tenantId, userId, appId } = scopeColumns(scope);
  const owners = sql`(select ids from owner)`;
  return sql`
    with conversation as materialized (${conversationRow(db, request, reader, limits)}),
    -- The user and the app, of whom the scope's own may have nothing yet; empty for another scope's thread.
    owner as materialized (
      select array_agg(o.id order by o.is_own desc) as ids, max(o.id) filter (where o.is_own) as own,
        max(o.revision) filter (where o.is_own) as revision, max(o.changes_trimmed_to) filter (where o.is_own) as trimmed_to,
        max(o.id) filter (where o.user_id = '') as app
      from (${seenOwners(db, scope, sql`o.id, o.revision, o.changes_trimmed_to, o.user_id, o.user_id = ${userId} as is_own`)}) o
      where coalesce((select owned from conversation), true)
    ),
    known as materialized (
      select * from ${schema}.known_memories_1(
        ${owners}, ${appId}, ${known.categories}::text[], ${filter.trusts}::text[], ${known.lengths}::int[], ${known.shownWhole}::text[],
        ${known.minImportance}, ${known.maxProfile}, ${known.maxFallback}, ${db.now()}
      )
    ),
    listed as materialized (
      select list, ref, place from known${appId === "" ? empty : noteRows(db, known.categories, filter, request.notes)}
    ),
    candidate as materialized (${search ? candidateRows(db, owners, question, search) : noCandidates})
    select (select row_to_json(c) from conversation c) as conversation, o.revision::float8 as revision,
      o.trimmed_to::float8 as "trimmedTo", c.change_count as "changeCount", c.changes, c.consents, ${unreadMessages(db, request)} as unread,
      ${schema}.told_news_1(o.ids, o.own, ${appId}, (select epoch -> 'news' from conversation), ${db.now()}) as told,
      ${search ? isBroadQuestion(db, question.terms) : sql`true`} as broad,
      coalesce((select known::int from known limit 1), 0) as "knownCount",
      coalesce((select is_cut from known limit 1), false) as "knownCut",
      ${foundMemories} as found, (
        select coalesce(json_agg(json_build_array(l.list, l.refs)), '[]')
        from (select list, json_agg(ref order by place) as refs from listed group by list) l
      ) as listed,
      ${memoriesOf(
        db,
        sql`select ref from listed union ${candidateRefs}
        union select m.ref from ${schema}.memory m where m.id = any (array(select unnest(shown_ids) from conversation))`,
        sql`, ${earlierValue(db)}`,
      )} as memories
    from owner o cross join ${schema}.thread_changes_1(
      o.ids, o.own, (select rev_seen::bigint from conversation),
      (select shown_ids from conversation), ${known.categories}::text[], ${filter.trusts}::text[], ${tenantId}, ${appId},
      ${threadId}, ${shownChanges}, ${request.consents}, ${db.now()}
    ) c`;
}

/** The last value of slot `m` that is more than a day older. */
export function earlierValue({ schema }: Connection) {
  return sql`case when m.key is not null then (
          select p.value from ${schema}.memory p
          where p.owner_ref = m.owner_ref and ${isId(sql`p.app_id`, sql`m.app_id`)} and p.category = m.category and p.key = m.key
            and p.state = 'superseded' and p.valid_from < m.valid_from - interval '1 day'
          order by p.valid_from desc limit 1
        ) end`;
}

export function changeOf(row: ChangeRow, timeZone: string): RecalledChange {
  const { importance: _, instead: __, doubtedAt, ...change } = row;
  return { ...change, line: toldLine(row, timeZone), isDoubted: doubtedAt !== null };
}

/** The line of an unread message, with its day: "tomorrow" is of that day. */
export function unreadLine({ text, saidAt }: UnreadMessage, timeZone: string): string {
  const words = containedLine(clipped(text, unreadCharacters));
  return saidAt === null
    ? words
    : `${words} (said on ${fullDay(dayIn(new Date(saidAt), timeZone))})`;
}

/** No fact is longer. */
const unreadCharacters = 280;

/** Messages read for each one that is shown: questions are left out. */
const readPerShown = 3;

/**
 * What the user said in other threads, where a prompt begins: it does not wait for extraction,
 * whatever delays that.
 */
function unreadMessages(
  db: Connection,
  { scope, threadId, unread }: Pick<RecallRequest, "scope" | "threadId" | "unread">,
) {
  const { schema } = db;
  if (unread === 0) return sql`'[]'::json`;
  return sql`(
        select coalesce(json_agg(
          json_build_object('place', json_build_array(u.thread_ref, u.seq), 'text', u.words, 'saidAt', u.said_at) order by u.created_at, u.thread_ref, u.seq
        ), '[]') from (
          select m.thread_ref, m.seq, left(m.content, 2000) as words, m.said_at, m.created_at
          from ${schema}.thread t
          join ${schema}.work k on k.thread_ref = t.id and k.kind = 'facts'
          join ${schema}.message m on m.thread_ref = t.id and m.seq > k.done_until and m.role = 'user'
          where t.owner_ref = o.own and t.app_id = ${scopeColumns(scope).appId} and t.thread_id <> ${threadId}
            and (select epoch from conversation) is null
          order by m.created_at desc, m.thread_ref desc, m.seq desc limit ${unread * readPerShown}
        ) u
      )`;
}

function noteRows(
  db: Connection,
  categories: readonly string[],
  { trusts }: StoreFilter,
  most: number,
) {
  return sql`
            union all
            select 'note', n.ref, row_number() over (order by n.is_operators desc, n.updated_at desc, n.ref)
            from (
              select m.ref, m.updated_at, m.trust = 'operator' as is_operators from ${db.schema}.memory m
              where m.owner_ref = (select app from owner) and m.kind = 'note' and m.state = 'active' and ${unexpired(db)}
                and m.category = any (${categories}::text[]) and (${trusts}::text[] is null or m.trust = any (${trusts}::text[]))
              order by m.trust = 'operator' desc, m.updated_at desc, m.ref limit ${most}
            ) n`;
}
