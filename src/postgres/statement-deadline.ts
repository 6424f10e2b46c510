import { Socket } from "node:net";
import pg from "pg";
import { MemoryError } from "../errors.js";

/** How long the server has to stop a statement that it was told to stop; then the connection is given up. */
const graceMs = 1_000;

/**
 * `run`, whose statement on `client` the server is told to stop once it has taken `timeoutMs`; without a number it may
 * take for ever. The result, should it be there before it was stopped.
 *
 * It costs no round trip, and a pool of the caller's keeps its settings. When it ends nothing runs any more on the
 * server, unless that cannot be reached. The embedded database works on this process's only thread: nothing can stop it.
 *
 * @throws what the driver throws, with SQLSTATE 57014 for a statement that was stopped; MemoryError `DATABASE_TIMEOUT`
 *   when the server did not even answer that.
 */
export async function withinDeadline<Result>(
  client: pg.ClientBase,
  timeoutMs: number | undefined,
  run: () => Promise<Result>,
): Promise<Result> {
  if (timeoutMs === undefined) return run();
  const { connection } = client as pg.Client;
  let stopping: Promise<void> | undefined;
  let grace: NodeJS.Timeout | undefined;
  let givenUp = false;
  const deadline = setTimeout(() => {
    stopping = requestCancel(client as pg.Client);
    grace = setTimeout(() => {
      givenUp = true;
      connection.stream.destroy();
    }, graceMs);
  }, timeoutMs);
  try {
    return await run();
  } catch (cause) {
    throw givenUp ? timeoutError(`no answer after ${timeoutMs} ms`, cause) : cause;
  } finally {
    clearTimeout(deadline);
    clearTimeout(grace);
    // Under way it could still hit the next statement of this client.
    await stopping;
  }
}

/** The error of a statement that took too long. */
export function timeoutError(detail: string, cause: unknown): MemoryError {
  return new MemoryError(
    "DATABASE_TIMEOUT",
    `The database took too long, and the statement was stopped (${detail}). Look in pg_stat_activity for who holds ` +
      "locks and what else runs, or raise database.statementTimeoutMs in the config.",
    { cause },
  );
}

/** What pg knows and its types leave out. */
interface Session {
  readonly processID: number | null;
  readonly secretKey: number | null;
  readonly connection: pg.Connection & { readonly ssl: unknown; readonly sslNegotiation?: string };
}

type Messenger = pg.Connection & {
  connect(portOrPath: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processID: number, secretKey: number): void;
};

/**
 * Asks the server, over a connection of its own as the protocol has it, to stop what `client` runs; returns once the
 * server has passed that on. Not with `pg_cancel_backend`: behind a pooler the id could be that of another's session.
 */
async function requestCancel(client: pg.Client): Promise<void> {
  const { processID, secretKey, connection } = client as unknown as Session;
  if (!(connection.stream instanceof Socket) || processID === null || secretKey === null) return;
  const { ssl, sslNegotiation } = connection;
  const messenger = new pg.Connection({ ssl, sslNegotiation } as pg.ConnectionConfig) as Messenger;
  const { host, port } = client;
  const send = () => messenger.cancel(processID, secretKey);
  await new Promise<void>((resolve) => {
    const patience = setTimeout(() => messenger.stream.destroy(), graceMs);
    messenger.once("end", () => {
      clearTimeout(patience);
      resolve();
    });
    // It ends after an error as well.
    messenger.on("error", () => {});
    messenger.once("connect", () => {
      if (!ssl) send();
      else if (sslNegotiation !== "direct") messenger.requestSsl();
    });
    messenger.once("sslconnect", send);
    if (host.startsWith("/")) messenger.connect(`${host}/.s.PGSQL.${port}`);
    else messenger.connect(port, host);
  });
}
