import sql, { raw } from "sql-template-tag";
import { pendingCheckpoints } from "../langgraph/checkpointer/set-up-checkpointer.js";
import { identifier } from "../postgres/connection.js";
import type { Database } from "../postgres/database.js";
import { installVectors } from "../postgres/embedded-pool.js";
import { findIsolation } from "../postgres/isolation.js";
import type { MigrationStatus } from "../postgres/migration-status.js";
import { bad, type Check, ok, quoted, warn } from "./check.js";

interface SchemaRow extends Record<string, unknown> {
  readonly role: string;
  /** The role that owns the tables; null without tables. */
  readonly owner: string | null;
  readonly owns: boolean;
  readonly exists: boolean;
  readonly mayUse: boolean;
  readonly mayCreate: boolean;
  readonly lacks: readonly string[];
  readonly bare: readonly string[];
  readonly invalid: readonly string[];
  readonly unanalyzed: readonly string[];
}

/** From the catalogs, which every role may read. */
export async function readSchemaFacts(db: Database): Promise<SchemaRow> {
  const may = (right: string) => sql`has_table_privilege(c.oid, ${right})`;
  const tables = sql`from pg_catalog.pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p')`;
  const [row] = await db.query<SchemaRow>(sql`
    select current_user::text as role, pg_get_userbyid(m.relowner)::text as owner, coalesce(pg_has_role(m.relowner, 'usage'), false) as owns,
      n.oid is not null as exists, coalesce(has_schema_privilege(n.oid, 'usage'), false) as "mayUse",
      coalesce(has_schema_privilege(n.oid, 'create'), has_database_privilege(current_database(), 'create')) as "mayCreate",
      array(
        select c.relname::text ${tables} and not (${may("select")} and ${may("insert")} and ${may("update")} and ${may("delete")})
        order by 1
      ) as lacks,
      array(
        select c.relname::text ${tables} and exists (select from pg_catalog.pg_policy p where p.polrelid = c.oid)
          and not (c.relrowsecurity and c.relforcerowsecurity) order by 1
      ) as bare,
      array(
        select c.relname::text from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
        where c.relnamespace = n.oid and not i.indisvalid order by 1
      ) as invalid,
      array(
        select s.relname::text from pg_catalog.pg_stat_all_tables s
        where s.schemaname = n.nspname and s.n_live_tup > 1000 and s.last_analyze is null and s.last_autoanalyze is null order by 1
      ) as unanalyzed
    from (values (${db.schemaName}::text)) asked (schema)
    left join pg_catalog.pg_namespace n on n.nspname = asked.schema
    left join pg_catalog.pg_class m on m.relnamespace = n.oid and m.relname = 'meta'`);
  return row as SchemaRow;
}

export function checkRole(db: Database, { role, owner, owns, exists, mayUse, mayCreate, lacks }: SchemaRow): Check {
  const schema = db.schema.text;
  if (!exists) {
    if (mayCreate) return ok("role", `"${role}" may create the schema.`);
    const todo = `As an administrator run \`create schema ${schema} authorization "${role}"\`.`;
    return bad("role", `"${role}" may not create the schema.`, todo);
  }
  if (!mayUse || lacks.length > 0) {
    const tables = lacks.length > 0 ? quoted(lacks) : `schema ${schema}`;
    const grant = `grant usage on schema ${schema} to "${role}"; grant select, insert, update, delete on all tables in schema ${schema} to "${role}"`;
    return bad("role", `"${role}" may not read and write ${tables}.`, `As "${owner ?? "the owner"}" run \`${grant}\`.`);
  }
  if (owner === null) return ok("role", `"${role}" may ${mayCreate ? "" : "not "}create tables.`);
  return ok("role", `"${role}" may read and write all tables${owns ? ", and migrate" : `; "${owner}" may migrate`}.`);
}

/** Lists every set of migrations, whether it is there or not. */
export function checkSets(
  { isEmbedded, schemaName }: Database,
  { sets, newer, functions }: MigrationStatus,
  { owner, owns }: SchemaRow,
): Check[] {
  const flag = schemaName === "mnemograph" ? "" : ` --schema ${schemaName}`;
  const as = owner === null || owns ? "" : ` as "${owner}"`;
  const migrate = (also = "") => `Run \`npx mnemograph migrate${also}${flag}\`${as}.`;
  if (sets.every(({ version }) => version === null)) return [bad("core", "Not set up.", migrate())];
  const optional = {
    core: { flag: "", for: "" },
    vector: { flag: " --vectors", for: "embeddings need it" },
    isolation: { flag: " --isolation", for: "row-level security needs it" },
  };
  // The embedded database has superusers only, who bypass row-level security.
  const possible = sets.filter(({ set, version }) => !(isEmbedded && set === "isolation" && version === null));
  const checks = possible.map(({ set, version, pending }) => {
    const more = optional[set];
    if (version === null) {
      if (pending.length > 0) return bad(set, "Not set up.", migrate(more.flag));
      return ok(set, `Not set up; ${more.for} (\`npx mnemograph migrate${more.flag}\`).`);
    }
    const state = `Version ${version}`;
    if (pending.length > 0) return bad(set, `${state}, lacks ${pending.join(", ")}.`, migrate());
    if (!newer) return ok(set, `${state}.`);
    return warn(set, `${state} of a newer, compatible package.`, "Update this package.");
  });
  const found = functions.version ?? 0;
  const isOld = found < functions.shipped;
  const says = `Version ${found}${isOld ? `, and this package has ${functions.shipped}` : ""}.`;
  return [...checks, isOld ? bad("functions", says, migrate()) : ok("functions", says)];
}

