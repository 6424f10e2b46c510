import type { Database } from "mnemograph/contract";
import sql from "sql-template-tag";
import { type Check, ok, warn } from "./check.js";

export interface CitusFacts {
  readonly version: string;
  readonly database: string;
  readonly settings: Readonly<Record<string, string | null>>;
  /** The servers that have the schema's tables; empty: they are on the coordinator. */
  readonly servers: readonly string[];
  /** Of the schema's tables on those servers, with indexes, as text. */
  readonly size: string | null;
}

/** Settings of docs/scaling.md, and what fails where one is off. */
const needed = {
  "citus.enable_schema_based_sharding": "new schemas stay on the coordinator",
  "citus.enable_unsafe_triggers": "setup on a worker fails",
  "citus.allow_nested_distributed_execution": "recall and query fail on a worker",
};

/** null where the database has no Citus. `pg_settings` does not show all of its settings. */
export async function readCitusFacts(db: Database): Promise<CitusFacts | null> {
  const { schemaName } = db;
  const [found] = await db.query(sql`select from pg_catalog.pg_extension where extname = 'citus'`);
  if (!found) return null;
  const [facts] = await db.query<CitusFacts>(sql`
    select split_part(citus_version(), ' ', 2) as version, quote_ident(current_database()) as database,
      (select json_object_agg(n, current_setting(n, true)) from unnest(${Object.keys(needed)}::text[]) n) as settings,
      array(
        select distinct concat(s.nodename, ':', s.nodeport) from citus_shards s
        join citus_schemas c using (colocation_id) where c.schema_name::text = quote_ident(${schemaName})
      ) as servers,
      (select c.schema_size from citus_schemas c where c.schema_name::text = quote_ident(${schemaName})) as size`);
  return facts ?? null;
}

export function checkCitus(facts: CitusFacts, schemaName: string): Check[] {
  const { version, database, settings, servers } = facts;
  const where = servers.length > 0 ? servers.join(", ") : "the coordinator, undistributed";
  const off = Object.entries(needed).filter(([name]) => settings[name] !== "on");
  return [
    ok("citus", `Version ${version}; the tables of "${schemaName}" are on ${where}.`),
    ...off.map(([name, why]) =>
      warn(
        "citus",
        `${name} is off: ${why}.`,
        `Run \`alter database ${database} set ${name} = on\`.`,
      ),
    ),
  ];
}
