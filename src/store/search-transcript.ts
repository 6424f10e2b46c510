import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { TimeSpan } from "../domain/question-dates.js";
import { retrievalWeights as weights } from "../domain/retrieval-weights.js";
import type { MessageRole } from "../domain/transcript-message.js";
import { memoryScores } from "./memory-scores.js";
import { messageScores } from "./message-scores.js";
import { type LexicalQuestion, questionTerms } from "./question-terms.js";
import { isId } from "./scope-columns.js";

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

/** Rows looked at for each candidate: neighbours of what fits may be no messages, or tool output. */
const unspokenShare = 2;

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
  const inThread = sql`(${threadId}::text is null or thread_ref in (
    select t.id from ${schema}.thread t where ${isId(sql`t.thread_id`, threadId)}
  ))`;
  return db.query<TranscriptCandidate>(
    sql`
    with ${questionTerms(db, input)},
    ${memoryScores(db)},
    ${messageScores(db, { appId, facts: true, most })},
    ${datedMessages(db, appId, input.spans)}
    said as materialized (
      select thread_ref, seq, coalesce(c.own, 0) as own, coalesce(c.score, 0) as fit,
        coalesce(c.score, 0) + ${weights.thread}::float8 * coalesce(h.score, 0) as score,
        coalesce(d.boost, 0) as boost
      from message_context c
      full join dated d using (thread_ref, seq)
      full join thread_own h using (thread_ref)
    ),
    best as materialized (
      select * from said
      where seq is not null and ${inThread}
      order by score + boost desc, thread_ref, seq
      limit ${input.limit * unspokenShare}
    )
    select (select t.thread_id from ${schema}.thread t where t.id = b.thread_ref) as "threadId", m.seq,
      m.message_id as "messageId", m.role, m.actor, m.content as text, m.said_at as "saidAt", b.own, b.fit, b.score
    from best b join ${schema}.message m on m.thread_ref = b.thread_ref and m.seq = b.seq
    where m.role in ('user', 'assistant')
    order by b.score + b.boost desc, m.said_at desc, m.seq
    limit ${input.limit}`,
    { prepare: true },
  );
}

/** CTE `dated`: what was said at one of the times asked about, and what that adds to its rank. No row is read without one. */
function datedMessages(db: Connection, appId: string, spans: readonly TimeSpan[]): Sql {
  return sql`dated as materialized (
    select m.thread_ref, m.seq, ${weights.date}::float8 as boost
    from ${db.schema}.thread t join ${db.schema}.message m on m.thread_ref = t.id
    where ${spans.length > 0}::boolean and t.owner_ref in (select id from seer) ${appId === "" ? empty : sql`and t.app_id = ${appId}`}
      and m.role in ('user', 'assistant') and m.said_at <@ ${multirange(spans)}::tstzmultirange
  ),`;
}

function multirange(spans: readonly TimeSpan[]): string {
  return `{${spans.map(({ from, before }) => `[${from.toISOString()},${before.toISOString()})`).join()}}`;
}
