import type pg from "pg";
import type { ClientBase } from "pg";
import { MemoryError } from "../errors.js";
import { isConnectionError } from "./database-error.js";
import {
  findIsolation,
  type IsolationStatus,
  requireIsolation,
  requireTenancy,
  tenantSetting,
} from "./isolation.js";
import { requireSearchLanguage } from "./search-language.js";
import { type LocalSetting, noSessionTimeout } from "./session-settings.js";

/** The clients of a pool, and what statements need before they run on one. */
export interface PooledClients {
  /** `work` on one client; its errors pass through unchanged. */
  use<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result>;
  /** What statements that begin now need set; read at once, since it follows the call. */
  settingsNow(deadlineMs: number | undefined): LocalSetting[];
  /**
   * Refuses where tenants are to be isolated and are not, and where words are indexed with another language. Looked at
   * once.
   */
  requireFitting(client: ClientBase): Promise<void>;
  /** Whether work across tenants is possible: always without isolation, else only for the tables' owner. */
  mayCrossTenants(): Promise<boolean>;
  /** Refuses all further work and releases what was made for the pool. */
  close(): Promise<void>;
}

/** How the clients of a pool are used. */
interface ClientSettings {
  readonly schemaName: string;
  readonly language: string;
  readonly isolation: "rls" | undefined;
  /** Whether the sessions have a deadline of their own, by `prepareSession`. */
  readonly ownSessions: boolean;
}

const ignore = () => {};

/** The clients of `pool`; `end` releases what was made for it. */
export function pooledClients(
  pool: pg.Pool,
  { schemaName, language, isolation, ownSessions }: ClientSettings,
  end: () => Promise<void>,
): PooledClients {
  let closing: Promise<void> | undefined;
  let status: Promise<IsolationStatus> | undefined;
  let sameLanguage = false;

  const use: PooledClients["use"] = async (work) => {
    if (closing) throw new MemoryError("CLOSED", "This memory was closed; create a new one.");
    return onClient(pool, work);
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
    settingsNow: (deadlineMs) => [
      ...(isolation === "rls" ? [tenantSetting(requireTenancy())] : []),
      ...(ownSessions && deadlineMs === undefined ? [noSessionTimeout] : []),
    ],
    async requireFitting(client) {
      if (isolation === "rls") await isolated(client);
      if (!sameLanguage) await requireSearchLanguage(client, schemaName, language);
      sameLanguage = true;
    },
    async mayCrossTenants() {
      return isolation !== "rls" || (await use(isolated)).owner;
    },
    close() {
      closing ??= end();
      return closing;
    },
  };
}

async function onClient<Result>(
  pool: pg.Pool,
  work: (client: ClientBase) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  // Nobody else listens while it is checked out: lost between two statements, it would end the process.
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

async function findIsolated(client: ClientBase, schemaName: string): Promise<IsolationStatus> {
  const found = await findIsolation(client, schemaName);
  requireIsolation(found, schemaName);
  return found;
}
