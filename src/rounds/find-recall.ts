import sql, { empty } from "sql-template-tag";
import type { PendingConsent } from "../consents/consent-lines.js";
import { pendingConsents } from "../consents/consent-rows.js";
import {
  type Conversation,
  type ConversationAddress,
  type ConversationRow,
  conversationOf,
  conversationRow,
} from "../conversation/find-conversation.js";
import type { ChangeEvent } from "../memories/changes/change-line.js";
import type { MemoryItem } from "../memories/item/memory.js";
import { memoryJson, memoryOf } from "../memories/item/memory-row.js";
import type { Connection } from "../postgres/connection.js";
import { candidatesOf, type FoundMemory, type MemoryCandidate, memoryHits } from "../search/memory-hits.js";
import type { HitSelection } from "../search/memory-signals.js";
import { type LexicalQuestion, questionTerms, seers } from "../search/question-terms.js";

/** What one recall asks for. */
export interface RecallStatement {
  readonly address: ConversationAddress;
  readonly question: LexicalQuestion;
  /** Null when nothing is asked: then only what is always shown is found. */
  readonly selection: HitSelection | null;
  readonly profile: {
    /** Slots, and news, are shown from these. */
    readonly categories: readonly string[];
    /** Of these, free statements as well. */
    readonly shownWhole: readonly string[];
    readonly minImportance: number;
    readonly limit: number;
  };
  readonly notes: number;
  readonly changes: number;
  readonly consents: number;
}

/** A line of the delta header. */
export interface RecalledChange {
  readonly rev: number;
  readonly event: ChangeEvent;
  readonly line: string;
}

/** All that one recall found. */
export interface RecallResult {
  /** Undefined for a thread not seen before, null for another scope's: then nothing else was read. */
  readonly conversation: Conversation | null | undefined;
  /** Revision of the owner's memories. */
  readonly revision: number;
  /** The revision the thread was last told of. */
  readonly revSeen: number;
  readonly changeCount: number;
  /** The most important changes since, most important first. */
  readonly changes: readonly RecalledChange[];
  /** Most important first. */
  readonly profile: readonly MemoryItem[];
  /** The app's notes, latest first. */
  readonly notes: readonly MemoryItem[];
  readonly candidates: readonly MemoryCandidate[];
  /** What waits for the user's consent, newest first. */
  readonly consents: readonly PendingConsent[];
}

interface Row {
  conversation: ConversationRow | null;
  revision: number | null;
  trimmed_to: number | null;
  change_count: number;
  changes: RecalledChange[];
  memories: FoundMemory[];
  consents: PendingConsent[];
}

/** Everything the prompt of a turn needs, in one round trip. @throws MemoryError `DATABASE_TIMEOUT` after `timeoutMs` */
export async function findRecall(
  db: Connection,
  input: RecallStatement,
  timeoutMs: number,
): Promise<RecallResult> {
  const { schema } = db;
  const { profile } = input;
  const appId = input.question.scope.appId ?? "";
  const inProfile = sql`m.kind = 'fact' and m.app_id in ('', ${appId}) and m.importance >= ${profile.minImportance}`;
  // Of another scope's thread, nothing else is read either.
  const allowed = sql`coalesce((select owned from conversation), true)`;
  const notes = sql`
    union all
    select 'note', m.ref, to_json(row_number() over (order by m.updated_at desc)), ${memoryJson(db)}
    from (
      select m.* from ${schema}.memory m
      where m.owner_ref = (select id from seer where not is_user) and m.kind = 'note' and m.state = 'active'
        and m.category = any (${profile.categories}::text[])
      order by m.updated_at desc limit ${input.notes}
    ) m`;
  const [row] = await db.query<Row>(
    sql`
    with conversation as materialized (${conversationRow(db, input.address)}),
    ${input.selection ? questionTerms(db, input.question, allowed) : seers(db, input.question.scope, allowed)},
    own as materialized (select id, revision, changes_trimmed_to from seer order by is_user desc limit 1),
    ${input.selection ? sql`${memoryHits(db, input.selection)},` : empty}
    slot as (
      select m.* from seer s join ${schema}.memory m on m.owner_ref = s.id
      where m.state = 'active' and m.key is not null and m.category = any (${profile.categories}::text[]) and ${inProfile}
      union all
      select w.* from seer s cross join unnest(${profile.shownWhole}::text[]) as whole (category)
      cross join lateral (
        select m.* from ${schema}.memory m
        where m.owner_ref = s.id and m.category = whole.category and m.state = 'active' and m.key is null and ${inProfile}
        order by m.importance desc, m.updated_at desc limit ${profile.limit}
      ) w
    ),
    listed as (
      select 'profile' as list, m.ref::float8 as ref,
        to_json(row_number() over (order by m.importance desc, m.updated_at desc)) as signals, ${memoryJson(db)} as memory
      from (select * from slot order by importance desc, updated_at desc limit ${profile.limit}) m
      ${appId === "" ? empty : notes}
      ${input.selection ? sql`union all select list, ref, signals, memory from found` : empty}
    ),
    change as (
      select c.rev, c.event, c.line, c.importance
      from own join ${schema}.change_log c on c.owner_ref = own.id
      where c.rev > (select rev_seen::bigint from conversation) and c.category = any (${profile.categories}::text[])
        and c.app_id in ('', ${appId})
    ),
    consent as (${pendingConsents(db, { appId, categories: profile.categories, limit: input.consents })})
    select
      (select row_to_json(c) from conversation c) as conversation,
      (select revision from own)::float8 as revision,
      (select changes_trimmed_to from own)::float8 as trimmed_to,
      (select count(*) from change)::int as change_count,
      coalesce((
        select json_agg(json_build_object('rev', rev, 'event', event, 'line', line)) from (
          select * from change order by importance desc, rev desc limit ${input.changes}
        ) c
      ), '[]') as changes,
      coalesce((select json_agg(f) from listed f), '[]') as memories,
      coalesce((select json_agg(c) from consent c), '[]') as consents`,
    { prepare: true, timeoutMs },
  );
  const found = row as Row;
  return {
    conversation: conversationOf(found.conversation),
    revision: found.revision ?? 0,
    // A new thread is told of no changes: all that is known is news to it.
    revSeen: Math.max(found.conversation?.rev_seen ?? found.revision ?? 0, found.trimmed_to ?? 0),
    changeCount: found.change_count,
    changes: found.changes,
    profile: listOf(found.memories, "profile"),
    notes: listOf(found.memories, "note"),
    candidates: candidatesOf(found.memories),
    consents: found.consents,
  };
}

/** The memories of one list, in its order. */
function listOf(rows: readonly FoundMemory[], name: string): MemoryItem[] {
  return rows
    .filter(({ list }) => list === name)
    .toSorted((first, second) => Number(first.signals) - Number(second.signals))
    .map(({ memory }) => memoryOf(memory));
}
