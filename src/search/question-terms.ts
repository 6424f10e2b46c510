import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { seenOwners as ownersOf } from "../scope/scope-predicates.js";
import { type Cte, cte, float } from "./composed-statement.js";
import type { Question } from "./read-question.js";
import { retrievalWeights as weights } from "./retrieval-options.js";

/** Words that are corrected: each costs some milliseconds, hundreds of edits to stem and to look up. */
const mostCorrected = 6;

/** Of a longer question the rarest: each term matches messages. Ten sentences have no more. */
const mostTerms = 64;

/** Terms in more texts all count as common. */
const mostCounted = 20;

/** The user and the app, where the scope names them. */
export type SeenOwners = Cte<
  | "id"
  | "is_user"
  | "revision"
  | "changes_trimmed_to"
  | "memory_count"
  | "memory_length"
  | "message_count"
  | "message_length"
>;

/** @param allowed without it there are no rows, and so nothing is found. */
export function seenOwners(
  db: Connection,
  scope: Scope,
  allowed = sql`true`,
): { readonly ctes: Sql; readonly owners: SeenOwners } {
  const columns = sql`o.id, o.user_id <> '' as is_user, o.revision, o.changes_trimmed_to, o.memory_count, o.memory_length,
      o.message_count, o.message_length`;
  return {
    owners: cte("seen_owner"),
    ctes: sql`
    -- Whose memories are searched: the user and the app.
    seen_owner as materialized (
      select * from (
        ${ownersOf(db, scope, columns)}
      ) o
      where ${allowed}
    )`,
  };
}

/** A row for each owner and term `n`, with document counts; readings of a misspelt word share its `term`. */
export type AskedTerms = Cte<"n" | "term" | "lexeme" | "weight" | "owner_ref" | "memories" | "messages">;

/** Counted no further than `mostCounted`. */
const countedTexts = (owners: SeenOwners, texts: Sql) => sql`
          select count(*) from (
            select from ${owners} s join ${texts} t on t.owner_ref = s.id and t.lexeme = w.lexeme limit ${mostCounted}
          ) c`;

const hasTerm = ({ schema }: Connection, owners: SeenOwners, condition: Sql) => sql`(
        exists (select from ${owners} s join ${schema}.memory_term t on t.owner_ref = s.id and ${condition})
        or exists (select from ${owners} s join ${schema}.message_term t on t.owner_ref = s.id and ${condition})
      )`;

/**
 * CTEs up to the terms asked for. Where no text has most of the question, unknown terms are replaced by known ones
 * one edit away with the same first letter: people get that right, and with another one "mouse" is "house".
 */
export function questionTerms(
  db: Connection,
  owners: SeenOwners,
  question: Pick<Question, "terms" | "words" | "correctable">,
): { readonly ctes: Sql; readonly terms: AskedTerms } {
  const { schema } = db;
  const lexemes = (text: Sql) => sql`unnest(to_tsvector(${db.language}::regconfig, ${text}))`;
  const counted = (texts: Sql) => countedTexts(owners, texts);
  const known = (condition: Sql) => hasTerm(db, owners, condition);
  return {
    terms: cte("asked_term"),
    ctes: sql`
    -- Words of the question that name a speaker. Most owners know none: then the words need not be looked up.
    speaker_word as materialized (
      select word from unnest(${question.words}::text[]) word
      where (select ${known(sql`t.lexeme >= '@' and t.lexeme < 'A'`)})
      and ${known(sql`t.lexeme = '@' || word`)}
    ),
    -- The question's terms.
    question_term as materialized (
      select v.n, v.lexeme,
        v.lexeme in (select v.lexeme from speaker_word cross join lateral ${lexemes(sql`speaker_word.word`)} v) as named,
        count(*) over () <= ${mostTerms} as few
      from ${lexemes(sql`${question.terms}`)} with ordinality v (lexeme, positions, weights, n)
    ),
    -- All of them; of a long question the rarest.
    telling_term as materialized (
      select n, lexeme, named from question_term where few
      union all (
        select w.n, w.lexeme, w.named
        from question_term w cross join lateral (
          select (${counted(sql`${schema}.memory_term`)}) + (${counted(sql`${schema}.message_term`)}) as texts
          offset 0
        ) f
        where not few
        order by f.texts = 0, f.texts, w.n limit ${mostTerms}
      )
    ),
    -- The same for each owner, with how many texts have it.
    counted_term as materialized (
      select v.n, v.lexeme, v.named, s.id as owner_ref, f.memories, f.messages
      from telling_term v cross join ${owners} s cross join lateral (${textsWith(db, sql`v.lexeme`)}) f
    ),
    -- Terms that no text has.
    unknown_term as materialized (
      select lexeme, count(*) over () as terms from counted_term
      where not named group by lexeme having sum(memories + messages) = 0
    ),
    -- Words that are corrected: only where most of the question is unknown.
    misspelt_word as materialized (
      select c.word, v.lexeme as term
      from unnest(${question.correctable}::text[]) with ordinality c (word, place)
      cross join lateral ${lexemes(sql`c.word`)} v
      join unknown_term using (lexeme)
      where 2 * terms >= (select count(distinct n) from counted_term where not named)
        and (select sum(memory_count + message_count) > 0 from ${owners})
      order by c.place limit ${mostCorrected}
    ),
    -- What may have been meant by them, of what some text has.
    corrected_term as materialized (
      select m.term, v.lexeme
      from misspelt_word m cross join lateral ${lexemes(oneEditAway)} v
      where left(v.lexeme, 1) = left(m.word, 1) and ${known(sql`t.lexeme = v.lexeme`)}
    ),
    -- The terms that are searched for.
    asked_term as materialized (
      select n, lexeme as term, lexeme, case when named then ${float(weights.name)} else 1 end as weight,
        owner_ref, memories, messages
      from counted_term where lexeme not in (select term from corrected_term)
      union all
      select c.n, c.term, c.lexeme, ${float(weights.correction)}, s.id, f.memories, f.messages
      from (
        select -row_number() over () as n, min(term) as term, lexeme from corrected_term
        where lexeme not in (select lexeme from counted_term) group by lexeme
      ) c cross join ${owners} s cross join lateral (${textsWith(db, sql`c.lexeme`)}) f
    )`,
  };
}

/** Deletions, swaps, replacements and insertions, with spaces between. */
const oneEditAway = sql`(
        select string_agg(edit, ' ') from (
          select left(m.word, i - 1) || substr(m.word, i + 1) as edit from generate_series(1, length(m.word)) i
          union all
          select left(m.word, i - 1) || substr(m.word, i + 1, 1) || substr(m.word, i, 1) || substr(m.word, i + 2)
          from generate_series(1, length(m.word) - 1) i
          union all
          select left(m.word, i) || chr(c) || substr(m.word, i + 1 + skip)
          from generate_series(0, length(m.word)) i, generate_series(97, 122) c, generate_series(0, 1) skip
        ) edits
      )`;

/** Whether a question asks for everything. */
export function asksForAll(db: Connection, { telling }: Pick<Question, "telling">): Sql {
  return sql`to_tsvector(${db.language}::regconfig, ${telling}::text) = ''::tsvector`;
}

function textsWith({ schema }: Connection, lexeme: Sql): Sql {
  return sql`
        select m.memories, g.messages
        from (
          select count(*)::float8 as memories from ${schema}.memory_term t where t.owner_ref = s.id and t.lexeme = ${lexeme}
        ) m cross join (
          select count(*)::float8 as messages from ${schema}.message_term t where t.owner_ref = s.id and t.lexeme = ${lexeme}
        ) g
      `;
}
