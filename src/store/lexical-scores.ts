import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import type { Scope } from "../domain/scope.js";
import { retrievalWeights as weights } from "../domain/retrieval-weights.js";
import { scopeColumns } from "./scope-columns.js";

/** A question, prepared. */
export interface LexicalQuestion {
  readonly scope: Scope;
  /** The question as `searchText` prepared it. */
  readonly terms: string;
  readonly words: readonly string[];
  readonly correctable: readonly string[];
  /** Text search configuration. */
  readonly language: string;
}

/**
 * CTEs `seer`, `name`, `q`: whose memories are searched, which words name a speaker, and the terms asked for.
 *
 * `seer` has one row for the user and one for the app. A word that no text has is replaced by words one edit
 * away from it (a letter dropped, added, doubled, changed, or two swapped) that some text does have.
 */
export function questionTerms(db: Connection, question: LexicalQuestion): Sql {
  const { tenantId, userId, appId } = scopeColumns(question.scope);
  const { schema } = db;
  const known = (lexeme: Sql) => sql`exists (
    select from seer s join ${schema}.memory_term t on t.owner_ref = s.id and t.lexeme = ${lexeme}
  ) or exists (
    select from seer s join ${schema}.message_term t on t.owner_ref = s.id and t.lexeme = ${lexeme}
  )`;
  return sql`
    seer as materialized (
      select id, user_id <> '' as is_user, revision, memory_count, memory_length, message_count, message_length
      from ${schema}.owner
      where md5(tenant_id) = md5(${tenantId}) and tenant_id = ${tenantId} and (
        (${userId} <> '' and md5(user_id) = md5(${userId}) and user_id = ${userId} and app_id = '')
        or (${appId} <> '' and user_id = '' and md5(app_id) = md5(${appId}) and app_id = ${appId})
      )
    ),
    name as materialized (
      select word from unnest(${question.words}::text[]) word where ${known(sql`'@' || word`)}
    ),
    plain as materialized (
      select lexeme from unnest(to_tsvector(${question.language}::regconfig, ${question.terms}))
      except
      select v.lexeme from name cross join lateral unnest(to_tsvector(${question.language}::regconfig, name.word)) v
    ),
    misspelt as materialized (
      select word from unnest(${question.correctable}::text[]) word
      where word not in (select word from name)
        and not exists (
          select from unnest(to_tsvector(${question.language}::regconfig, word)) v where ${known(sql`v.lexeme`)}
        )
        and to_tsvector(${question.language}::regconfig, word) <> ''
    ),
    edit as (
      select left(word, i - 1) || substr(word, i + 1) as word from misspelt, generate_series(1, length(word)) i
      union
      select left(word, i - 1) || substr(word, i + 1, 1) || substr(word, i, 1) || substr(word, i + 2)
      from misspelt, generate_series(1, length(word) - 1) i
      union
      select left(word, i) || chr(c) || substr(word, i + 1 + skip)
      from misspelt, generate_series(0, length(word)) i, generate_series(97, 122) c, generate_series(0, 1) skip
    ),
    corrected as (
      select distinct v.lexeme
      from (select string_agg(word, ' ') as words from edit) e
      cross join lateral unnest(to_tsvector(${question.language}::regconfig, coalesce(e.words, ''))) v
      where (select count(*) from misspelt) > 0 and (${known(sql`v.lexeme`)})
    ),
    q as materialized (
      select lexeme, 1::float8 as weight from plain
      union all
      select lexeme, ${weights.correction}::float8 from corrected where lexeme not in (select lexeme from plain)
    )`;
}

/** BM25 of one matched term: rarity × saturated frequency (Robertson & Zaragoza 2009, with Lucene's non-negative idf). */
export function bm25(parts: {
  weight: Sql;
  documents: Sql;
  documentFrequency: Sql;
  frequency: Sql;
  length: Sql;
  averageLength: Sql;
}): Sql {
  const { k1, b } = weights;
  return sql`${parts.weight}
    * ln(1 + (greatest(${parts.documents}, ${parts.documentFrequency}) - ${parts.documentFrequency} + 0.5)
      / (${parts.documentFrequency} + 0.5))
    * ${parts.frequency} * ${k1 + 1}::float8
    / (${parts.frequency} + ${k1}::float8 * (${1 - b}::float8
      + ${b}::float8 * ${parts.length} / greatest(1, ${parts.averageLength})))`;
}

/**
 * CTEs `thread_own` (thread_ref, score) and `message_context` (thread_ref, seq, score, own): how well each
 * thread as a whole, and each message with its neighbours and alone, fit `q`. Scores are shares of the best own.
 */
