import {
  type Database,
  lacksPgvector,
  type MigrationSet,
  type MigrationStatus,
  migrateCommandLine,
} from "mnemograph/contract";
import sql from "sql-template-tag";
import { bad, type Check, ok, warn } from "./check.js";

type ServerFacts = Record<"version" | "role", string> &
  Record<"isSupported" | "isReadOnly" | "bypasses" | "owns" | "mayCreate" | "mayUse", boolean> &
  Record<"aheadMs" | "open" | "most", number> &
  Record<"processes" | "refused" | "invalid", readonly string[]> &
  Record<"owner" | "pgvector" | "vectorSchema" | "available", string | null> & {
    readonly settings: Readonly<Record<string, string>>;
  };

/**
 * Harmful when off, or when below a limit: from a JIT cost of 10,000 a write took three times as
 * long.
 */
const harmful: readonly (readonly [
  name: string,
  as: typeof bad,
  limit: number,
  why: string,
  fix: string,
])[] = [
  [
    "fsync",
    bad,
    0,
    "a crash of the server can destroy the database",
    "alter system set fsync = on",
  ],
  [
    "full_page_writes",
    bad,
    0,
    "a crash of the server can destroy the database",
    "alter system set full_page_writes = on",
  ],
  [
    "autovacuum",
    warn,
    0,
    "statistics grow old, so searches slow down",
    "alter system set autovacuum = on",
  ],
  [
    "synchronous_commit",
    warn,
    0,
    "a crash of the server loses the last turns",
    "alter role ROLE set synchronous_commit = on",
  ],
  [
    "jit_above_cost",
    warn,
    100_000,
    "writes on a pool of your own are slow",
    "alter role ROLE set jit = off",
  ],
  [
    "statement_timeout",
    warn,
    60_000,
    "after so many ms it stops migrations and export too",
    "alter role ROLE set statement_timeout = 0",
  ],
];

/** From the catalogs, which every role may read. */
export async function readServerFacts(db: Database): Promise<ServerFacts> {
  const may = (right: string) => sql`has_table_privilege(c.oid, ${right})`;
  const askedAt = Date.now();
  const [row] = await db.query<ServerFacts & { readonly now: Date }>(sql`
    select current_setting('server_version') as version, clock_timestamp() as now,
      current_setting('server_version_num')::int >= 140000 as "isSupported",
      pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "isReadOnly",
      (select sum(numbackends)::int from pg_catalog.pg_stat_database) as open,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
      (select json_object_agg(s.name, s.reset_val) from pg_catalog.pg_settings s) as settings,
      array(
        select concat(a.application_name, ' (', count(*), ')') from pg_catalog.pg_stat_activity a
        where a.datname = current_database() and a.application_name like 'mnemograph/%' group by a.application_name order by 1
      ) as processes,
      r.rolname::text as role, r.rolsuper or r.rolbypassrls as bypasses,
      pg_get_userbyid(m.relowner)::text as owner, coalesce(pg_has_role(m.relowner, 'usage'), false) as owns,
      coalesce(has_schema_privilege(n.oid, 'create'), has_database_privilege(current_database(), 'create')) as "mayCreate",
      coalesce(has_schema_privilege(n.oid, 'usage'), true) as "mayUse",
      array(
        select c.relname::text from pg_catalog.pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p')
          and not (${may("select")} and ${may("insert")} and ${may("update")} and ${may("delete")})
      ) as refused,
      array(
        select c.relname::text from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
        where c.relnamespace = n.oid and not i.indisvalid
      ) as invalid,
      e.extversion as pgvector, e.extnamespace::regnamespace::text as "vectorSchema", v.default_version as available
    from pg_catalog.pg_roles r left join pg_catalog.pg_namespace n on n.nspname = ${db.schemaName}
    left join pg_catalog.pg_class m on m.relnamespace = n.oid and m.relname = 'meta'
    left join pg_catalog.pg_extension e on e.extname = 'vector'
    left join pg_catalog.pg_available_extensions v on v.name = 'vector'
    where r.rolname = current_user`);
  const { now, ...facts } = row as NonNullable<typeof row>;
  // The server read its clock between the question and its answer.
  const aheadMs = Math.max(now.getTime() - Date.now(), 0) + Math.min(now.getTime() - askedAt, 0);
  return { ...facts, aheadMs };
}

/** Leases and expiry compare times of several machines, in minutes. */
const maxSkewMs = 5_000;

/** What pg takes for a pool unless told otherwise. */
const poolSize = 10;

export function checkServer(place: string, facts: ServerFacts): Check[] {
  const { version, isReadOnly, aheadMs, open, most, settings, processes, role } = facts;
  const server = `${place}, version ${version}${isReadOnly ? ", read-only: a replica, or the role is set so" : ""}.`;
  const skew = `The server's is ${Math.round(aheadMs / 1_000)} s ahead of this machine's.`;
  const used = `${open} of ${most} connections are open, and a process takes up to ${poolSize}.`;
  const versions =
    processes.length > 0
      ? `${processes.join(", ")} (connections).`
      : "None is connected by a pool that memory made.";
  const found = harmful.flatMap(([name, as, limit, why, fix]) => {
    const value = settings[name] ?? "";
    const isLow =
      Number(value) > 0 &&
      Number(value) < limit &&
      !(name === "jit_above_cost" && settings.jit === "off");
    if (value !== "off" && !isLow) return [];
    return [
      as(
        "settings",
        `${name} is ${value}: ${why}.`,
        `Run \`${fix.replace("ROLE", `"${role}"`)}\`.`,
      ),
    ];
  });
  return [
    isReadOnly
      ? warn("database", server, "Connect to the primary for writes.")
      : ok("database", server),
    Math.abs(aheadMs) > maxSkewMs
      ? warn("clock", skew, "Synchronise both, by NTP.")
      : ok("clock", "The server's agrees with this machine's."),
    most - open < poolSize
      ? warn("connections", used, "Raise max_connections, or put a pooler between.")
      : ok("connections", used),
    processes.length > 1
      ? warn("processes", versions, "Finish the rollout.")
      : ok("processes", versions),
    ...(found.length > 0 ? found : [ok("settings", "None endangers data or slows searches.")]),
  ];
}

const quotedNames = (names: readonly string[]): string =>
  names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");

export function checkRole(
  { schema }: Database,
  { role, owner, owns, mayCreate, mayUse, refused }: ServerFacts,
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
  { owner, owns }: ServerFacts,
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

export function checkPgvector({ pgvector, available }: ServerFacts, isWanted: boolean): Check {
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

export function checkIndexes({ schema }: Database, { invalid }: ServerFacts): Check {
  if (invalid.length === 0) return ok("indexes", "All are valid.");
  const todo = `If none is being built run \`reindex index concurrently ${schema.text}.NAME\`.`;
  return bad("indexes", `Invalid: ${quotedNames(invalid)}.`, todo);
}

export function checkTenants({ role, bypasses }: ServerFacts): Check {
  if (!bypasses) return ok("tenants", "Row-level security keeps them apart.");
  const todo = "Connect processes as a role that is no superuser and has no BYPASSRLS.";
  return bad(
    "tenants",
    `"${role}" bypasses row-level security, so it sees the rows of all tenants.`,
    todo,
  );
}
