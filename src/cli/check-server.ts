import sql from "sql-template-tag";
import type { Database } from "../postgres/database.js";
import { bad, type Check, ok, warn } from "./check.js";
import { counted } from "./output.js";

const oldestServer = 140_000;

/** Leases and expiry compare times of several machines, in minutes. */
const mostSkewMs = 5_000;

/** What pg takes for a pool unless told otherwise. */
const poolSize = 10;

interface ServerRow extends Record<string, unknown> {
  readonly version: string;
  readonly number: number;
  readonly readOnly: boolean;
  readonly now: Date;
  readonly open: number;
  readonly most: number;
}

export async function checkServer(db: Database, place: string): Promise<Check[]> {
  const askedAt = Date.now();
  const [row] = await db.query<ServerRow>(sql`
    select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
      pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on' as "readOnly",
      clock_timestamp() as now, (select sum(numbackends)::int from pg_catalog.pg_stat_database) as open,
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most`);
  const waitedMs = Date.now() - askedAt;
  const { version, number, readOnly, now, open, most } = row as ServerRow;
  const says = `${db.isEmbedded ? `Embedded PostgreSQL in ${place}` : place}, version ${version}`;
  if (number < oldestServer) return [bad("database", `${says}.`, "Upgrade it to PostgreSQL 14 or later.")];
  if (db.isEmbedded) return [ok("database", `${says}.`)];
  const aheadMs = now.getTime() - askedAt - waitedMs / 2;
  const isSkewed = Math.abs(aheadMs) - waitedMs / 2 > mostSkewMs;
  const skew = `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's`;
  const used = `${open} of ${most} connections are open`;
  return [
    readOnly
      ? warn("database", `${says}, read-only: a replica, or the role is set so.`, "Connect what writes to the primary.")
      : ok("database", `${says}.`),
    isSkewed
      ? warn("clock", `The server's clock is ${skew}.`, "Synchronise both by NTP: leases and expiry compare times.")
      : ok("clock", "The server's clock agrees with this machine's."),
    most - open < poolSize
      ? warn(
          "connections",
          `${used}, and a process takes up to ${poolSize}.`,
          "Raise max_connections, or use a pooler.",
        )
      : ok("connections", `${used}; a process takes up to ${poolSize}.`),
  ];
}

type Settings = Readonly<Record<string, string>>;

/** The default. From 10,000 a write took three times as long (3,000 memories of a user). */
const usualJitCost = 100_000;

/** Migrations, export and forgetting run without a deadline of ours. */
const shortTimeoutMs = 60_000;

const isOff = (name: string) => (settings: Settings) => settings[name] === "off";
const losesData = "a crash of the server can destroy the database";

/** Other settings of the planner made no difference that could be measured: functions set what they need. */
const harmful = [
  { name: "fsync", as: bad, when: isOff("fsync"), why: losesData, fix: "fsync = on" },
  { name: "full_page_writes", as: bad, when: isOff("full_page_writes"), why: losesData, fix: "full_page_writes = on" },
  {
    name: "synchronous_commit",
    as: warn,
    when: isOff("synchronous_commit"),
    why: "a crash of the server loses the last turns that were answered",
    fix: "synchronous_commit = on",
  },
  {
    name: "autovacuum",
    as: warn,
    when: isOff("autovacuum"),
    why: "statistics grow old and deleted rows stay, so searches slow down",
    fix: "autovacuum = on",
  },
  {
    name: "jit_above_cost",
    as: warn,
    when: ({ jit, jit_above_cost }: Settings) => jit === "on" && Number(jit_above_cost) < usualJitCost,
    why: "writes on a pool of your own take three times as long",
    fix: "jit = off",
  },
  {
    name: "statement_timeout",
    as: warn,
    when: ({ statement_timeout: ms = "0" }: Settings) => Number(ms) > 0 && Number(ms) < shortTimeoutMs,
    why: "it stops migrations, export and forgetting too, while turns have a limit of their own",
    fix: "statement_timeout = 0",
  },
];
const ofServer = ["fsync", "full_page_writes", "autovacuum"];

export async function checkSettings(db: Database): Promise<Check[]> {
  const names = [...harmful.map(({ name }) => name), "jit"];
  // Not the values of this session, which sets some itself.
  const rows = await db.query<{ name: string; value: string; role: string }>(sql`
    select name, reset_val as value, current_user as role from pg_catalog.pg_settings where name = any (${names})`);
  const settings = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  const found = harmful
    .filter(({ when }) => when(settings))
    .map(({ name, as, why, fix }) => {
      const command = ofServer.includes(name) ? `alter system set ${fix}` : `alter role "${rows[0]?.role}" set ${fix}`;
      return as("settings", `${name} is ${settings[name]}: ${why}.`, `Run \`${command}\`.`);
    });
  return found.length > 0 ? found : [ok("settings", "None endangers data or slows searches.")];
}

/** A pooler gives its clients process ids of its own. */
export async function checkPooler(db: Database, prepare: boolean): Promise<Check> {
  const ask = { name: "mnemograph_doctor", text: "select pg_backend_pid() as pid", query_timeout: 2_000 };
  return db.withClient((client) =>
    db.withClient(async (other) => {
      const { pid } = (await client.query(ask)).rows[0];
      if (pid === (client as unknown as { processID: number }).processID) {
        return ok("pooler", "None: this connection is direct.");
      }
      await other.query("begin");
      const shares = (await other.query(ask.text)).rows[0].pid === pid;
      // `other` has the session where it was prepared.
      const keeps = await client.query(ask).then(
        () => true,
        () => false,
      );
      await other.query("rollback");
      if (!shares) return ok("pooler", "One in session mode, which needs no setting.");
      if (keeps) return ok("pooler", "One in transaction mode, which keeps prepared statements.");
      const says = "One in transaction mode, which loses prepared statements";
      if (!prepare) return ok("pooler", `${says}: the config has database.prepare: false.`);
      const todo = "Set database.prepare: false in every process's config (--config FILE shows it to doctor).";
      return warn("pooler", `${says}.`, `${todo} Migrate over a direct connection.`);
    }),
  );
}

/** Pools that memory makes name themselves `mnemograph/VERSION`; others have names of their own. */
export async function checkVersions(db: Database): Promise<Check> {
  const rows = await db.query<{ name: string; count: number }>(sql`
    select application_name as name, count(*)::int as count from pg_catalog.pg_stat_activity
    where datname = current_database() and application_name like 'mnemograph/%' and pid <> pg_backend_pid()
    group by 1 order by 1`);
  const says = rows.map(({ name, count }) => `${name} on ${counted(count, "connection")}`).join(", ");
  if (rows.length > 1)
    return warn("processes", `${says}.`, "Finish the rollout: they work together only for its time.");
  return ok("processes", says ? `${says}.` : "None is connected, except those on a pool of their own.");
}
