import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import { identifier } from "./connection.js";
import { errorCodeOf } from "./database-error.js";

/**
 * Records that words of `schemaName` are indexed with the text search configuration `language`, unless another one is
 * recorded and anything was indexed with it.
 *
 * @throws MemoryError `LANGUAGE_DIFFERS`
 */
export async function recordSearchLanguage(
  client: ClientBase,
  schemaName: string,
  language: string,
): Promise<void> {
  const schema = identifier(schemaName).text;
  await client.query(
    `insert into ${schema}.search_language as known (configuration) values ($1)
     on conflict (only_row) do update set configuration = excluded.configuration
     where not exists (select from ${schema}.message_term) and not exists (select from ${schema}.memory_term)`,
    [language],
  );
  await requireSearchLanguage(client, schemaName, language);
}

/** @throws MemoryError `LANGUAGE_DIFFERS` when words are indexed with another configuration than `language`. */
export async function requireSearchLanguage(
  client: ClientBase,
  schemaName: string,
  language: string,
): Promise<void> {
  const recorded = await findSearchLanguage(client, schemaName);
  if (recorded === undefined || recorded === language) return;
  throw new MemoryError(
    "LANGUAGE_DIFFERS",
    `Words of schema "${schemaName}" are indexed with the language "${recorded}", and retrieval.language ` +
      `is "${language}": searches would miss them. Configure "${recorded}"; or export, and import into a ` +
      "schema that was set up with the other language.",
  );
}

/** SQLSTATE of a table, and of a schema, that is not there: what is asked next says that they have to be set up. */
const missing: ReadonlySet<string> = new Set(["42P01", "3F000"]);

async function findSearchLanguage(client: ClientBase, schemaName: string): Promise<string | undefined> {
  try {
    const { rows } = await client.query<{ configuration: string }>(
      `select configuration from ${identifier(schemaName).text}.search_language`,
    );
    return rows[0]?.configuration;
  } catch (error) {
    if (missing.has(errorCodeOf(error))) return undefined;
    throw error;
  }
}
