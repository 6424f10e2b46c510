import { channel } from "node:diagnostics_channel";
import { performance } from "node:perf_hooks";
import type pg from "pg";
import type { ClientBase, QueryConfig, QueryResult } from "pg";
import { inTime } from "../deadline.js";
import { MemoryError } from "../errors.js";
import {
  isLostSession,
  isPoolBusy,
  isReadTimeout,
  isTimeout,
  readTimeout,
} from "./database-error.js";
import {
  findIsolation,
  type IsolationStatus,
  requireIsolation,
  requireTenancy,
  tenantSetting,
} from "./isolation.js";
import type { OutageWatch } from "./outage.js";
import { requireSchema, type SchemaPlace } from "./schema-state.js";
import {
  type Ask,
  deadlineSettings,
  type LocalSetting,
  type SessionKind,
} from "./session-settings.js";

export interface ClientSettings extends SchemaPlace {
  /** Refuses a schema of another development version at the first statement. @default false */
  readonly checksSchema?: boolean | undefined;
  readonly isolation?: "rls" | undefined;
  readonly sessions: SessionKind;
  readonly statementTimeoutMs?: number | undefined;
  readonly watch: Pick<OutageWatch, "answered" | "failed">;
  readonly end: () => Promise<void>;
}

export type PooledClients = ReturnType<typeof pooledClients>;

/** Without a listener a lost connection of a checked-out client ends the process. */
const ignore = () => {};

const statementChannel = channel("mnemograph:statement");

/** The protocol counts parameters in two bytes. */
const maxParameters = 65_535;

/** A server that answers reports its own timeout within this time. */
const graceMs = 1_000;

/** Longest wait without a deadline: frees the clients of a silent server. */
const patientMs = 3_600_000;

export function pooledClients(pool: pg.Pool, settings: ClientSettings) {
  const { isolation, sessions, statementTimeoutMs, watch, end } = settings;
  const waiting = new Set<Promise<pg.PoolClient>>();
  let closing: Promise<void> | undefined;
  let checked: Promise<IsolationStatus | null> | undefined;

  const acquire = async (isSecondTry = false): Promise<pg.PoolClient> => {
    if (closing) throw new MemoryError("CLOSED", "This memory was closed; create a new one.");
    const askedAt = performance.now();
    const before = performance.eventLoopUtilization();
    const acquired = pool.connect();
    waiting.add(acquired);
    try {
      return await acquired;
    } catch (error) {
      // While this process was blocked, such as by a checkpoint of 60 MB, it read no answers.
      const { utilization } = performance.eventLoopUtilization(before);
      if (!isSecondTry && isTimeout(error) && utilization > 0.5) return acquire(true);
      watch.failed(error, askedAt);
      throw error;
    } finally {
      waiting.delete(acquired);
    }
  };
  const use = useClients(() => acquire());
  const asking = (client: ClientBase, deadlineMs: number | undefined): Ask => {
    const isServers =
      sessions === "lent" || (sessions === "own" && deadlineMs === statementTimeoutMs);
    const timeoutMs = (deadlineMs ?? patientMs) + (isServers ? graceMs : 0);
    return (statement) =>
      askWithin(client, statement, sessions === "embedded" ? 0 : timeoutMs, watch);
  };
  const check = async (ask: Ask) => {
    const { schemaName, checksSchema } = settings;
    if (checksSchema) await requireSchema(ask, settings);
    if (isolation !== "rls") return null;
    return requireIsolation(await findIsolation(ask, schemaName), schemaName);
  };
  const checkOnce = (ask: Ask) => {
    checked ??= check(ask).catch((error: unknown) => {
      checked = undefined;
      throw error;
    });
    return checked;
  };
  return {
    use,
    /** Waits while others have all clients of the pool. */
    useWhenFree: useClients(() => untilFree(acquire)),
    asking,
    /** Before the first statement: whether the schema is this package's, and isolates tenants. */
    checkOnce,
    /** Synchronous, since the tenancy belongs to the calling context. */
    settingsNow: (deadlineMs: number | undefined): LocalSetting[] => [
      ...(isolation === "rls" ? [tenantSetting(requireTenancy())] : []),
      ...deadlineSettings(sessions, deadlineMs),
    ],
    async mayCrossTenants() {
      if (isolation !== "rls") return true;
      const status = await use((client) => checkOnce(asking(client, statementTimeoutMs)));
      return status?.owner ?? false;
    },
    close() {
      // A pool that has ended never answers its queue.
      closing ??= Promise.allSettled(waiting).then(end);
      return closing;
    },
  };
}

async function untilFree(acquire: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
  for (;;) {
    try {
      return await acquire();
    } catch (error) {
      if (!isPoolBusy(error)) throw error;
    }
  }
}

/** Runs work with a client, which returns to the pool, or is ended if its connection failed. */
const useClients =
  (acquire: () => Promise<pg.PoolClient>) =>
  async <Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result> => {
    const client = await acquire();
    client.on("error", ignore);
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(isLostSession(MemoryError.is(error) ? error.cause : error));
      throw error;
    } finally {
      client.removeListener("error", ignore);
    }
  };

async function askWithin(
  client: ClientBase,
  statement: QueryConfig,
  timeoutMs: number,
  watch: ClientSettings["watch"],
): Promise<QueryResult> {
  const parameters = statement.values?.length ?? 0;
  if (parameters > maxParameters) {
    throw new MemoryError(
      "INVALID_INPUT",
      `This takes one statement of ${parameters} parameters, and PostgreSQL accepts ${maxParameters}: ask for less at once.`,
    );
  }
  statementChannel.publish(statement.text);
  const askedAt = performance.now();
  try {
    const answer = client.query(statement);
    // Not pg's `query_timeout`: that one counts the time in which this process was blocked.
    const result = await (timeoutMs > 0 ? inTime(timeoutMs, answer, readTimeout) : answer);
    watch.answered();
    return result;
  } catch (error) {
    watch.failed(error, askedAt);
    // A late answer may follow, so the connection cannot be reused. In a pipeline `end` waits for it.
    if (isReadTimeout(error)) {
      (client as { connection?: pg.Connection }).connection?.stream.destroy();
      void (client as pg.Client).end().catch(ignore);
    }
    throw error;
  }
}
