import { channel } from "node:diagnostics_channel";
import type pg from "pg";
import type { ClientBase, QueryConfig, QueryResult } from "pg";
import { MemoryError } from "../errors.js";
import { isConnectionError, isReadTimeout } from "./database-error.js";
import {
  findIsolation,
  type IsolationStatus,
  requireIsolation,
  requireTenancy,
  tenantSetting,
} from "./isolation.js";
import { type Ask, deadlineSettings, type LocalSetting, type SessionKind } from "./session-settings.js";

/** How the clients of a pool are used. */
export interface ClientSettings {
  readonly schemaName: string;
  readonly isolation: "rls" | undefined;
  readonly sessions: SessionKind;
  /** Longest time of a statement, which sessions of our own know. @default none */
  readonly statementTimeoutMs: number | undefined;
  /** Releases what was made for the pool. */
  readonly end: () => Promise<void>;
}

/** The clients of a pool, and what statements need before they run on one. */
export interface PooledClients {
  /** `work` on one client, which is given back; its errors pass through unchanged. @throws MemoryError `CLOSED` */
  use<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result>;
  /** Runs statements on `client`, each of which is given up when the server has not answered in time. */
  asking(client: ClientBase, deadlineMs: number | undefined): Ask;
  /** What statements that begin now need set; read at once, since it follows the call. */
  settingsNow(deadlineMs: number | undefined): LocalSetting[];
  /** Refuses where tenants are to be isolated and are not. Looked at once. */
  requireIsolated(client: ClientBase): Promise<void>;
  /** Whether work across tenants is possible: always without isolation, else only for the tables' owner. */
  mayCrossTenants(): Promise<boolean>;
  /** Refuses later calls, lets those have a client that wait for one, and releases what was made for the pool. */
  close(): Promise<void>;
}

/** A checked-out client without a listener that loses its connection would end the process. */
const ignore = () => {};

/** Publishes the text of each statement that is sent. */
const statements = channel("mnemograph:statement");

/** Time between a session's own deadline of a statement and ours: a server that answers reports its own first. */
const graceMs = 1_000;

/** Longest wait for statements without a deadline, so that those to a server that fell silent give their client back. */
const patientMs = 3_600_000;

/** The clients of `pool`. */
export function pooledClients(pool: pg.Pool, settings: ClientSettings): PooledClients {
  const { schemaName, isolation, sessions, statementTimeoutMs, end } = settings;
  const waiting = new Set<Promise<pg.PoolClient>>();
  let closing: Promise<void> | undefined;
  let status: Promise<IsolationStatus> | undefined;

  const acquire = async () => {
    if (closing) throw new MemoryError("CLOSED", "This memory was closed; create a new one.");
    const acquired = pool.connect();
    waiting.add(acquired);
    try {
      return await acquired;
    } finally {
      waiting.delete(acquired);
    }
  };
  const use: PooledClients["use"] = async (work) => {
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
  };
  /** Isolation that isolates nothing must not go unnoticed; a failed look is taken again. */
  const isolated = (client: ClientBase) => {
    status ??= findIsolated(client, schemaName).catch((error: unknown) => {
      status = undefined;
      throw error;
    });
    return status;
  };
  return {
    use,
    asking(client, deadlineMs) {
      const isServers = sessions === "lent" || (sessions === "own" && deadlineMs === statementTimeoutMs);
      const timeoutMs = (deadlineMs ?? patientMs) + (isServers ? graceMs : 0);
      return (statement) => askWithin(client, statement, sessions === "embedded" ? 0 : timeoutMs);
    },
    settingsNow: (deadlineMs) => [
      ...(isolation === "rls" ? [tenantSetting(requireTenancy())] : []),
      ...deadlineSettings(sessions, deadlineMs),
    ],
    async requireIsolated(client) {
      if (isolation === "rls") await isolated(client);
    },
    async mayCrossTenants() {
      return isolation !== "rls" || (await use(isolated)).owner;
    },
    close() {
      // A pool that has ended never answers those who still wait in its queue.
      closing ??= Promise.allSettled(waiting).then(end);
      return closing;
    },
  };
}

async function findIsolated(client: ClientBase, schemaName: string): Promise<IsolationStatus> {
  const found = await findIsolation(client, schemaName);
  requireIsolation(found, schemaName);
  return found;
}

async function askWithin(
  client: ClientBase,
  statement: QueryConfig,
  timeoutMs: number,
): Promise<QueryResult> {
  statements.publish(statement.text);
  try {
    return await client.query({ ...statement, ...(timeoutMs > 0 && { query_timeout: timeoutMs }) });
  } catch (error) {
    // Its answer may come yet: the connection is of no use to others.
    if (isReadTimeout(error)) void (client as pg.Client).end().catch(ignore);
    throw error;
  }
}
