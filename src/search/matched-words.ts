import sql from "sql-template-tag";
import type { Connection } from "../postgres/connection.js";
import { lexemes } from "../postgres/lexemes.js";
import type { Scope } from "../scope/scope.js";
import { seenOwners } from "../scope/scope-predicates.js";
import { searchText, spelledWords } from "../text/search-text.js";
import { questionTerms } from "./read-question.js";

/** More would take a second of the database's time. */
const maxWords = 4_000;
const maxTextCharacters = 2_000;

/** A word of a text, and whether a question and an answer have it too. */
interface SharedWord {
  readonly word: string;
  readonly asked: boolean;
  readonly answered: boolean;
}

/**
 * Which words of each text match a question, as the search matches them: stems, without stop words,
 * with one slip. Also those that `answer` has. One round trip; `texts` in their order.
 */
export async function matchedWords(
  db: Connection,
  scope: Scope,
  {
    question,
    answer = "",
    texts,
  }: {
    readonly question: string;
    readonly answer?: string;
    readonly texts: readonly string[];
  },
): Promise<{ readonly question: string[]; readonly answer: string[] }[]> {
  const spelled = texts.map((text) => spelledWords(text.slice(0, maxTextCharacters)));
  const words = [...new Set(spelled.flat())].slice(0, maxWords);
  const rows = await db.query<SharedWord>(sql`
    with asked as materialized (
      select a.lexeme from unnest(${db.schema}.asked_words_1(
        array(${seenOwners(db, scope)}), ${db.language}::regconfig, ${questionTerms(question)}
      )) a
    ),
    answered as materialized (select lexeme from ${lexemes(db, searchText(answer))})
    select w.word, bool_or(l.lexeme in (select lexeme from asked)) as asked,
      bool_or(l.lexeme in (select lexeme from answered)) as answered
    from unnest(${words}::text[], ${words.map((word) => searchText(word))}::text[]) w (word, terms)
    cross join lateral ${lexemes(db, sql`w.terms`)} l
    group by w.word`);
  const asked = new Set(rows.filter((row) => row.asked).map(({ word }) => word));
  const answered = new Set(rows.filter((row) => row.answered).map(({ word }) => word));
  return spelled.map((own) => ({
    question: own.filter((word) => asked.has(word)),
    answer: own.filter((word) => answered.has(word)),
  }));
}
