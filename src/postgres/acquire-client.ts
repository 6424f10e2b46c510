import type pg from "pg";
import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import { isConnectionError, isConnectTimeout, poolBusy, waitedTooLong } from "./database-error.js";

/** Nobody else listens while a client is checked out: lost between two statements, it would end the process. */
const ignore = () => {};

/** A pool, until it is closed. */
export interface OpenPool {
  /** A client, to be released. @throws MemoryError `CLOSED`; what `acquireClient` throws. */
  acquire(): Promise<pg.PoolClient>;
  /** `work` on one client, which is given back; its errors pass through unchanged. @throws MemoryError `CLOSED` */
  use<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result>;
  /** Refuses whoever comes, and releases what was made for the pool once nobody waits for a client. */
  close(): Promise<void>;
}

/**
 * `pool`, whose clients come within `timeoutMs`; without a number they may take for ever.
 *
 * @param end releases what was made for the pool.
 */
export function openPool(pool: pg.Pool, timeoutMs: number | undefined, end: () => Promise<void>): OpenPool {
  const waiting = new Set<Promise<pg.PoolClient>>();
  let closing: Promise<void> | undefined;
  const acquire = async () => {
    if (closing) throw new MemoryError("CLOSED", "This memory was closed; create a new one.");
    const acquired = acquireClient(pool, timeoutMs);
    waiting.add(acquired);
    try {
      return await acquired;
    } finally {
      waiting.delete(acquired);
    }
  };
  return {
    acquire,
    use: (work) => onClient(acquire, work),
    close() {
      // A pool that has ended serves nobody who stands in its queue, and tells them nothing.
      closing ??= Promise.allSettled(waiting).then(end);
      return closing;
    },
  };
}

async function onClient<Result>(
  acquire: OpenPool["acquire"],
  work: (client: ClientBase) => Promise<Result>,
): Promise<Result> {
  const client = await acquire();
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
 * @throws what the pool throws; an error that `isConnectTimeout` knows when there was no client in time, and one that
 *   `isPoolBusy` knows when others had them all.
 */
async function acquireClient(pool: pg.Pool, timeoutMs: number | undefined): Promise<pg.PoolClient> {
  if (timeoutMs === undefined) return pool.connect();
  const connecting = pool.connect();
  return new Promise((resolve, reject) => {
    let late = false;
    const refuse = (error: unknown) =>
      reject(isConnectTimeout(error) && allInUse(pool) ? poolBusy(pool.totalCount) : error);
    const timer = setTimeout(() => {
      late = true;
      refuse(waitedTooLong());
      endStuckAttempts(pool, timeoutMs);
    }, timeoutMs);
    connecting.then(
      (client) => {
        clearTimeout(timer);
        if (late) client.release();
        else resolve(client);
      },
      (error: unknown) => {
        clearTimeout(timer);
        refuse(error);
      },
    );
  });
}

/** What pg knows and its types leave out. */
interface Attempt {
  readonly _connecting: boolean;
  readonly connection: { readonly stream: { destroy(): void } };
}

const attemptsOf = (pool: pg.Pool) => {
  const { _clients: clients = [] } = pool as unknown as { readonly _clients?: readonly Attempt[] };
  return clients.filter((each) => each._connecting);
};

/** Whether `pool` has as many clients as it may, all of them connected: then to wait for one says nothing of the database. */
function allInUse(pool: pg.Pool): boolean {
  return pool.totalCount >= pool.options?.max && attemptsOf(pool).length === 0;
}

const watched = new WeakSet<Attempt>();

/**
 * Gives the attempts to connect that are under way as long again, then ends them. A pool of the caller's need not have
 * a limit: what gets no answer would hold one of its places for good, also when the network is back.
 */
function endStuckAttempts(pool: pg.Pool, timeoutMs: number): void {
  for (const client of attemptsOf(pool).filter((each) => !watched.has(each))) {
    watched.add(client);
    const end = () => client._connecting && client.connection.stream.destroy();
    setTimeout(end, timeoutMs).unref();
  }
}
