import sql, { type Sql } from "sql-template-tag";
import { findWaitingConsents } from "../memories/consent/consent-statements.js";
import { trustOf } from "../memories/item/memory.js";
import { isActive } from "../memories/item/memory-row.js";
import { withoutReminders } from "../messages/inserted-message.js";
import { insertEvent } from "../observability/events/event-log.js";
import { createPauses } from "../pauses.js";
import type { Connection } from "../postgres/connection.js";
import { ownerIs, type ScopeRow, scopeOf } from "../scope/scope-predicates.js";
import { withoutMemoryBlocks } from "../screening/contained-text.js";
import { noFilter } from "../search/memory-filter.rule.js";
import { questionTerms, questionVector } from "../search/read-question.js";
import { searchMemories } from "../search/search-memories.js";
import { asksSomething } from "../text/asks-only.js";
import { isSubstantive } from "../text/is-substantive.js";
import { headOf, visibleText } from "../text/storable-text.js";
import { limitMaterial } from "../work/limit-material.js";
import type { ThreadWork } from "../work/work-definition.js";
import { type Claim, deferWork, hasLease, type NoWork, skipWork } from "../work/work-table.js";
import { type FactsRuntime, factsActor, type KnownMemory } from "./choose-facts.rule.js";
import type { RemovedFact } from "./removed-facts.rule.js";

export interface ExtractionMessage {
  readonly seq: number;
  readonly text: string;
  readonly actor: string | null;
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly saidAt: Date;
  readonly timeZone: string;
  /** The assistant's last message before it. */
  readonly before: string | null;
  /** Beginnings of what tools, and others in the user's place, wrote shortly before it. */
  readonly toolResults: readonly string[];
  readonly turnsAgo: number;
}

export interface ExtractionWork extends ThreadWork {
  readonly ownerRef: number;
  readonly messages: ExtractionMessage[];
  /** Existing memories for the prompt, the most similar first. */
  readonly known: KnownMemory[];
  /** Removed since the first message, latest first. */
  readonly removed: RemovedFact[];
  /** Facts written for the owner in the last 24 hours. */
  readonly writtenToday: number;
  /** When `writesPerDay` allows the next one; null: now. */
  readonly allowedAt: Date | null;
}

const embeddedCharacters = 10_000;
/** After a failure one, so that a single bad message does not block others. */
const messagesPerJob = 10;
/** A user has 10 to 50 lasting facts: mostly all are shown. */
const maxKnown = 50;
const maxSimilar = 25;
const maxWaiting = 20;
/** What a user's "thanks" may be an answer to: some ten turns. */
const messagesBefore = 50;
const maxResults = 10;
const resultCharacters = 4_000;
/** Mostly none: they matter for retries and late work. */
const maxRemoved = 500;

/**
 * Prepares one job of `found`. Ends it without a substantive message; the owner's daily cap defers
 * it.
 */
export async function prepareExtraction(
  deps: FactsRuntime,
  claim: Claim,
  found: ExtractionWork,
): Promise<ExtractionWork | NoWork> {
  const messages: ExtractionMessage[] = [];
  const pause = createPauses();
  for (const message of found.messages) {
    await pause();
    const visible = visibleText(message.text);
    await pause();
    // Recalled memories are not new statements, and reminders are not the user's.
    messages.push({ ...message, text: withoutReminders(withoutMemoryBlocks(visible)) });
  }
  await pause();
  const work = { ...found, messages };
  const { scope, threadId, allowedAt } = work;
  if (!messages.some(({ text, before }) => isSubstantive(text, asksSomething(before ?? "")))) {
    // Not worth a model call: later messages are read with them.
    return skipWork(
      deps.db,
      claim,
      work.more ? work : { doneUntil: claim.doneUntil },
      "nothing_new",
    );
  }
  if (allowedAt === null) return withSimilar(deps, await limitExtraction(deps, work));
  await deferWork(deps.db, claim, allowedAt);
  deps.logger.debug(
    `Work "facts" of ${threadId} waits for the daily cap until ${allowedAt.toISOString()}`,
  );
  const event = { scope, threadId, step: "facts", op: "create" } as const;
  await insertEvent(deps.db, { ...event, status: "skipped", detail: "daily_cap" });
  return "deferred";
}

