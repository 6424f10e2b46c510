import sql, { empty, type Sql } from "sql-template-tag";
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

/** Each costs some milliseconds: hundreds of edits to stem and to look up. */
const mostCorrected = 6;

/**
 * CTEs `seer`, `name`, `q`: whose memories are searched, which words name a speaker, and the terms asked for.
 *
 * `seer` has one row for the user and one for the app. When no text has most of what is asked, terms that none
 * has are replaced by those one edit away (a letter dropped, added, doubled, changed, or two swapped) that some
 * text does have.
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
      select id, true as is_user, revision, memory_count, memory_length, message_count, message_length
      from ${schema}.owner
      where ${userId} <> '' and md5(tenant_id) = md5(${tenantId}) and tenant_id = ${tenantId}
        and md5(user_id) = md5(${userId}) and user_id = ${userId} and md5(app_id) = md5('') and app_id = ''
      union all
      select id, false, revision, memory_count, memory_length, message_count, message_length
      from ${schema}.owner
      where ${appId} <> '' and md5(tenant_id) = md5(${tenantId}) and tenant_id = ${tenantId}
        and md5(user_id) = md5('') and user_id = '' and md5(app_id) = md5(${appId}) and app_id = ${appId}
    ),
    name as materialized (
      select word from unnest(${question.words}::text[]) word where ${known(sql`'@' || word`)}
    ),
    plain as materialized (
      select asked.lexeme, ${known(sql`asked.lexeme`)} as known from (
        select lexeme from unnest(to_tsvector(${question.language}::regconfig, ${question.terms}))
        except
        select v.lexeme from name
        cross join lateral unnest(to_tsvector(${question.language}::regconfig, name.word)) v
      ) asked
    ),
    misspelt as materialized (
      select word, v.lexeme as term from unnest(${question.correctable}::text[]) word
      cross join lateral unnest(to_tsvector(${question.language}::regconfig, word)) v
      join plain using (lexeme)
      where not plain.known and (select sum(memory_count + message_count) > 0 from seer)
        and (select count(*) filter (where known) <= count(*) filter (where not known) from plain)
      limit ${mostCorrected}
    ),
    edit as (
      select term, left(word, i - 1) || substr(word, i + 1) as word
      from misspelt, generate_series(1, length(word)) i
      union all
      select term, left(word, i - 1) || substr(word, i + 1, 1) || substr(word, i, 1) || substr(word, i + 2)
      from misspelt, generate_series(1, length(word) - 1) i
      union all
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
      select row_number() over () as n, term, lexeme, weight from (
        select lexeme as term, lexeme, 1::float8 as weight from plain
        where lexeme not in (select term from corrected)
        union all
        select min(term), lexeme, ${weights.correction}::float8 from corrected
        where lexeme not in (select lexeme from plain)
        group by lexeme
      ) asked
    )`;
}

/** Texts without any of the words, added to those there are: rarity among three texts says next to nothing. */
const unseenTexts = 20;

/**
 * Rarity of a term that `found` of `all` texts have (Lucene's idf, which is never negative). A term that none has is
 * as rare as one that a single text has: else unknown words would weigh most.
 */
function rarity(all: Sql, found: Sql, unseen = unseenTexts): Sql {
  return sql`ln(1 + (greatest(${all}, ${found}, 1) + ${unseen}::int - greatest(${found}, 1) + 0.5)
    / (greatest(${found}, 1) + 0.5))`;
}

/**
 * Of a long question, the words that are to be found: who tells a story and asks about one thing in it does not
 * expect an answer with all of its words.
 */
const expectedTerms = 6;

/** What a text scores that has the rarest terms of the question endlessly often; scores are shares of it. */
function ideal(weighted: Sql): Sql {
  return sql`
    select sum(gain) as gain from (
      select max(gain) as gain from ${weighted} group by term order by 1 desc limit ${expectedTerms}
    ) rarest`;
}

/**
 * Whether a term may be passed over: most texts of a large collection have it, and the question has a rarer one.
 * It would hardly change the order and costs the most to read.
 */
function common(found: Sql, all: Sql): Sql {
  return sql`(
    ${found} > ${all} / 2.0 and ${all} >= 200
    and count(*) filter (where ${found} between 1 and ${all} / 2.0) over (partition by s.id) > 0
  )`;
}

/** How often a text has a term, for a text of average length (BM25's length norm). */
function normed(frequency: Sql, length: Sql, averageLength: Sql, b: number): Sql {
  return sql`${frequency} / (${1 - b}::float8 + ${b}::float8 * ${length} / ${averageLength})`;
}

/** 0 to 1: the first mention says most, further ones less and less (BM25's saturation; Robertson & Zaragoza 2009). */
function saturated(frequency: Sql, k1: number): Sql {
  return sql`${frequency} / (${frequency} + ${k1}::float8)`;
}

/**
 * CTEs `thread_own` (thread_ref, score) and `message_context` (thread_ref, seq, score, own): how well each
 * thread as a whole, and each message with its neighbours and alone, fit `q`.
 *
 * A message is scored as BM25F scores a text of several fields: the neighbours' words (and with `facts` those of
 * the facts learned from it, which needs the CTEs of `memoryScores` before) are taken for its own, at a lower
 * weight, before saturation. So one word said by everyone counts once, and different words add up.
 *
 * Every term's rarity is counted in the index before its rows are read, so nothing large is joined or sorted.
 */
