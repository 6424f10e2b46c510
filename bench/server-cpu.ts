import { readFileSync } from "node:fs";
import pg from "pg";

/** Processor time of this process and of the server's processes that work for it. */
export interface CpuTime {
  readonly clientMs: number;
  /** Null where the server runs on another machine. */
  readonly serverMs: number | null;
}

/**
 * Starts to measure processor time; the function that it returns stops.
 *
 * @param applicationName of the connections whose processes are measured; throws if none is open.
 */
export async function startCpu(server: string, applicationName: string): Promise<() => CpuTime> {
  const before = (await backendsOf(server, applicationName)).map((pid) => ({
    pid,
    ms: cpuMs(pid),
  }));
  const clientBefore = process.cpuUsage();
  return () => {
    const client = process.cpuUsage(clientBefore);
    // A connection that has been closed since had been idle.
    const servers = before.map(({ pid, ms }) => (ms === null ? null : (cpuMs(pid) ?? ms) - ms));
    return {
      clientMs: (client.user + client.system) / 1_000,
      serverMs: servers.reduce((sum, ms) => (sum === null || ms === null ? null : sum + ms), 0),
    };
  };
}

async function backendsOf(server: string, applicationName: string): Promise<number[]> {
  const client = new pg.Client(server);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    // Not of this connection, which may have the name too: it ends here.
    "select pid from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()",
    [applicationName],
  );
  await client.end();
  if (rows.length === 0) throw new Error("No connection of what is measured was found.");
  return rows.map(({ pid }) => pid);
}

/** Time on a processor, by Linux; null where the server runs elsewhere. */
function cpuMs(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return null;
  }
}