/** Limits `work` to one job; the next job takes the remaining messages. */
async function limitExtraction(deps: FactsRuntime, work: ExtractionWork): Promise<ExtractionWork> {
  const { scope, threadId } = work;
  const event = { scope, threadId, step: "facts" } as const;
  const { messages, taken } = await limitMaterial(
    deps,
    event,
    work.messages,
    deps.config.upkeep,
    () => true,
  );
  const doneUntil = messages.at(-1)?.seq ?? work.doneUntil;
  return { ...work, messages, doneUntil, more: work.more || taken < work.messages.length };
}

/** Puts the most similar existing memories first, and adds those that wait for consent. */
async function withSimilar(deps: FactsRuntime, work: ExtractionWork): Promise<ExtractionWork> {
  const { db, config } = deps;
  const { scope, ownerRef, messages } = work;
  const text = messages.map((message) => message.text).join("\n");
  const vector = await questionVector(deps, headOf(text, embeddedCharacters));
  const terms = questionTerms(text);
  const question = { text, terms, spans: [], floorFactor: 1, isNamed: () => false, vector };
  const categories = [...config.policy.categories.keys()];
  const visible = { scope, kinds: ["fact", "insight"], categories, filter: noFilter } as const;
  const { candidates } = await searchMemories(db, question, {
    ...visible,
    maxCandidates: maxSimilar,
    maxHits: 0,
  });
  const similar = candidates
    .map(({ memory }) => memory)
    .filter((memory) => memory.scope.userId === scope.userId);
  const known = new Map(
    [...similar, ...work.known].map(({ id, category, key, value, text, origin, trust }) => [
      id,
      { id, category, key, value, text, origin, trust },
    ]),
  );
  const waiting = await findWaitingConsents(db, { ownerRef, scope, limit: maxWaiting });
  return {
    ...work,
    known: [
      ...[...known.values()].slice(0, maxKnown),
      ...waiting.map((request) => ({ ...request, trust: trustOf(request.origin), waits: true })),
    ],
  };
}

interface ExtractionRow extends ScopeRow, Record<string, unknown> {
  thread_id: string;
  owner_ref: string;
  messages: (Omit<ExtractionMessage, "saidAt"> & { saidAt: number })[];
  pending: number;
  known: KnownMemory[];
  removed: (Omit<RemovedFact, "removedAt"> & { removedAt: string })[];
  written: number;
  allowed_at: Date | null;
}

/** One round trip; null if the claim was lost. */
export async function findExtractionWork(
  { db, config }: FactsRuntime,
  claim: Claim,
): Promise<ExtractionWork | null> {
  const statement = extractionStatement(db, claim, config.memories.writesPerDay);
  const [row] = await db.query<ExtractionRow>(statement, { prepare: true });
  return row ? workOf(row, claim) : null;
}