export function messageScores(db: Connection, appId: string, facts: "facts" | "alone" = "alone"): Sql {
  const { schema } = db;
  const { k1, b } = weights.message;
  return sql`
    message_weight as materialized (
      select * from (
        select q.n, q.term, q.lexeme, q.weight, s.id as owner_ref, f.threads,
          q.weight * ${rarity(sql`s.message_count`, sql`f.messages`)} as gain,
          greatest(1, s.message_length::float8 / greatest(1, s.message_count)) as average,
          ${common(sql`f.messages`, sql`s.message_count`)} as common
        from seer s cross join q cross join lateral (
          select count(*)::float8 as messages, count(distinct t.thread_ref)::float8 as threads
          from ${schema}.message_term t where t.owner_ref = s.id and t.lexeme = q.lexeme
        ) f
      ) w
      where not w.common
    ),
    message_ideal as materialized (
      ${ideal(sql`message_weight`)}
    ),
    message_match as materialized (
      select t.thread_ref, t.seq, w.n, w.gain, w.weight, w.threads, t.frequency,
        ${normed(sql`t.frequency`, sql`t.length`, sql`w.average`, b)} as normed
      from message_weight w
      join ${schema}.message_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
      where ${appId} = '' or exists (
        select from ${schema}.thread h where h.id = t.thread_ref and h.app_id = ${appId}
      )
    ),
    message_field as (
      select m.thread_ref, m.seq + near.seqs as seq, m.n, m.gain, m.normed * near.weight as frequency,
        case near.seqs when 0 then m.normed else 0 end as own
      from message_match m
      cross join (values
        (0, 1::float8),
        (1, ${weights.previousTurn}::float8), (-1, ${weights.nextTurn}::float8),
        (2, ${weights.secondPreviousTurn}::float8), (-2, ${weights.secondNextTurn}::float8)
      ) as near (seqs, weight)
      ${facts === "facts" ? factFields(db, appId) : empty}
    ),
    message_term_score as (
      select thread_ref, seq, max(gain) as gain, sum(frequency) as frequency, sum(own) as own
      from message_field group by thread_ref, seq, n
    ),
    message_context as materialized (
      select t.thread_ref, t.seq, sum(t.gain * ${saturated(sql`t.frequency`, k1)}) / (select gain from message_ideal) as score,
        sum(t.gain * ${saturated(sql`t.own`, k1)}) / (select gain from message_ideal) as own
      from message_term_score t
      group by t.thread_ref, t.seq
    ),
    thread_match as (
      select thread_ref, n, sum(frequency)::float8 as frequency, max(weight) as weight, max(threads) as threads
      from message_match group by thread_ref, n
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
    thread_weight as (
      select w.term, w.weight * ${rarity(sql`n.threads`, sql`w.threads`, 0)} as gain
      from message_weight w cross join thread_total n
    ),
    thread_ideal as materialized (${ideal(sql`thread_weight`)}),
    thread_own as materialized (
      select m.thread_ref, sum(m.weight * ${rarity(sql`n.threads`, sql`m.threads`, 0)}
        * ${saturated(sql`(${normed(sql`m.frequency`, sql`z.messages`, sql`z.average`, b)})`, k1)}) / (select gain from thread_ideal) as score
      from thread_match m join thread_size z using (thread_ref) cross join thread_total n
      group by m.thread_ref
    )`;
}

/** The words of facts, as words of the messages that they were learned from. */
function factFields(db: Connection, appId: string): Sql {
  return sql`
    union all
    select m.thread_ref, cited.seq, w.n, max(g.gain),
      ${weights.factWord}::float8 * max(${normed(sql`t.frequency`, sql`t.length`, sql`w.average`, weights.memory.b)}), 0
    from memory_weight w
    join message_weight g on g.owner_ref = w.owner_ref and g.n = w.n
    join ${db.schema}.memory_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
    join ${db.schema}.memory m on m.ref = t.memory_ref and m.kind = 'fact' and m.app_id in ('', ${appId})
    cross join lateral unnest(m.source_seqs) as cited (seq)
    where m.thread_ref is not null
    group by m.thread_ref, cited.seq, w.n`;
}

/** CTE `memory_own` (ref, score): how well each memory fits `q`. */
export function memoryScores(db: Connection): Sql {
  const { k1, b } = weights.memory;
  return sql`
    memory_weight as materialized (
      select * from (
        select q.n, q.term, q.lexeme, s.id as owner_ref,
          q.weight * ${rarity(sql`s.memory_count`, sql`f.memories`)} as gain,
          greatest(1, s.memory_length::float8 / greatest(1, s.memory_count)) as average,
          ${k1 * (1 - b)}::float8 as base,
          ${k1 * b}::float8 / greatest(1, s.memory_length::float8 / greatest(1, s.memory_count)) as slope,
          ${common(sql`f.memories`, sql`s.memory_count`)} as common
        from seer s cross join q cross join lateral (
          select count(*)::float8 as memories from ${db.schema}.memory_term t
          where t.owner_ref = s.id and t.lexeme = q.lexeme
        ) f
      ) w
      where not w.common
    ),
    memory_ideal as materialized (
      ${ideal(sql`memory_weight`)}
    ),
    memory_own as (
      -- BM25's saturated and normed frequency, with all that is the same for a term computed once.
      select t.memory_ref as ref,
        sum(w.gain * t.frequency / (t.frequency + w.base + w.slope * t.length)) / (select gain from memory_ideal) as score
      from memory_weight w
      join ${db.schema}.memory_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
      group by t.memory_ref
    )`;
}
