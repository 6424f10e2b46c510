import {
  type Database,
  lacksPgvector,
  type MigrationSet,
  type MigrationStatus,
  migrateCommandLine,
} from "mnemograph/contract";
import sql from "sql-template-tag";
import { bad, type Check, ok, warn } from "./check.js";

type DatabaseFacts = Record<"version" | "role", string> &
  Record<"isSupported" | "isReadOnly" | "bypasses" | "owns" | "mayCreate" | "mayUse", boolean> &
  Record<"owner" | "pgvector" | "vectorSchema" | "available", string | null> & {
    readonly refused: readonly string[];
  };

/** From the catalogs, which every role may read. */
export async function readDatabaseFacts(db: Database): Promise<DatabaseFacts> {
  const may = (right: string) => sql`has_table_privilege(c.oid, ${right})`;
  const [row] = await db.query<DatabaseFacts>(sql`
    select current_setting('server_version') as version,
      current_setting('server_version_num')::int >= 140000 as "isSupported",
      pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReadOnly",
      r.rolname::text as role, r.rolsuper or r.rolbypassrls as bypasses,
      pg_get_userbyid(m.relowner)::text as owner, coalesce(pg_has_role(m.relowner, 'usage'), false) as owns,
      coalesce(has_schema_privilege(n.oid, 'create'), has_database_privilege(current_database(), 'create')) as "mayCreate",
      coalesce(has_schema_privilege(n.oid, 'usage'), true) as "mayUse",
      array(
        select c.relname::text from pg_catalog.pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p')
          and not (${may("select")} and ${may("insert")} and ${may("update")} and ${may("delete")})
      ) as refused,
      e.extversion as pgvector, e.extnamespace::regnamespace::text as "vectorSchema", v.default_version as available
    from pg_catalog.pg_roles r left join pg_catalog.pg_namespace n on n.nspname = ${db.schemaName}
    left join pg_catalog.pg_class m on m.relnamespace = n.oid and m.relname = 'meta'
    left join pg_catalog.pg_extension e on e.extname = 'vector'
    left join pg_catalog.pg_available_extensions v on v.name = 'vector'
    where r.rolname = current_user`);
  return row as NonNullable<typeof row>;
}

export function checkServer(
  { isEmbedded }: Database,
  place: string,
  { version, isSupported, isReadOnly }: DatabaseFacts,
): Check {
  if (isEmbedded) return ok("database", `Embedded PostgreSQL ${version} in ${place}.`);
  const server = `${place}, version ${version}`;
  if (!isSupported) return bad("database", `${server}.`, "Upgrade it to 14 or later.");
  if (!isReadOnly) return ok("database", `${server}.`);
  const says = `${server}, read-only: a replica, or the role is set so.`;
  return warn("database", says, "Connect to the primary for writes.");
}

const quotedNames = (names: readonly string[]): string =>
  names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");

export function checkRole(
  { schema }: Database,
  { role, owner, owns, mayCreate, mayUse, refused }: DatabaseFacts,
): Check {
  if (owner === null) {
    if (mayCreate) return ok("role", `"${role}" may create the tables.`);
    const todo = `As an administrator run \`create schema ${schema.text} authorization "${role}"\`.`;
    return bad("role", `"${role}" may not create the tables.`, todo);
  }
  if (mayUse && refused.length === 0) {
    return ok(
      "role",
      `"${role}" may read and write all tables${owns ? ", and migrate" : `; "${owner}" migrates`}.`,
    );
  }
  const rights = "select, insert, update, delete on all tables in";
  const grants = [`usage on`, rights].map(
    (right) => `grant ${right} schema ${schema.text} to "${role}"`,
  );
  const says = `"${role}" may not read and write ${refused.length > 0 ? quotedNames(refused) : "the schema"}.`;
  return bad("role", says, `As "${owner}" run \`${grants.join("; ")}\`.`);
}

const uses = {
  core: "memory needs it",
  vector: "embeddings need it",
  isolation: "row-level security needs it",
};

/** Lists every set of migrations, whether it is there or not. */
export function checkSets(
  db: Database,
  status: MigrationStatus,
  { owner, owns }: DatabaseFacts,
): Check[] {
  const { sets, newer, functions } = status;
  const run = (...added: MigrationSet[]) =>
    `Run \`${migrateCommandLine(db, added)}\`${owner === null || owns ? "" : ` as "${owner}"`}.`;
  if (sets.every(({ version }) => version === null)) return [bad("core", "Not set up.", run())];
  const checks = sets.map(({ set, version, pending }) => {
    if (version === null) {
      return pending.length > 0
        ? bad(set, "Not set up.", run(set))
        : ok(set, `Not set up; ${uses[set]} (\`${migrateCommandLine(db, [set])}\`).`);
    }
    if (pending.length > 0)
      return bad(set, `Version ${version}, lacks ${pending.join(", ")}.`, run());
    if (!newer) return ok(set, `Version ${version}.`);
    return warn(set, `Version ${version} of a newer, compatible package.`, "Update this package.");
  });
  const { version, shipped } = functions;
  if ((version ?? 0) >= shipped) return [...checks, ok("functions", `Version ${version}.`)];
  return [
    ...checks,
    bad("functions", `Version ${version}, and this package has ${shipped}.`, run()),
  ];
}

export function checkPgvector({ pgvector, available }: DatabaseFacts, isWanted: boolean): Check {
  const [major = 0, minor = 0] = (pgvector ?? "").split(".").map(Number);
  if (major > 0 || minor >= 7) return ok("pgvector", `Version ${pgvector}.`);
  const says = pgvector
    ? `Version ${pgvector} is too old`
    : `Not created, ${available ?? "none"} is available`;
  if (!isWanted) return ok("pgvector", `${says}; embeddings need it.`);
  const creates = pgvector === null && available !== null;
  return bad(
    "pgvector",
    `${says}.`,
    creates ? "Run `create extension vector` as an administrator." : lacksPgvector,
  );
}

export function checkTenants({ role, bypasses }: DatabaseFacts): Check {
  if (!bypasses) return ok("tenants", "Row-level security keeps them apart.");
  const todo = "Connect processes as a role that is no superuser and has no BYPASSRLS.";
  return bad(
    "tenants",
    `"${role}" bypasses row-level security, so it sees the rows of all tenants.`,
    todo,
  );
}
