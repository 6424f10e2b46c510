import sql from "sql-template-tag";
import { type Deps, limitMaterial } from "../jobs/limit-material.js";
import type { ThreadTaskClaim } from "../jobs/thread-task.js";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { ownerIs, scopeOf } from "../scope/scope-predicates.js";
import type { PieceBounds } from "../text/text-pieces.js";
import type { KnownSlot } from "./choose-facts.js";

/** A user's message whose facts have not been extracted. */
export interface ExtractionMessage {
  readonly seq: number;
  readonly text: string;
  /** The speaker's name, where the message carries one. */
  readonly actor: string | null;
  /** The agent and the run that it was said in, where they are known. */
  readonly agentId: string | null;
  readonly runId: string | null;
  readonly saidAt: Date;
  /** What the assistant had said last; null when it had said nothing. */
  readonly before: string | null;
  /** How many turns of the thread ago it was said. */
  readonly turnsAgo: number;
}

/** All that is needed to extract facts from a thread. */
export interface ExtractionWork {
  readonly scope: Scope;
  readonly threadId: string;
  readonly ownerRef: number;
  /** The oldest of those not yet extracted, in order. */
  readonly messages: ExtractionMessage[];
  /** Whether the thread has more of them. */
  readonly more: boolean;
  /** Slots that are taken, most important first. */
  readonly known: KnownSlot[];
  /** Facts that extraction wrote for the owner in the last 24 hours. */
  readonly writtenToday: number;
  /** When there will be fewer than `writesPerDay` of them; null when there are. */
  readonly allowedAt: Date | null;
}

interface Row {
  tenant_id: string;
  user_id: string;
  app_id: string;
  thread_id: string;
  owner_ref: string;
  messages: (Omit<ExtractionMessage, "saidAt"> & { saidAt: string })[];
  pending: number;
  known: KnownSlot[];
  written: number;
  allowed_at: Date | null;
}

/**
 * The work behind `claim`, in one round trip; null when the claim was lost.
 *
 * @param limits.actor who writes extracted facts, as the audit trail has it.
 */
export async function findExtractionWork(
  db: Connection,
  claim: ThreadTaskClaim,
  limits: { messages: number; known: number; writesPerDay: number; actor: string },
): Promise<ExtractionWork | null> {
  const { schema } = db;
  const [row] = await db.query<Row>(sql`
    with thread as (
      select t.*, o.id as owner from ${schema}.thread_task k
      join ${schema}.thread t on t.id = k.thread_ref
      join ${schema}.owner o
        on ${ownerIs({
          tenantId: sql`t.tenant_id`,
          userId: sql`t.user_id`,
          appId: sql`case when t.user_id = '' then t.app_id else '' end`,
        })}
      where k.thread_ref = ${claim.threadRef} and k.task = 'extract' and k.attempts = ${claim.attempt}
        and k.done_until = ${claim.doneUntil} and k.lease_until is not null
    ),
    pending as (
      select m.seq, m.content, m.actor, m.agent_id, m.run_id, m.said_at, row_number() over (order by m.seq) as position,
        count(*) over () as total
      from thread t join ${schema}.message m
        on m.thread_ref = t.id and m.role = 'user' and m.seq > ${claim.doneUntil}
    ),
    written as (
      -- What it closed or refused is no write.
      select h.created_at, row_number() over (order by h.created_at desc) as position
      from thread t join ${schema}.history h
        on h.owner_ref = t.owner and h.created_at > ${db.now()} - interval '1 day' and h.actor = ${limits.actor}
        and h.event in ('ADD', 'MERGE', 'UPDATE') and not h.new ?| array['supersededBy', 'refused']
    ),
    known as (
      select m.category, m.key, m.value, m.content as text, m.importance, m.updated_at
      from thread t join ${schema}.memory m
        on m.owner_ref = t.owner and m.kind = 'fact' and m.state = 'active' and m.key is not null
        and m.app_id in ('', t.app_id)
      order by m.importance desc, m.updated_at desc limit ${limits.known}
    )
    select t.tenant_id, t.user_id, t.app_id, t.thread_id, t.owner as owner_ref,
      (select coalesce(json_agg(json_build_object(
        'seq', p.seq, 'text', p.content, 'actor', p.actor, 'agentId', p.agent_id, 'runId', p.run_id,
        'saidAt', p.said_at, 'turnsAgo', p.total - p.position,
        'before', (
          select a.content from ${schema}.message a
          where a.thread_ref = t.id and a.seq < p.seq and a.role = 'assistant' order by a.seq desc limit 1
        )
      ) order by p.seq), '[]') from pending p where p.position <= ${limits.messages}) as messages,
      (select count(*) from pending)::int as pending,
      (select coalesce(json_agg(json_build_object(
        'category', category, 'key', key, 'value', value, 'text', text
      ) order by importance desc, updated_at desc), '[]') from known) as known,
      (select count(*) from written)::int as written,
      (select created_at + interval '1 day' from written where position = ${limits.writesPerDay}) as allowed_at
    from thread t`);
  if (!row) return null;
  return {
    scope: scopeOf(row),
    threadId: row.thread_id,
    ownerRef: Number(row.owner_ref),
    messages: row.messages.map((message) => ({ ...message, saidAt: new Date(message.saidAt) })),
    more: row.pending > row.messages.length,
    known: row.known,
    writtenToday: row.written,
    allowedAt: row.allowed_at,
  };
}

/** `work` as far as `bounds` reach: the messages after that are left to the next piece of work. */
export async function limitExtraction(
  deps: Deps,
  work: ExtractionWork,
  bounds: PieceBounds,
): Promise<ExtractionWork> {
  const { scope, threadId, messages: all } = work;
  const of = { scope, threadId, step: "extract" } as const;
  const { messages, taken } = await limitMaterial(deps, of, all, bounds, () => true);
  return { ...work, messages, more: work.more || taken < all.length };
}
