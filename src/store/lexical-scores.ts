import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../database/connection.js";
import { retrievalWeights as weights } from "../domain/retrieval-weights.js";
import type { Scope } from "../domain/scope.js";
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
      select word, v.lexeme as term from unnest(${question.correctable}::text[]) word
      cross join lateral unnest(to_tsvector(${question.language}::regconfig, word)) v
      where word not in (select word from name) and not (${known(sql`v.lexeme`)})
    ),
    edit as (
      select term, left(word, i - 1) || substr(word, i + 1) as word from misspelt, generate_series(1, length(word)) i
      union
      select term, left(word, i - 1) || substr(word, i + 1, 1) || substr(word, i, 1) || substr(word, i + 2)
      from misspelt, generate_series(1, length(word) - 1) i
      union
      select term, left(word, i) || chr(c) || substr(word, i + 1 + skip)
      from misspelt, generate_series(0, length(word)) i, generate_series(97, 122) c, generate_series(0, 1) skip
    ),
    corrected as materialized (
      select e.term, v.lexeme
      from (select term, string_agg(word, ' ') as words from edit group by term) e
      cross join lateral unnest(to_tsvector(${question.language}::regconfig, e.words)) v
      where ${known(sql`v.lexeme`)}
    ),
    q as materialized (
      select lexeme as term, lexeme, 1::float8 as weight from plain
      where lexeme not in (select term from corrected)
      union all
      select min(term), lexeme, ${weights.correction}::float8 from corrected
      where lexeme not in (select lexeme from plain)
      group by lexeme
    )`;
}

/** Rarity of a term that `found` of `all` texts have (Lucene's idf, which is never negative). */
function rarity(all: Sql, found: Sql): Sql {
  return sql`ln(1 + (greatest(${all}, ${found}) - ${found} + 0.5) / (${found} + 0.5))`;
}

/** BM25 of one matched term: weight and rarity × saturated frequency (Robertson & Zaragoza 2009). */
function bm25(gain: Sql, frequency: Sql, length: Sql, averageLength: Sql): Sql {
  const { k1, b } = weights;
  return sql`${gain} * ${frequency} * ${k1 + 1}::float8 / (${frequency} + ${k1}::float8
    * (${1 - b}::float8 + ${b}::float8 * ${length} / ${averageLength}))`;
}

/**
 * CTEs `thread_own` (thread_ref, score) and `message_context` (thread_ref, seq, score, own): how well each
 * thread as a whole, and each message with its neighbours and alone, fit `q`. Scores are shares of the best own.
 *
 * Every term's rarity is counted in the index before its rows are read, so nothing large is joined or sorted.
 */
export function messageScores(db: Connection, appId: string): Sql {
  const { schema } = db;
  return sql`
    message_weight as materialized (
      select q.lexeme, s.id as owner_ref, f.threads,
        q.weight * ${rarity(sql`s.message_count`, sql`f.messages`)} as gain, q.weight,
        greatest(1, s.message_length::float8 / greatest(1, s.message_count)) as average
      from seer s cross join q cross join lateral (
        select count(*)::float8 as messages, count(distinct t.thread_ref)::float8 as threads
        from ${schema}.message_term t where t.owner_ref = s.id and t.lexeme = q.lexeme
      ) f
      where f.messages > 0
    ),
    message_match as materialized (
      select t.thread_ref, t.seq, t.lexeme, t.frequency, w.weight, w.threads,
        ${bm25(sql`w.gain`, sql`t.frequency`, sql`t.length`, sql`w.average`)} as score
      from message_weight w
      join ${schema}.message_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
      where ${appId} = '' or exists (
        select from ${schema}.thread h where h.id = t.thread_ref and h.app_id = ${appId}
      )
    ),
    message_raw as (
      select thread_ref, seq, sum(score) as score from message_match group by thread_ref, seq
    ),
    message_own as materialized (
      select thread_ref, seq, score / max(score) over () as score from message_raw
    ),
    thread_match as (
      select thread_ref, lexeme, sum(frequency)::float8 as frequency, max(weight) as weight, max(threads) as threads
      from message_match group by thread_ref, lexeme
    ),
    thread_size as materialized (
      select r.thread_ref, l.messages::float8 as messages, greatest(1, avg(l.messages) over ())::float8 as average
      from (select distinct thread_ref from thread_match) r
      cross join lateral (
        select max(m.seq) + 1 as messages from ${schema}.message m where m.thread_ref = r.thread_ref
      ) l
    ),
    thread_total as materialized (
      select count(*)::float8 as threads from ${schema}.thread h where h.owner_ref in (select id from seer)
    ),
    thread_raw as (
      select m.thread_ref, sum(${bm25(
        sql`m.weight * ${rarity(sql`n.threads`, sql`m.threads`)}`,
        sql`m.frequency`,
        sql`z.messages`,
        sql`z.average`,
      )}) as score
      from thread_match m join thread_size z using (thread_ref) cross join thread_total n
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
    memory_weight as materialized (
      select q.lexeme, s.id as owner_ref, f.memories, q.weight,
        q.weight * ${rarity(sql`s.memory_count`, sql`f.memories`)} as gain,
        greatest(1, s.memory_length::float8 / greatest(1, s.memory_count)) as average
      from seer s cross join q cross join lateral (
        select count(*)::float8 as memories from ${db.schema}.memory_term t
        where t.owner_ref = s.id and t.lexeme = q.lexeme
      ) f
    ),
    memory_raw as (
      select t.memory_ref as ref, sum(${bm25(sql`w.gain`, sql`t.frequency`, sql`t.length`, sql`w.average`)}) as score
      from memory_weight w
      join ${db.schema}.memory_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
      group by t.memory_ref
    ),
    memory_ideal as (
      select sum(gain) * ${weights.k1 + 1}::float8 as score from (
        select lexeme, max(gain) as gain from memory_weight group by lexeme
      ) term
    ),
    memory_own as materialized (
      select r.ref, r.score / max(r.score) over () as score, least(1, r.score / i.score) as coverage
      from memory_raw r cross join memory_ideal i
    )`;
}
