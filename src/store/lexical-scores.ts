import sql, { empty, join, type Sql } from "sql-template-tag";
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
 * CTEs `seer`, `name`, `asked`: whose memories are searched, which words name a speaker, and the terms asked for.
 *
 * `seer` has one row for the user and one for the app. `asked` has one for each of them and each term (numbered `n`),
 * with the texts that have it. When no text has most of what is asked, terms that none has are replaced by those one
 * edit away (a letter dropped, added, doubled, changed, or two swapped) that some text does have.
 */
export function questionTerms(db: Connection, question: LexicalQuestion, allowed?: Sql): Sql {
  const { schema } = db;
  const lexemes = (text: Sql) => sql`unnest(to_tsvector(${question.language}::regconfig, ${text}))`;
  const known = (condition: Sql) => sql`(exists (
    select from seer s join ${schema}.memory_term t on t.owner_ref = s.id and ${condition}
  ) or exists (
    select from seer s join ${schema}.message_term t on t.owner_ref = s.id and ${condition}
  ))`;
  return sql`
    ${seers(db, question.scope, allowed)},
    name as materialized (
      -- Most owners know no speakers by name: then the words need not be looked up.
      select word from unnest(${question.words}::text[]) word
      where (select ${known(sql`t.lexeme >= '@' and t.lexeme < 'A'`)}) and ${known(sql`t.lexeme = '@' || word`)}
    ),
    plain as materialized (
      select v.n, v.lexeme, s.id as owner_ref, f.memories, f.messages
      from ${lexemes(sql`${question.terms}`)} with ordinality v (lexeme, positions, weights, n)
      cross join seer s cross join lateral (${textsWith(db, sql`v.lexeme`)}) f
      where v.lexeme not in (select v.lexeme from name cross join lateral ${lexemes(sql`name.word`)} v)
    ),
    unknown as materialized (
      select lexeme, count(*) over () as terms from plain group by lexeme having sum(memories + messages) = 0
    ),
    misspelt as materialized (
      select word, v.lexeme as term from unnest(${question.correctable}::text[]) word
      cross join lateral ${lexemes(sql`word`)} v
      join unknown using (lexeme)
      where 2 * terms >= (select count(distinct n) from plain)
        and (select sum(memory_count + message_count) > 0 from seer)
      limit ${mostCorrected}
    ),
    corrected as materialized (
      select m.term, v.lexeme
      from misspelt m cross join lateral ${lexemes(sql`${schema}.one_edit_away(m.word)`)} v
      where ${known(sql`t.lexeme = v.lexeme`)}
    ),
    asked as materialized (
      select n, lexeme as term, lexeme, 1::float8 as weight, owner_ref, memories, messages
      from plain where lexeme not in (select term from corrected)
      union all
      select c.n, c.term, c.lexeme, ${weights.correction}::float8, s.id, f.memories, f.messages
      from (
        select -row_number() over () as n, min(term) as term, lexeme from corrected
        where lexeme not in (select lexeme from plain) group by lexeme
      ) c cross join seer s cross join lateral (${textsWith(db, sql`c.lexeme`)}) f
    )`;
}

/**
 * CTE `seer`, with a row for the user and one for the app, where `scope` names them.
 *
 * @param allowed without it there are no rows, and so nothing is found.
 */
export function seers(db: Connection, scope: Scope, allowed = sql`true`): Sql {
  const { tenantId, userId, appId } = scopeColumns(scope);
  const seer = (isUser: boolean, user: string, app: string) => sql`
    select id, ${isUser}::boolean as is_user, revision, memory_count, memory_length, message_count, message_length
    from ${db.schema}.owner
    where md5(tenant_id) = md5(${tenantId}) and tenant_id = ${tenantId}
      and md5(user_id) = md5(${user}) and user_id = ${user} and md5(app_id) = md5(${app}) and app_id = ${app}
      and ${allowed}`;
  const rows = [
    ...(userId === "" ? [] : [seer(true, userId, "")]),
    ...(appId === "" ? [] : [seer(false, "", appId)]),
  ];
  return sql`seer as materialized (${join(rows, " union all ")})`;
}

