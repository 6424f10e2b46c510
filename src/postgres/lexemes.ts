import sql, { type Sql } from "sql-template-tag";
import type { Connection } from "./connection.js";

/** Rows (lexeme, frequency) of a text that `searchText` prepared: see `src/search/words.sql`. */
export const lexemes = ({ schema, language }: Connection, terms: Sql | string): Sql =>
  sql`${schema}.words_1(${language}::regconfig, ${terms}::text)`;

/** The same as a `tsvector`; null for null. */
export const lexemeVector = (db: Connection, terms: Sql): Sql =>
  sql`case when ${terms} is not null then array_to_tsvector(array(select lexeme from ${lexemes(db, terms)})) end`;
