import sql, { empty, type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { isId } from "../scope/scope-predicates.js";
import type { MessageRole } from "../text/message-text.js";
import { type Cte, cte, float } from "./composed-statement.js";
import { messageScores } from "./message-scores.js";
import { questionTerms, type SeenOwners, seenOwners } from "./question-terms.js";
import type { Question } from "./read-question.js";
import { retrievalWeights as weights } from "./retrieval-options.js";
import { memoryScores } from "./word-scores.js";

export interface TranscriptCandidate {
  readonly threadId: string;
  readonly seq: number;
  readonly messageId: string;
  readonly role: MessageRole;
  readonly actor: string | null;
  readonly text: string;
  readonly saidAt: Date;
  /** How well it fits with its neighbours and the facts learned from it, 0 to 1. */
  readonly fit: number;
  /** How well it fits alone, 0 to 1. */
  readonly own: number;
  /** `fit` and what its whole thread adds. */
  readonly score: number;
}

/** Candidates, best first: messages that fit the question, or were said at a time that it names. */
export async function searchTranscript(
  db: Connection,
  question: Question,
  input: { readonly scope: Scope; readonly threadId?: string | undefined; readonly limit: number },
): Promise<TranscriptCandidate[]> {
  const { schema } = db;
  const { scope, threadId, limit } = input;
  const appId = scope.appId ?? "";
  const inThread = threadId === undefined ? undefined : isId(sql`h.thread_id`, threadId);
  const { ctes, owners } = seenOwners(db, scope);
  const { ctes: termCtes, terms } = questionTerms(db, owners, question);
  const asked = { owners, terms };
  const memories = memoryScores(db, asked);
  // Best messages looked at with their neighbours: eight for each candidate.
  const scores = messageScores(db, asked, {
    ...{ appId, inThread, factWeights: memories.weights, most: sql`${limit}::int * 8` },
  });
  const dated = datedMessages(db, owners, { appId, inThread, question });
  return db.query<TranscriptCandidate>(
    sql`
    with ${ctes},${termCtes},${memories.ctes},${scores.ctes},${dated.ctes},
    -- Messages that fit or were said at a time asked about, and threads that fit as a whole.
    fitting as materialized (
      select thread_ref, seq, coalesce(c.own, 0) as own, coalesce(c.score, 0) as fit,
        coalesce(c.score, 0) + ${float(weights.thread)} * coalesce(h.score, 0) as score,
        coalesce(d.boost, 0) as boost
      from ${scores.messages} c
      full join ${dated.messages} d using (thread_ref, seq)
      full join ${scores.threads} h using (thread_ref)
    ),
    -- The best. Neighbours of what fits may be no messages, or tool output: messages are looked up until there are enough.
    best as (
      select s.*, m.message_id, m.role, m.actor, m.content, m.said_at
      from (
        select * from fitting
        where seq is not null and (thread_ref, seq) not in (select thread_ref, seq from ${scores.forgotten})
        order by score + boost desc, thread_ref, seq
      ) s
      cross join lateral (
        select * from ${schema}.message m
        where m.thread_ref = s.thread_ref and m.seq = s.seq and m.role in ('user', 'assistant') limit 1
      ) m
      order by s.score + s.boost desc, s.thread_ref, s.seq
      limit ${limit}
    )
    select (select t.thread_id from ${schema}.thread t where t.id = b.thread_ref) as "threadId", b.seq,
      b.message_id as "messageId", b.role, b.actor, b.content as text, b.said_at as "saidAt", b.own, b.fit, b.score
    from best b
    order by b.score + b.boost desc, b.said_at desc, b.seq, b.thread_ref`,
    { prepare: true },
  );
}

function datedMessages(
  db: Connection,
  owners: SeenOwners,
  {
    appId,
    inThread,
    question: { spans },
  }: { readonly appId: string; readonly inThread: Sql | undefined; readonly question: Question },
): { readonly ctes: Sql; readonly messages: Cte<"thread_ref" | "seq" | "boost"> } {
  const times = `{${spans.map(({ from, before }) => `[${from.toISOString()},${before.toISOString()})`).join()}}`;
  return {
    messages: cte("dated_message"),
    ctes: sql`
    -- What was said at one of the times asked about.
    dated_message as materialized (
      select m.thread_ref, m.seq, ${float(weights.date)} as boost
      from ${db.schema}.thread h join ${db.schema}.message m on m.thread_ref = h.id
      where ${spans.length > 0}::boolean and h.owner_ref in (select id from ${owners})
        ${appId === "" ? empty : sql`and h.app_id = ${appId}`} and ${inThread ?? sql`true`}
        and m.role in ('user', 'assistant') and m.said_at <@ ${times}::tstzmultirange
    )`,
  };
}
