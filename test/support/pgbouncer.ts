import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { freePort } from "./free-port.js";

export function hasPgbouncer(): boolean {
  return spawnSync("pgbouncer", ["--version"]).status === 0;
}

export interface Pgbouncer {
  /** Connection string through it. */
  url(user?: string): string;
  stop(): Promise<void>;
}

/**
 * PgBouncer in transaction mode before the server of `databaseUrl`, with fewer sessions than tests
 * have clients.
 *
 * @param users further roles that connect, with their passwords.
 */
export async function startPgbouncer(
  databaseUrl: string,
  users: Record<string, string> = {},
): Promise<Pgbouncer> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const folder = mkdtempSync(join(tmpdir(), "mnemograph-pgbouncer-"));
  const known = { [username]: decodeURIComponent(password), ...users };
  const list = Object.entries(known).map(([name, secret]) => `"${name}" "${secret}"`);
  writeFileSync(join(folder, "users"), list.join("\n"));
  const listenPort = await freePort();
  const settings = {
    listen_addr: "127.0.0.1",
    listen_port: listenPort,
    unix_socket_dir: "",
    auth_type: "trust",
    auth_file: join(folder, "users"),
    pool_mode: "transaction",
    default_pool_size: 4,
    max_client_conn: 200,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    ["[databases]", `* = host=${hostname} port=${port || 5432}`, "[pgbouncer]", ...lines].join(
      "\n",
    ),
  );
  chmodSync(folder, 0o755);
  // It refuses to run as root.
  const identity = process.geteuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const child = spawn("pgbouncer", [file], { stdio: "ignore", ...identity });
  const url = (user = username) => `postgresql://${user}@127.0.0.1:${listenPort}${pathname}`;
  await answering(url(), child);
  return {
    url,
    async stop() {
      const ended = new Promise((resolve) => child.once("close", resolve));
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answering(connectionString: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; child.exitCode === null; tries++) {
    const client = new pg.Client({ connectionString });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (tries > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  throw new Error(`pgbouncer ended with ${child.exitCode}.`);
}
