import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import type { Scope } from "../scope/scope.js";
import { seenOwners } from "../scope/scope-predicates.js";
import { retrievalWeights as weights } from "./retrieval-weights.js";

/** A question, prepared. */
export interface LexicalQuestion {
  readonly scope: Scope;
  /** The question as `searchText` prepared it. */
  readonly terms: string;
  readonly words: readonly string[];
  readonly correctable: readonly string[];
}

/** Each costs some milliseconds: hundreds of edits to stem and to look up. */
const mostCorrected = 6;

/**
 * Terms asked for: of a longer question the rarest that some text has. Ten sentences have no more; a question of
 * thousands of words would make a match of each message for each of them.
 */
const mostTerms = 64;

/** Texts of an owner counted to tell which terms are rare: those with more all count as common. */
const mostCounted = 20;

/**
 * CTEs `seer`, `name`, `asked`: whose memories are searched, which words name a speaker, and the terms asked for.
 *
 * `seer` has one row for the user and one for the app. `asked` has one for each of them and each term (numbered `n`),
 * with the texts that have it. When no text has most of what is asked, terms that none has are replaced by those one
 * edit away (a letter dropped, added, doubled, changed, or two swapped) that some text does have.
 */
export function questionTerms(db: Connection, question: LexicalQuestion, allowed?: Sql): Sql {
  const { schema } = db;
  const lexemes = (text: Sql) => sql`unnest(to_tsvector(${db.language}::regconfig, ${text}))`;
  const counted = (texts: Sql) => sql`
    select count(*) from (select from seer s join ${texts} t on t.owner_ref = s.id and t.lexeme = w.lexeme limit ${mostCounted}) c`;
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
    worded as materialized (
      select v.n, v.lexeme, v.lexeme in (
        select v.lexeme from name cross join lateral ${lexemes(sql`name.word`)} v
      ) as named, count(*) over () <= ${mostTerms} as few
      from ${lexemes(sql`${question.terms}`)} with ordinality v (lexeme, positions, weights, n)
    ),
    telling as materialized (
      select n, lexeme, named from worded where few
      union all (
        select w.n, w.lexeme, w.named
        from worded w cross join lateral (
          select (${counted(sql`${schema}.memory_term`)}) + (${counted(sql`${schema}.message_term`)}) as texts
          offset 0
        ) f
        where not few
        order by f.texts = 0, f.texts, w.n limit ${mostTerms}
      )
    ),
    plain as materialized (
      select v.n, v.lexeme, v.named, s.id as owner_ref, f.memories, f.messages
      from telling v cross join seer s cross join lateral (${textsWith(db, sql`v.lexeme`)}) f
    ),
    unknown as materialized (
      select lexeme, count(*) over () as terms from plain where not named group by lexeme having sum(memories + messages) = 0
    ),
    misspelt as materialized (
      select word, v.lexeme as term from unnest(${question.correctable}::text[]) word
      cross join lateral ${lexemes(sql`word`)} v
      join unknown using (lexeme)
      where 2 * terms >= (select count(distinct n) from plain where not named)
        and (select sum(memory_count + message_count) > 0 from seer)
      limit ${mostCorrected}
    ),
    corrected as materialized (
      select m.term, v.lexeme
      from misspelt m cross join lateral ${lexemes(sql`${schema}.one_edit_away(m.word)`)} v
      where ${known(sql`t.lexeme = v.lexeme`)}
    ),
    asked as materialized (
      select n, lexeme as term, lexeme, case when named then ${weights.name}::float8 else 1 end as weight, owner_ref, memories, messages
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
  const columns = sql`o.id, o.user_id <> '' as is_user, o.revision, o.changes_trimmed_to, o.memory_count, o.memory_length, o.message_count,
    o.message_length`;
  return sql`seer as materialized (select * from (${seenOwners(db, scope, columns)}) o where ${allowed})`;
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
