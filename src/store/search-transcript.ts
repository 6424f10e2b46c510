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
    ${memoryScores(db)},
    ${messageScores(db, { appId: input.scope.appId ?? "", facts: true, most: input.limit * matchesPerCandidate })},
    said as materialized (
      select thread_ref, c.seq, c.own, c.score as fit, c.score + ${weights.thread}::float8 * coalesce(h.score, 0) as score
      from message_context c full join thread_own h using (thread_ref)
    ),
    best as materialized (
      select c.* from said c
      where c.seq is not null and (${input.threadId ?? null}::text is null or exists (
        select from ${schema}.thread t where t.id = c.thread_ref and t.thread_id = ${input.threadId ?? null}
      ))
      order by c.score desc, c.thread_ref, c.seq
      limit ${input.limit * unspokenShare}
    ),
    -- Apart from the thread: joined at once, all messages of a thread may be read for each that is wanted.
    spoken as materialized (
      select b.*, m.message_id, m.role, m.actor, m.content, m.said_at
      from best b join ${schema}.message m on m.thread_ref = b.thread_ref and m.seq = b.seq
      where m.role in ('user', 'assistant')
    )
    select t.thread_id as "threadId", s.seq, s.message_id as "messageId", s.role, s.actor, s.content as text,
      s.said_at as "saidAt", s.own, s.fit, s.score
    from spoken s join ${schema}.thread t on t.id = s.thread_ref
    order by s.score desc, s.said_at desc, s.seq
    limit ${input.limit}`,
    { prepare: true },
  );
}
