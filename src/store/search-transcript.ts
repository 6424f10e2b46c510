import sql from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { retrievalWeights as weights } from "../domain/retrieval-weights.js";
import type { MessageRole } from "../domain/transcript-message.js";
import { type LexicalQuestion, memoryScores, messageScores, questionTerms } from "./lexical-scores.js";

/** A message that may answer a question. */
export interface TranscriptCandidate {
  readonly threadId: string;
  readonly seq: number;
  readonly messageId: string;
  readonly role: MessageRole;
  readonly actor: string | null;
  readonly text: string;
  readonly saidAt: Date;
  /** Weighted sum of the message's own score, its neighbours', its thread's and its facts'. */
  readonly score: number;
  /** The same for the message alone, 0 to 1. */
  readonly own: number;
}

/**
 * The messages of a user's (in an app: of that app's) threads that fit the question best, best first.
 *
 * @param input.threadId only this thread.
 * @param input.limit candidates for the final ranking.
 */
export async function searchTranscript(
  db: Connection,
  input: LexicalQuestion & { threadId?: string | undefined; limit: number },
): Promise<TranscriptCandidate[]> {
  const { schema } = db;
  return db.query<TranscriptCandidate>(
    sql`
    with ${questionTerms(db, input)},
    ${messageScores(db, input.scope.appId ?? "")},
    ${memoryScores(db)},
    fact as (
      select m.thread_ref, cited.seq, max(o.score) as score
      from memory_own o join ${schema}.memory m on m.ref = o.ref
      cross join lateral unnest(m.source_seqs) as cited (seq)
      where m.thread_ref is not null and m.kind = 'fact'
      group by m.thread_ref, cited.seq
    ),
    scored as (
      select thread_ref, seq, sum(score) as score, max(own) as own from (
        select thread_ref, seq, score, own from message_context
        union all
        select thread_ref, seq, score * ${weights.fact}::float8, 0 from fact
      ) signal
      group by thread_ref, seq
    )
    select t.thread_id as "threadId", m.seq, m.message_id as "messageId", m.role, m.actor, m.content as text,
      m.said_at as "saidAt", s.own::float8 as own,
      s.score + ${weights.thread}::float8 * coalesce(h.score, 0) as score
    from scored s
    join ${schema}.message m on m.thread_ref = s.thread_ref and m.seq = s.seq and m.role in ('user', 'assistant')
    join ${schema}.thread t on t.id = s.thread_ref
    left join thread_own h on h.thread_ref = s.thread_ref
    where ${input.threadId ?? null}::text is null or t.thread_id = ${input.threadId ?? null}
    order by score desc, m.said_at desc, m.seq
    limit ${input.limit}`,
    { prepare: true },
  );
}