export async function checkCheckpointer(db: Database): Promise<Check> {
  const pending = await db.withClient((client) => pendingCheckpoints(client, db.schemaName));
  if (pending === 0) return ok("checkpointer", "LangGraph's tables are up to date.");
  const todo = "Run `npx mnemograph migrate`.";
  return bad("checkpointer", `LangGraph's tables lack ${pending} of its migrations.`, todo);
}

export async function checkQueues(db: Database, queueSchema: string): Promise<Check> {
  const schema = identifier(queueSchema);
  const [there] = await db.query<{ found: boolean }>(
    sql`select to_regclass(${`${schema.text}.version`}) is not null as found`,
  );
  if (!there?.found) return ok("queues", `None: pg-boss has no tables in "${queueSchema}".`);
  const [row] = await db.query<{ version: number }>(sql`select version from ${schema}.version`);
  return ok("queues", `pg-boss's tables in "${queueSchema}" have version ${row?.version}; its start updates them.`);
}

export async function checkIsolation(db: Database, { bare, role }: SchemaRow): Promise<Check> {
  const { exempt } = await db.withClient((client) => findIsolation(client, db.schemaName));
  if (exempt) {
    const todo = "Connect processes as a role that is no superuser and has no BYPASSRLS; check with that role.";
    return bad("tenants", `"${role}" bypasses row-level security, so it sees the rows of all tenants.`, todo);
  }
  if (bare.length === 0) return ok("tenants", "Row-level security keeps them apart.");
  const todo = "`alter table NAME enable row level security, force row level security` for each.";
  return bad("tenants", `Row-level security is off for ${quoted(bare)}.`, todo);
}

export function checkTables(db: Database, { invalid, unanalyzed }: SchemaRow): Check[] {
  const schema = db.schema.text;
  const todo = `If none is being built: \`reindex index concurrently ${schema}.NAME\`; drop those that end with _ccnew.`;
  return [
    invalid.length === 0 ? ok("indexes", "All are valid.") : bad("indexes", `Invalid: ${quoted(invalid)}.`, todo),
    ...(unanalyzed.length === 0
      ? []
      : [warn("statistics", `Never collected for ${quoted(unanalyzed)}: plans are slow.`, "Run `analyze` in psql.")]),
  ];
}

/** pgvector has had halfvec since. */
const oldestPgvector = [0, 7];

/** @param wanted whether the tables of vectors are there, or asked for */
export async function checkPgvector(db: Database, wanted: boolean): Promise<Check> {
  const [row] = await db.query<{ installed: string | null; place: string | null; available: string | null }>(sql`
    select max(e.extversion) as installed, max(quote_ident(n.nspname)) as place, (
        select a.default_version from pg_catalog.pg_available_extensions a where a.name = 'vector'
      ) as available
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace where e.extname = 'vector'`);
  const { installed = null, place = null, available = null } = row ?? {};
  if (installed === null) {
    const says = available === null ? "Not available on this server" : `Version ${available} is available, not created`;
    if (!wanted) return ok("pgvector", `${says}; embeddings need it.`);
    const install = db.isEmbedded
      ? `Run \`${installVectors}\``
      : "Install 0.7 or later on the server: https://github.com/pgvector/pgvector";
    const create = "Run `npx mnemograph migrate --vectors`, or `create extension vector` as an administrator";
    return bad("pgvector", `${says}.`, `${available === null ? install : create}.`);
  }
  // Loads the library, which may have been uninstalled.
  await db.query(sql`select '[1]'::${raw(place ?? "")}.vector`);
  const [major = 0, minor = 0] = installed.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestPgvector;
  if (major > oldestMajor || minor >= oldestMinor) return ok("pgvector", `Version ${installed}.`);
  const todo = `Install it, then \`alter extension vector update\` (this server has ${available ?? "none"}).`;
  return bad("pgvector", `Version ${installed}, and embeddings need 0.7 or later.`, todo);
}
