import { createHash } from "node:crypto";
import type { ClientBase, QueryResult, QueryResultRow } from "pg";
import type { Sql } from "sql-template-tag";
import { MemoryError } from "../errors.js";
import type { Connection, QueryOptions } from "./connection.js";
import { isConnectionError, isConnectTimeout, toMemoryError } from "./database-error.js";
import type { PooledClients } from "./pooled-clients.js";
import { retrying } from "./retry.js";
import { beginWith, queryWith } from "./session-settings.js";
import { withinDeadline } from "./statement-deadline.js";

/** How statements are run on a pool. */
export interface Statements extends Pick<Connection, "query"> {
  /** `work` in a transaction, which its error rolls back. Never try it again: it may have been committed. */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
}

/** What statements are told of the schema they run in. */
interface Surroundings extends Omit<Connection, "query"> {
  readonly schemaName: string;
}

/**
 * Tries at 0, 0.1, 0.3, 0.7, 1.5 and 3.1 s: long enough for a pooler or a fast server restart, short enough
 * for someone who waits. Statements here are idempotent or guarded, so trying again is safe.
 */
const reconnect = {
  most: 6,
  waitMs: (failures: number) => 100 * 2 ** (failures - 1),
  when: (error: unknown) => !MemoryError.is(error) && isConnectionError(error) && !isConnectTimeout(error),
};

/** Statements on `clients` that may take `deadlineMs` each, where they do not say so themselves. */
export function statementsOn(
  clients: PooledClients,
  { schemaName, ...surroundings }: Surroundings,
  deadlineMs: number | undefined,
): Statements {
  const reported = (error: unknown): never => {
    throw toMemoryError(error, schemaName);
  };
  return {
    async query<Row extends QueryResultRow>(asked: Sql, options: QueryOptions = {}) {
      const statement = statementOf(asked, options);
      const { timeoutMs = deadlineMs } = options;
      const settings = clients.settingsNow(timeoutMs);
      const run = () =>
        clients.use(async (client): Promise<QueryResult<Row>> => {
          await clients.requireFitting(client);
          return withinDeadline(client, timeoutMs, () => queryWith(client, settings, statement));
        });
      return (await retrying(run, reconnect).catch(reported)).rows;
    },
    async transaction(work) {
      const settings = clients.settingsNow(deadlineMs);
      /** What `work` itself threw: that is the caller's to understand. */
      let failure: { readonly error: unknown } | undefined;
      const run = async (client: ClientBase) => {
        await clients.requireFitting(client);
        const query = async <Row extends QueryResultRow>(asked: Sql, options: QueryOptions = {}) => {
          const { timeoutMs = deadlineMs } = options;
          const ask = () => client.query<Row>(statementOf(asked, options));
          return (await withinDeadline(client, timeoutMs, ask).catch(reported)).rows;
        };
        await beginWith(client, settings);
        try {
          const result = await work({ ...surroundings, query }).catch((error: unknown) => {
            failure = { error };
            throw error;
          });
          await client.query("commit");
          return result;
        } catch (error) {
          await client.query("rollback").catch(() => {});
          throw error;
        }
      };
      return clients.use(run).catch((error: unknown) => {
        if (failure?.error === error) throw error;
        return reported(error);
      });
    },
  };
}

function statementOf({ text, values }: Sql, { prepare = false }: QueryOptions) {
  return { text, values, ...(prepare && { name: statementName(text) }) };
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
