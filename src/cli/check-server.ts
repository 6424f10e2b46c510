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

const harmful = [
  { name: "fsync", as: bad, why: "a crash of the server can destroy the database" },
  { name: "full_page_writes", as: bad, why: "a crash of the server can destroy the database" },
  { name: "synchronous_commit", as: warn, why: "a crash of the server loses the last turns that were answered" },
  { name: "autovacuum", as: warn, why: "statistics grow old and deleted rows stay, so searches slow down" },
  { name: "track_counts", as: warn, why: "autovacuum does not find what to do, so searches slow down" },
];

/** Migrations, export and forgetting run without a deadline of ours. */
const shortTimeoutMs = 60_000;

/** Planning and JIT need no check: functions and sessions of ours set what they need. */
export async function checkSettings(db: Database): Promise<Check[]> {
  const names = [...harmful.map(({ name }) => name), "statement_timeout"];
  const rows = await db.query<{ name: string; setting: string; reset: string; role: string }>(sql`
    select name, setting, reset_val as reset, current_user as role from pg_catalog.pg_settings where name = any (${names})`);
  const found = harmful
    .filter(({ name }) => rows.some((row) => row.name === name && row.setting === "off"))
    .map(({ name, as, why }) => as("settings", `${name} is off: ${why}.`, "Turn it on."));
  const timeout = rows.find(({ name }) => name === "statement_timeout");
  const timeoutMs = Number(timeout?.reset ?? 0);
  if (timeoutMs > 0 && timeoutMs < shortTimeoutMs) {
    const says = `statement_timeout of "${timeout?.role}" is ${timeoutMs} ms: it stops migrations, export and forgetting too.`;
    found.push(
      warn("settings", says, `\`alter role "${timeout?.role}" set statement_timeout = 0\`: turns have their own.`),
    );
  }
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
