import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import { identifier } from "./connection.js";

/**
 * Records that words of `schemaName` are indexed with the text search configuration `language`, unless another one is
 * recorded and anything was indexed with it.
 *
 * @throws MemoryError `SCHEMA_DIFFERS`
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
  const { rows } = await client.query<{ configuration: string }>(
    `select configuration from ${schema}.search_language`,
  );
  const recorded = rows[0]?.configuration;
  if (recorded === undefined || recorded === language) return;
  throw new MemoryError(
    "SCHEMA_DIFFERS",
    `Words of schema "${schemaName}" are indexed with the language "${recorded}", and retrieval.language is ` +
      `"${language}": searches would miss them. Configure "${recorded}"; or export, and import into a schema that was ` +
      "set up with the other language.",
  );
}
