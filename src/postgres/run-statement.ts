import type { ClientBase, QueryResult, QueryResultRow } from "pg";
import type { Sql } from "sql-template-tag";
import type { OpenPool } from "./acquire-client.js";
import type { CircuitBreaker } from "./circuit-breaker.js";
import type { Connection, QueryOptions } from "./connection.js";
import { toMemoryError } from "./database-error.js";
import {
  findIsolation,
  type IsolationStatus,
  requireIsolation,
  requireTenancy,
  tenantSetting,
} from "./isolation.js";
import type { Preparing } from "./prepared-statements.js";
import { reconnect, retrying } from "./retry.js";
import {
  beginWith,
  type LocalSetting,
  noSessionTimeout,
  planningSettings,
  queryWith,
} from "./session-settings.js";
import { withinDeadline } from "./statement-deadline.js";

/** The clients of a pool, and what statements need before they run on one. */
export interface PooledClients extends Pick<OpenPool, "use"> {
  /** Which statements are prepared. */
  readonly preparing: Preparing;
  /** What statements that begin now need set; read at once, since it follows the call. */
  settingsNow(deadlineMs: number | undefined): LocalSetting[];
  /** Refuses where tenants are to be isolated and are not. Looked at once. */
  requireIsolated(client: ClientBase): Promise<void>;
  /** Whether work across tenants is possible: always without isolation, else only for the tables' owner. */
  mayCrossTenants(): Promise<boolean>;
}

/** How the clients of a pool are used. */
interface ClientSettings {
  readonly schemaName: string;
  readonly isolation: "rls" | undefined;
  /** Whether the sessions have a deadline of their own, by `prepareSession`. */
  readonly ownSessions: boolean;
  readonly preparing: Preparing;
}

/** The clients of `opened`. */
export function pooledClients(
  { use }: OpenPool,
  { schemaName, isolation, ownSessions, preparing }: ClientSettings,
): PooledClients {
  let status: Promise<IsolationStatus> | undefined;
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
    preparing,
    settingsNow: (deadlineMs) => [
      ...(isolation === "rls" ? [tenantSetting(requireTenancy())] : []),
      ...(ownSessions && deadlineMs === undefined ? [noSessionTimeout] : []),
    ],
    async requireIsolated(client) {
      if (isolation === "rls") await isolated(client);
    },
    async mayCrossTenants() {
      return isolation !== "rls" || (await use(isolated)).owner;
    },
  };
}

async function findIsolated(client: ClientBase, schemaName: string): Promise<IsolationStatus> {
  const found = await findIsolation(client, schemaName);
  requireIsolation(found, schemaName);
  return found;
}

/** How statements are run on a pool. */
export interface Statements extends Pick<Connection, "query"> {
  /**
   * `work` in a transaction, which its error rolls back. Never try it again: it may have been committed. Begun anew, with
   * nothing done, where a pooler lost a prepared statement.
   */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
}

/** What statements are told of the schema they run in. */
interface Surroundings extends Omit<Connection, "query"> {
  readonly schemaName: string;
}

/**
 * Statements on `clients` that may take `deadlineMs` each, where they do not say so themselves.
 *
 * @param through what counts whether the database answers; by `guard` they fail at once while it is left alone.
 */
export function statementsOn(
  clients: PooledClients,
  { schemaName, ...surroundings }: Surroundings,
  deadlineMs: number | undefined,
  through: CircuitBreaker["guard"],
): Statements {
  const reported = (error: unknown): never => {
    throw toMemoryError(error, schemaName);
  };
  const { preparing } = clients;
  const sent = (settings: readonly LocalSetting[]) => settings.map(preparing.sendable);
  const statementOf = ({ text, values }: Sql, { prepare = false }: QueryOptions) => {
    const name = prepare ? preparing.nameOf(text) : undefined;
    return { text, values, ...(name !== undefined && { name }) };
  };
  /** `ask`, and once more where a pooler lost a statement: nothing was done then, and it will not happen again. */
  const twice = <Result>(ask: () => Promise<Result>) =>
    ask().catch((error: unknown) => {
      if (preparing.isLost(error)) return ask();
      throw error;
    });
  return {
    async query<Row extends QueryResultRow>(asked: Sql, options: QueryOptions = {}) {
      const { timeoutMs = deadlineMs } = options;
      const settings = clients.settingsNow(timeoutMs);
      const run = () =>
        clients.use(async (client): Promise<QueryResult<Row>> => {
          await clients.requireIsolated(client);
          const needed = [...sent(settings), ...(options.prepare ? planningSettings(client) : [])];
          return withinDeadline(client, timeoutMs, () =>
            queryWith(client, needed, statementOf(asked, options)),
          );
        });
      const asking = () => retrying(run, reconnect);
      return (await through(() => twice(asking).catch(reported))).rows;
    },
    async transaction(work) {
      const settings = clients.settingsNow(deadlineMs);
      /** What `work` itself threw: that is the caller's to understand. */
      let failure: { readonly error: unknown } | undefined;
      const run = async (client: ClientBase) => {
        const within = <Result>(step: () => Promise<Result>) => withinDeadline(client, deadlineMs, step);
        const query = async <Row extends QueryResultRow>(asked: Sql, options: QueryOptions = {}) => {
          const { timeoutMs = deadlineMs } = options;
          const ask = () => client.query<Row>(statementOf(asked, options));
          return (await withinDeadline(client, timeoutMs, ask).catch(reported)).rows;
        };
        await clients.requireIsolated(client);
        await within(() => beginWith(client, [...sent(settings), ...planningSettings(client)]));
        try {
          const result = await work({ ...surroundings, query }).catch((error: unknown) => {
            failure = { error };
            throw error;
          });
          await within(() => client.query("commit"));
          return result;
        } catch (error) {
          await within(() => client.query("rollback")).catch(() => {});
          throw error;
        }
      };
      const once = () =>
        clients.use(run).catch((error: unknown) => {
          if (failure?.error === error) throw error;
          return reported(error);
        });
      return through(() => twice(once));
    },
  };
}
