import type pg from "pg";
import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import { isConnectionError, waitedTooLong } from "./database-error.js";

/** Nobody else listens while a client is checked out: lost between two statements, it would end the process. */
const ignore = () => {};

/** `work` on one client of `pool`, which is given back; its errors pass through unchanged. */
export async function onClient<Result>(
  pool: pg.Pool,
  timeoutMs: number | undefined,
  work: (client: ClientBase) => Promise<Result>,
): Promise<Result> {
  const client = await acquireClient(pool, timeoutMs);
  client.on("error", ignore);
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(isConnectionError(MemoryError.is(error) ? error.cause : error));
    throw error;
  } finally {
    client.removeListener("error", ignore);
  }
}

/**
 * A client of `pool`, within `timeoutMs`; without a number it may take for ever.
 *
 * @throws what the pool throws; an error that `isConnectTimeout` knows when there was no client in time.
 */
export async function acquireClient(pool: pg.Pool, timeoutMs: number | undefined): Promise<pg.PoolClient> {
  if (timeoutMs === undefined) return pool.connect();
  const connecting = pool.connect();
  return new Promise((resolve, reject) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      endStuckAttempts(pool, timeoutMs);
      reject(waitedTooLong());
    }, timeoutMs);
    connecting.then(
      (client) => {
        clearTimeout(timer);
        if (late) client.release();
        else resolve(client);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** What pg knows and its types leave out. */
interface Attempt {
  readonly _connecting: boolean;
  readonly connection: { readonly stream: { destroy(): void } };
}

const watched = new WeakSet<Attempt>();

/**
 * Gives the attempts to connect that are under way as long again, then ends them. A pool of the caller's need not have
 * a limit: what gets no answer would hold one of its places for good, also when the network is back.
 */
function endStuckAttempts(pool: pg.Pool, timeoutMs: number): void {
  const { _clients: clients = [] } = pool as unknown as { readonly _clients?: readonly Attempt[] };
  for (const client of clients.filter((each) => each._connecting && !watched.has(each))) {
    watched.add(client);
    const end = () => client._connecting && client.connection.stream.destroy();
    setTimeout(end, timeoutMs).unref();
  }
}
