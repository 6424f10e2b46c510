import { readFileSync } from "node:fs";
import pg from "pg";

/** Process ids of the server's connections with this application name. Throws without any. */
export async function backendsOf(server: string, applicationName: string): Promise<number[]> {
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
export function cpuMs(pids: readonly number[]): number | null {
  try {
    const times = pids.map((pid) =>
      Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]),
    );
    return times.reduce((sum, time) => sum + time, 0) / 1e6;
  } catch {
    return null;
  }
}
