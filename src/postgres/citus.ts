import type { Ask } from "./session-settings.js";

/** Whether Citus places the tables of new schemas on its workers, as docs/scaling.md sets it up. */
export async function distributesSchemas(ask: Ask): Promise<boolean> {
  const text = `select coalesce(current_setting('citus.enable_schema_based_sharding', true), 'off') = 'on'
      and exists (select from pg_catalog.pg_extension where extname = 'citus') as found`;
  const { rows } = await ask({ text });
  return rows[0]?.found === true;
}
