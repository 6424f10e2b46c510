import { createHash } from "node:crypto";
import type { ClientBase, QueryResult, QueryResultRow } from "pg";
import type { Sql } from "sql-template-tag";
import type { CircuitBreaker } from "./circuit-breaker.js";
import type { Connection, QueryOptions } from "./connection.js";
import { toMemoryError } from "./database-error.js";
import type { PooledClients } from "./pooled-clients.js";
import { reconnect, retrying } from "./retry.js";
import { beginWith, queryWith } from "./session-settings.js";

/** One client for a library that writes by a pool, as LangGraph's checkpointer. */
export interface RepeatedClient {
  /** Opens a transaction that sees what the statements of this call see. */
  begin(): Promise<void>;
  query(text: string, values?: unknown[]): Promise<QueryResult>;
}

/** How statements are run on a pool. */
export interface Statements extends Pick<Connection, "query"> {
  /** `work` in a transaction, which its error rolls back. Never try it again: it may have been committed. */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
  /** `work` on one client, begun anew on another where the connection was lost: for what may be done twice. */
  repeatable<Result>(work: (client: RepeatedClient) => Promise<Result>): Promise<Result>;
}

/** What statements are told of the schema they run in. */
interface Surroundings extends Omit<Connection, "query"> {
  readonly schemaName: string;
  /** Whether large statements stay prepared on the server. */
  readonly prepare: boolean;
}

/**
 * Statements on `clients` that may take `deadlineMs` each, where they do not say so themselves.
 *
 * @param through what counts whether the database answers; by `guard` they fail at once while it is left alone.
 */
export function statementsOn(
  clients: PooledClients,
  { schemaName, prepare, ...connection }: Surroundings,
  deadlineMs: number | undefined,
  through: CircuitBreaker["guard"],
): Statements {
  const reported = (error: unknown): never => {
    throw toMemoryError(error, schemaName);
  };
  const statementOf = ({ text, values }: Sql, { prepare: isLarge = false }: QueryOptions) => ({
    ...{ text, values },
    ...(isLarge && prepare && { name: statementName(text) }),
  });
  return {
    async query<Row extends QueryResultRow>(asked: Sql, options: QueryOptions = {}) {
      const { timeoutMs = deadlineMs } = options;
      const settings = clients.settingsNow(timeoutMs);
      const run = () =>
        clients.use(async (client): Promise<QueryResult<Row>> => {
          await clients.requireIsolated(client);
          const ask = clients.asking(client, timeoutMs);
          return queryWith(client, ask, settings, statementOf(asked, options));
        });
      return (await through(() => retrying(run, reconnect).catch(reported))).rows;
    },
    async transaction(work) {
      const settings = clients.settingsNow(deadlineMs);
      /** What `work` itself threw: that is the caller's to understand. */
      let failure: { readonly error: unknown } | undefined;
      const run = async (client: ClientBase) => {
        const ask = clients.asking(client, deadlineMs);
        const query = async <Row extends QueryResultRow>(asked: Sql, options: QueryOptions = {}) => {
          const { timeoutMs = deadlineMs } = options;
          const statement = statementOf(asked, options);
          return (await clients.asking(client, timeoutMs)(statement).catch(reported)).rows as Row[];
        };
        await clients.requireIsolated(client);
        await beginWith(client, ask, settings);
        try {
          const result = await work({ ...connection, query }).catch((error: unknown) => {
            failure = { error };
            throw error;
          });
          await ask({ text: "commit" });
          return result;
        } catch (error) {
          await ask({ text: "rollback" }).catch(() => {});
          throw error;
        }
      };
      return through(() =>
        clients.use(run).catch((error: unknown) => {
          if (failure?.error === error) throw error;
          return reported(error);
        }),
      );
    },
    repeatable(work) {
      const run = (client: ClientBase) => {
        const ask = clients.asking(client, deadlineMs);
        // On a lost connection the rollback fails as well: why, the first error says.
        let failure: unknown;
        return work({
          async begin() {
            const settings = clients.settingsNow(deadlineMs);
            await clients.requireIsolated(client);
            await beginWith(client, ask, settings);
          },
          query: (text, values) =>
            ask({ text, ...(values && { values }) }).catch((error: unknown) => {
              failure ??= error;
              throw failure;
            }),
        });
      };
      return through(() => retrying(() => clients.use(run), reconnect).catch(reported));
    },
  };
}

/** By their texts, since hashing one takes a part of what a recall does. */
const statementNames = new Map<string, string>();

/** Of a dozen schemas; those of more are hashed again. */
const mostNames = 500;

/** A name that only this text has: a connection keeps one plan for each name. */
function statementName(text: string): string {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  if (statementNames.size === mostNames) statementNames.clear();
  const name = `mnemograph_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
  statementNames.set(text, name);
  return name;
}