function extractionStatement(db: Connection, claim: Claim, writesPerDay: number): Sql {
  const { schema } = db;
  const messages = claim.attempt === 1 ? messagesPerJob : 1;
  return sql`
  with thread as (
    select t.*, o.id as owner from ${schema}.work k
    join ${schema}.thread t on t.id = k.thread_ref
    join ${schema}.owner o
      on ${ownerIs({
        tenantId: sql`t.tenant_id`,
        userId: sql`t.user_id`,
        appId: sql`case when t.user_id = '' then t.app_id else '' end`,
      })}
    where ${hasLease(claim)}
  ),
  pending as (
    select m.seq, m.content, m.actor, m.agent_id, m.run_id, m.said_at, m.time_zone, row_number() over (order by m.seq) as position,
      count(*) over () as total
    from thread t join ${schema}.message m
      on m.thread_ref = t.id and m.role = 'user' and m.seq > ${claim.doneUntil}
  ),
  written as (
    -- Closed or refused memories are not writes.
    select h.created_at, row_number() over (order by h.created_at desc) as position
    from thread t join ${schema}.history h
      on h.owner_ref = t.owner and h.created_at > ${db.now()} - interval '1 day' and h.actor = ${factsActor}
      and h.event in ('ADD', 'MERGE', 'UPDATE') and not h.new ?| array['supersededBy', 'refused']
  ),
  known as (
    select m.id, m.category, m.key, m.value, m.content as text, m.origin, m.trust, row_number() over (
        order by m.key is null, m.importance desc, m.updated_at desc
      ) as place
    from thread t join ${schema}.memory m
      on m.owner_ref = t.owner and m.kind = 'fact' and ${isActive(db)}
      and m.app_id in ('', t.app_id)
    order by place limit ${maxKnown}
  ),
  removed as (
    -- Without expired memories, and those forgotten by age. Purged ones have a history only.
    select h.created_at, h.old, m.key, m.evidence, case when m.thread_ref = t.id then m.source_seqs else '{}' end as seqs
    from thread t cross join lateral (
      select h.created_at, h.memory_id, h.old from ${schema}.history h
      where h.owner_ref = t.owner and h.event = 'DELETE' and h.new ->> 'state' = 'soft_deleted'
        and h.app_id in ('', t.app_id)
        and h.created_at > (select min(p.said_at) from pending p where p.position <= ${messages})
      order by h.created_at desc limit ${maxRemoved}
    ) h
    left join ${schema}.memory m on m.id = h.memory_id and m.owner_ref = t.owner
    where m.state is distinct from 'active'
  )
  select t.tenant_id, t.user_id, t.app_id, t.thread_id, t.owner as owner_ref,
    (select coalesce(json_agg(json_build_object(
      'seq', p.seq, 'text', p.content, 'actor', p.actor, 'agentId', p.agent_id, 'runId', p.run_id,
      'saidAt', date_part('epoch', p.said_at) * 1000, 'timeZone', p.time_zone, 'turnsAgo', p.total - p.position,
      'before', (
        select a.content from ${schema}.message a
        where a.thread_ref = t.id and a.seq < p.seq and a.role = 'assistant' order by a.seq desc limit 1
      ),
      'toolResults', array(
        select left(r.content, ${resultCharacters}) from ${schema}.message r
        where r.thread_ref = t.id and r.seq >= p.seq - ${messagesBefore} and r.seq < p.seq and r.role in ('tool', 'other')
        order by r.seq desc limit ${maxResults}
      )
    ) order by p.seq), '[]') from pending p where p.position <= ${messages}) as messages,
    (select count(*) from pending)::int as pending,
    (select coalesce(json_agg(json_build_object(
      'id', id, 'category', category, 'key', key, 'value', value, 'text', text, 'origin', origin, 'trust', trust
    ) order by place), '[]') from known) as known,
    (select coalesce(json_agg(json_build_object(
      'category', old ->> 'category', 'key', key, 'value', old ->> 'value', 'text', old ->> 'text',
      'removedAt', created_at, 'quote', evidence, 'seqs', seqs
    ) order by created_at desc), '[]') from removed) as removed,
    (select count(*) from written)::int as written,
    (select created_at + interval '1 day' from written where position = ${writesPerDay}) as allowed_at
  from thread t`;
}

function workOf(row: ExtractionRow, { doneUntil }: Claim): ExtractionWork {
  return {
    scope: scopeOf(row),
    threadId: row.thread_id,
    ownerRef: Number(row.owner_ref),
    messages: row.messages.map((message) => ({ ...message, saidAt: new Date(message.saidAt) })),
    doneUntil: row.messages.at(-1)?.seq ?? doneUntil,
    more: row.pending > row.messages.length,
    known: row.known,
    removed: row.removed.map((fact) => ({ ...fact, removedAt: new Date(fact.removedAt) })),
    writtenToday: row.written,
    allowedAt: row.allowed_at,
  };
}