export function messageScores(db: Connection, appId: string): Sql {
  const { schema } = db;
  return sql`
    message_match as materialized (
      select t.thread_ref, t.seq, t.lexeme, t.frequency, t.length, q.weight, s.message_count, s.message_length
      from seer s cross join q join ${schema}.message_term t on t.owner_ref = s.id and t.lexeme = q.lexeme
      where ${appId} = '' or exists (
        select from ${schema}.thread h where h.id = t.thread_ref and h.app_id = ${appId}
      )
    ),
    message_frequency as (
      select lexeme, count(*)::float8 as messages, count(distinct thread_ref)::float8 as threads
      from message_match group by lexeme
    ),
    message_raw as (
      select m.thread_ref, m.seq, sum(${bm25({
        weight: sql`m.weight`,
        documents: sql`m.message_count`,
        documentFrequency: sql`f.messages`,
        frequency: sql`m.frequency`,
        length: sql`m.length`,
        averageLength: sql`(m.message_length::float8 / greatest(1, m.message_count))`,
      })}) as score
      from message_match m join message_frequency f using (lexeme)
      group by m.thread_ref, m.seq
    ),
    message_own as materialized (
      select thread_ref, seq, score / max(score) over () as score from message_raw
    ),
    thread_match as (
      select thread_ref, lexeme, sum(frequency)::float8 as frequency, max(weight) as weight
      from message_match group by thread_ref, lexeme
    ),
    thread_size as (
      select r.thread_ref, l.messages, avg(l.messages) over () as average, t.threads
      from (select distinct thread_ref from thread_match) r
      cross join lateral (
        select max(m.seq) + 1 as messages from ${schema}.message m where m.thread_ref = r.thread_ref
      ) l
      cross join (
        select count(*)::float8 as threads from seer s join ${schema}.thread h on h.owner_ref = s.id
      ) t
    ),
    thread_raw as (
      select m.thread_ref, sum(${bm25({
        weight: sql`m.weight`,
        documents: sql`z.threads`,
        documentFrequency: sql`f.threads`,
        frequency: sql`m.frequency`,
        length: sql`z.messages`,
        averageLength: sql`z.average`,
      })}) as score
      from thread_match m join message_frequency f using (lexeme) join thread_size z using (thread_ref)
      group by m.thread_ref
    ),
    thread_own as materialized (
      select thread_ref, score / max(score) over () as score from thread_raw
    ),
    message_context as materialized (
      select o.thread_ref, o.seq + spread.seqs as seq, sum(o.score * spread.weight) as score,
        coalesce(max(o.score) filter (where spread.seqs = 0), 0) as own
      from message_own o
      cross join (values
        (0, 1::float8),
        (1, ${weights.previousTurn}::float8), (-1, ${weights.nextTurn}::float8),
        (2, ${weights.secondPreviousTurn}::float8), (-2, ${weights.secondNextTurn}::float8)
      ) as spread (seqs, weight)
      group by o.thread_ref, o.seq + spread.seqs
    )`;
}

/**
 * CTE `memory_own` (ref, score, coverage): how well each memory fits `q`, as a share of the greatest score, and
 * of what a text that has every word would score.
 */
export function memoryScores(db: Connection): Sql {
  return sql`
    memory_match as materialized (
      select t.memory_ref, t.lexeme, t.frequency, t.length, q.weight, s.memory_count, s.memory_length
      from seer s cross join q join ${db.schema}.memory_term t on t.owner_ref = s.id and t.lexeme = q.lexeme
    ),
    memory_frequency as (
      select lexeme, count(*)::float8 as memories from memory_match group by lexeme
    ),
    memory_raw as (
      select m.memory_ref as ref, sum(${bm25({
        weight: sql`m.weight`,
        documents: sql`m.memory_count`,
        documentFrequency: sql`f.memories`,
        frequency: sql`m.frequency`,
        length: sql`m.length`,
        averageLength: sql`(m.memory_length::float8 / greatest(1, m.memory_count))`,
      })}) as score
      from memory_match m join memory_frequency f using (lexeme)
      group by m.memory_ref
    ),
    memory_ideal as (
      select sum(q.weight * ln(1 + (s.memory_count + 0.5 - coalesce(f.memories, 0)) / (coalesce(f.memories, 0) + 0.5)))
        * ${weights.k1 + 1}::float8 as score
      from q cross join (select greatest(1, sum(memory_count))::float8 as memory_count from seer) s
      left join memory_frequency f using (lexeme)
    ),
    memory_own as materialized (
      select r.ref, r.score / max(r.score) over () as score, least(1, r.score / i.score) as coverage
      from memory_raw r cross join memory_ideal i
    )`;
}