/** In how many texts of the owner `s` a word is: one row (memories, messages). */
function textsWith(db: Connection, lexeme: Sql): Sql {
  const { schema } = db;
  return sql`
    select m.memories, g.messages
    from (
      select count(*)::float8 as memories from ${schema}.memory_term t where t.owner_ref = s.id and t.lexeme = ${lexeme}
    ) m cross join (
      select count(*)::float8 as messages from ${schema}.message_term t where t.owner_ref = s.id and t.lexeme = ${lexeme}
    ) g`;
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

/** Whose words make up the score of a message. */
export interface MessageSelection {
  /** Only this app's threads; all where it is empty. */
  readonly appId: string;
  /** Whether the words of facts learned from a message are taken for its own as well. */
  readonly facts?: boolean;
  /** Messages looked at with their neighbours. */
  readonly most: number;
}

/**
 * CTEs `thread_own` (thread_ref, score) and `message_context` (thread_ref, seq, score, own): how well each
 * thread as a whole, and each message with its neighbours and alone, fit what is asked.
 *
 * Only the `most` best messages, alone, lend their words to their neighbours: in a transcript of years, words in
 * thousands of messages make tens of thousands of neighbours that no answer is among.
 *
 * A message is scored as BM25F scores a text of several fields: the neighbours' words (and with `facts` those of
 * the facts learned from it, which needs the CTEs of `memoryScores` before) are taken for its own, at a lower
 * weight, before saturation. So one word said by everyone counts once, and different words add up.
 *
 * Every term's rarity is counted in the index before its rows are read. What may be large is joined in full: how
 * often a word is said differs a thousandfold, so the planner is wrong about it, and only a full join is never made
 * by comparing all with all.
 */
export function messageScores(db: Connection, { appId, facts = false, most }: MessageSelection): Sql {
  const { schema } = db;
  const { k1, b } = weights.message;
  const inApp = sql`where exists (
    select from ${schema}.thread h where h.id = t.thread_ref and h.app_id = ${appId}
  )`;
  return sql`
    message_weight as materialized (
      select * from (
        select a.*, a.weight * ${rarity(sql`s.message_count`, sql`a.messages`)} as gain,
          greatest(1, s.message_length::float8 / greatest(1, s.message_count)) as average,
          ${common(sql`a.messages`, sql`s.message_count`)} as common
        from asked a join seer s on s.id = a.owner_ref
      ) w
      where not w.common
    ),
    message_ideal as materialized (
      ${ideal(sql`message_weight`)}
    ),
    message_match as materialized (
      select t.thread_ref, t.seq, w.n, w.weight, w.gain, t.frequency,
        ${normed(sql`t.frequency`, sql`t.length`, sql`w.average`, b)} as normed
      from message_weight w
      join ${schema}.message_term t on t.owner_ref = w.owner_ref and t.lexeme = w.lexeme
      ${appId === "" ? empty : inApp}
    ),
    message_hit as materialized (
      select m.*, sum(gain * ${saturated(sql`normed`, k1)}) over same_message as total,
        row_number() over same_message as nth
      from message_match m window same_message as (partition by thread_ref, seq)
    ),
    message_field as (
      select m.thread_ref, m.seq + near.seqs as seq, m.n, m.gain, m.normed * near.weight as frequency,
        case near.seqs when 0 then m.normed else 0 end as own
      from message_hit m
      cross join (values
        (0, 1::float8),
        (1, ${weights.previousTurn}::float8), (-1, ${weights.nextTurn}::float8),
        (2, ${weights.secondPreviousTurn}::float8), (-2, ${weights.secondNextTurn}::float8)
      ) as near (seqs, weight)
      where m.total >= (
        select min(total) from (select total from message_hit where nth = 1 order by total desc limit ${most}) best
      )
      ${facts ? factFields(db, appId) : empty}
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
    thread_match as materialized (
      select thread_ref, n, sum(frequency)::float8 as frequency, max(weight) as weight,
        count(*) over (partition by n)::float8 as threads
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
      select count(*)::float8 as threads from ${schema}.thread h
      where h.owner_ref in (select id from seer) ${appId === "" ? empty : sql`and h.app_id = ${appId}`}
    ),
    thread_weight as (
      select w.term, w.weight * ${rarity(sql`n.threads`, sql`coalesce(m.threads, 0)`, 0)} as gain
      from message_weight w left join (select distinct n, threads from thread_match) m using (n) cross join thread_total n
    ),
    thread_ideal as materialized (${ideal(sql`thread_weight`)}),
    thread_own as materialized (
      select thread_ref, sum(m.weight * ${rarity(sql`n.threads`, sql`m.threads`, 0)}
        * ${saturated(sql`(${normed(sql`m.frequency`, sql`z.messages`, sql`z.average`, b)})`, k1)}) / (select gain from thread_ideal) as score
      from thread_match m full join thread_size z using (thread_ref) cross join thread_total n
      group by thread_ref
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

/** CTE `memory_own` (ref, score): how well each memory fits what is asked. */
export function memoryScores(db: Connection): Sql {
  const { k1, b } = weights.memory;
  return sql`
    memory_weight as materialized (
      select * from (
        select a.*, a.weight * ${rarity(sql`s.memory_count`, sql`a.memories`)} as gain,
          greatest(1, s.memory_length::float8 / greatest(1, s.memory_count)) as average,
          ${k1 * (1 - b)}::float8 as base,
          ${k1 * b}::float8 / greatest(1, s.memory_length::float8 / greatest(1, s.memory_count)) as slope,
          ${common(sql`a.memories`, sql`s.memory_count`)} as common
        from asked a join seer s on s.id = a.owner_ref
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
