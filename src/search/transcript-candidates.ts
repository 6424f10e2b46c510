import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { isId } from "../scope/scope-predicates.js";
import type { MessageRole } from "../text/message-text.js";
import { messageScores } from "./message-scores.js";
import type { TimeSpan } from "./question-dates.js";
import { type LexicalQuestion, questionTerms } from "./question-terms.js";
import { retrievalWeights as weights } from "./retrieval-weights.js";
import { memoryScores } from "./word-scores.js";

/** A message that may answer a question. */
export interface TranscriptCandidate {
  readonly threadId: string;
  readonly seq: number;
  readonly messageId: string;
  readonly role: MessageRole;
  readonly actor: string | null;
  readonly text: string;
  readonly saidAt: Date;
  /** How well it fits with what was said around it and learned from it, 0 to 1. */
  readonly fit: number;
  /** How well it fits alone, 0 to 1. */
  readonly own: number;
  /** `fit` and what its whole thread adds. */
  readonly score: number;
}

/** Best messages looked at with their neighbours, for each candidate. */
const matchesPerCandidate = 8;

/**
 * The messages of a user's (in an app: of that app's) threads that fit the question best, or were said at a time that
 * it names, best first.
 *
 * @param input.threadId only this thread.
 * @param input.spans the times that the question names.
 * @param input.limit candidates for the final ranking.
 */
export async function searchTranscript(
  db: Connection,
  input: LexicalQuestion & { threadId?: string | undefined; spans: readonly TimeSpan[]; limit: number },
): Promise<TranscriptCandidate[]> {
  const { schema } = db;
  const appId = input.scope.appId ?? "";
  const threadId = input.threadId ?? null;
  const most = input.limit * matchesPerCandidate;
  const inThread = threadId === null ? undefined : isId(sql`h.thread_id`, threadId);
  return db.query<TranscriptCandidate>(
    sql`
    with ${questionTerms(db, input)},
    ${memoryScores(db)},
    ${messageScores(db, { appId, inThread, facts: true, most })},
    ${datedMessages(db, appId, inThread, input.spans)}
    said as materialized (
      select thread_ref, seq, coalesce(c.own, 0) as own, coalesce(c.score, 0) as fit,
        coalesce(c.score, 0) + ${weights.thread}::float8 * coalesce(h.score, 0) as score,
        coalesce(d.boost, 0) as boost
      from message_context c
      full join dated d using (thread_ref, seq)
      full join thread_own h using (thread_ref)
    ),
    best as (
      -- Neighbours of what fits may be no messages, or tool output: messages are looked up until there are enough.
      select s.*, m.message_id, m.role, m.actor, m.content, m.said_at
      from (select * from said where seq is not null order by score + boost desc, thread_ref, seq) s
      cross join lateral (
        select * from ${schema}.message m
        where m.thread_ref = s.thread_ref and m.seq = s.seq and m.role in ('user', 'assistant') limit 1
      ) m
      order by s.score + s.boost desc, s.thread_ref, s.seq
      limit ${input.limit}
    )
    select (select t.thread_id from ${schema}.thread t where t.id = b.thread_ref) as "threadId", b.seq,
      b.message_id as "messageId", b.role, b.actor, b.content as text, b.said_at as "saidAt", b.own, b.fit, b.score
    from best b
    order by b.score + b.boost desc, b.said_at desc, b.seq`,
    { prepare: true },
  );
}

/** CTE `dated`: what was said at one of the times asked about, and what that adds to its rank. No row is read without one. */
function datedMessages(
  db: Connection,
  appId: string,
  inThread: Sql | undefined,
  spans: readonly TimeSpan[],
): Sql {
  return sql`dated as materialized (
    select m.thread_ref, m.seq, ${weights.date}::float8 as boost
    from ${db.schema}.thread h join ${db.schema}.message m on m.thread_ref = h.id
    where ${spans.length > 0}::boolean and h.owner_ref in (select id from seer) ${appId === "" ? empty : sql`and h.app_id = ${appId}`}
      and ${inThread ?? sql`true`}
      and m.role in ('user', 'assistant') and m.said_at <@ ${multirange(spans)}::tstzmultirange
  ),`;
}

function multirange(spans: readonly TimeSpan[]): string {
  return `{${spans.map(({ from, before }) => `[${from.toISOString()},${before.toISOString()})`).join()}}`;
}
