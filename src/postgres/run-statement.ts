import { createHash } from "node:crypto";
import type { ClientBase, QueryResult, QueryResultRow } from "pg";
import type { Sql } from "sql-template-tag";
import { asParameter } from "./array-literal.js";
import type { Connection, QueryOptions } from "./connection.js";
import { toMemoryError } from "./database-error.js";
import type { PooledClients } from "./pooled-clients.js";
import { reconnect, retrying } from "./retry.js";
import { runInOrder } from "./session-settings.js";

export interface Statements extends Pick<Connection, "query"> {
  /** Runs `work` in a transaction; an error rolls back. Never repeat it: it may be committed. */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
}

export function statementsOn(
  clients: PooledClients,
  {
    schemaName,
    prepare,
    ...connection
  }: Omit<Connection, "query"> & { schemaName: string; prepare: boolean },
  deadlineMs: number | undefined,
  admit: () => void,
): Statements {
  const reported = (error: unknown): never => {
    throw toMemoryError(error, schemaName);
  };
  const statementOf = ({ text, values }: Sql, { prepare: isLarge = false }: QueryOptions) => ({
    text,
    values: values.map(asParameter),
    ...(isLarge && prepare && { name: statementName(text) }),
  });
  return {
    async query<Row extends QueryResultRow>(asked: Sql, options: QueryOptions = {}) {
      const { timeoutMs = deadlineMs } = options;
      const settings = clients.settingsNow(timeoutMs);
      admit();
      const run = () =>
        clients.use(async (client): Promise<QueryResult<Row>> => {
          const ask = clients.asking(client, timeoutMs);
          await clients.checkOnce(ask);
          const statement = statementOf(asked, options);
          if (settings.length === 0) return ask(statement);
          const results = await runInOrder(client, ask, [
            { text: "begin" },
            ...settings,
            statement,
            { text: "commit" },
          ]);
          return results.at(-2) as QueryResult<Row>;
        });
      return (await retrying(run, reconnect).catch(reported)).rows;
    },
    async transaction(work) {
      const settings = clients.settingsNow(deadlineMs);
      admit();
      let failure: { readonly error: unknown } | undefined;
      const run = async (client: ClientBase) => {
        const ask = clients.asking(client, deadlineMs);
        const query = async <Row extends QueryResultRow>(
          asked: Sql,
          options: QueryOptions = {},
        ) => {
          const { timeoutMs = deadlineMs } = options;
          const statement = statementOf(asked, options);
          return (await clients.asking(client, timeoutMs)(statement).catch(reported)).rows as Row[];
        };
        await clients.checkOnce(ask);
        await runInOrder(client, ask, [{ text: "begin" }, ...settings]);
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
      return clients.use(run).catch((error: unknown) => {
        if (failure?.error === error) throw error;
        return reported(error);
      });
    },
  };
}

/** A cache: hashing takes a measurable part of a recall. */
const statementNames = new Map<string, string>();

const mostNames = 500;

function statementName(text: string): string {
  const cached = statementNames.get(text);
  if (cached !== undefined) return cached;
  if (statementNames.size === mostNames) statementNames.clear();
  const name = `mnemograph_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
  statementNames.set(text, name);
  return name;
}
