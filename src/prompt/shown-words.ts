import sql from "sql-template-tag";
import { z } from "zod";
import { parseInput, smallCount } from "../input/parse-input.js";
import type { Connection } from "../postgres/connection.js";
import { requiredScope, requiredThread, threadForbidden } from "../scope/scope.js";
import { isOwnThread, isSeenFrom, threadIs } from "../scope/scope-predicates.js";
import { matchedWords } from "../search/matched-words.js";
import { epochRows } from "./find-replay.js";

/** Words of a memory that a turn's messages have too, spelled as in its text. */
export interface ShownWords {
  readonly id: string;
  /** Those by which the search for the turn's question matches it. */
  readonly question: readonly string[];
  /** Those of the agent's answer. */
  readonly answer: readonly string[];
}

const shownWordsSchema = z.strictObject({
  scope: requiredScope,
  threadId: requiredThread,
  /** The message that the turn answered: `seq` of `threads.shown`. */
  seq: smallCount,
});

export interface ListShownWords extends z.input<typeof shownWordsSchema> {}

/**
 * For each memory that the prompt of a turn showed, the words that it shares with the turn's
 * question and answer, in today's texts. Two round trips; empty for an unknown turn.
 * @throws MemoryError `THREAD_FORBIDDEN`, `INVALID_INPUT`
 */
export async function listShownWords(db: Connection, input: ListShownWords): Promise<ShownWords[]> {
  const { scope, threadId, seq } = parseInput(shownWordsSchema, input, "turn");
  const [turn] = await db.query<{
    owned: boolean;
    question: string | null;
    answer: string | null;
    memories: { id: string; text: string }[] | null;
  }>(sql`
    select ${isOwnThread(scope)} as owned,
      (select g.content from ${db.schema}.message g where g.thread_ref = t.id and g.seq = ${seq}) as question,
      (
        select string_agg(a.content, e'\n' order by a.seq) from ${db.schema}.message a
        where a.thread_ref = t.id and a.role = 'assistant' and a.seq > ${seq} and a.seq < coalesce((
          select min(u.seq) from ${db.schema}.message u where u.thread_ref = t.id and u.role = 'user' and u.seq > ${seq}
        ), 2147483647)
      ) as answer,
      (
        select json_agg(json_build_object('id', m.id, 'text', m.content)) from (
          select distinct e.id from (${epochRows(db, sql`a.seq = ${seq}`)}) s cross join unnest(s.memory_ids) as e (id)
        ) e
        join ${db.schema}.memory m
          on m.id = e.id and m.state in ('active', 'superseded', 'merged') and ${isSeenFrom(scope)}
      ) as memories
    from ${db.schema}.thread t where ${threadIs(scope.tenantId ?? "", threadId)}`);
  if (turn && !turn.owned) throw threadForbidden(threadId);
  const { question, answer, memories } = turn ?? {};
  if (!memories) return [];
  const words = await matchedWords(db, scope, {
    question: question ?? "",
    answer: answer ?? "",
    texts: memories.map(({ text }) => text),
  });
  return memories.map(({ id }, index) => ({ id, question: [], answer: [], ...words[index] }));
}
