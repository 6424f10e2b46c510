import { createHash } from "node:crypto";
import pRetry from "p-retry";
import type pg from "pg";
import type { ClientBase, QueryResultRow } from "pg";
import sql, { type Sql } from "sql-template-tag";
import type { Clock } from "../clock.js";
import { MemoryError } from "../errors.js";
import type { Connection, QueryOptions } from "./connection.js";
import { isConnectionError, toMemoryError } from "./database-error.js";
import { identifier } from "./identifier.js";

/** A pool bound to one schema. Never check out a second client while holding one: a pool may have just one. */
export interface Database extends Connection {
  readonly schemaName: string;
  readonly pool: pg.Pool;
  /** `work` in a transaction, which its error rolls back. Never try it again: it may have been committed. */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
  /** `work` on one client; its errors pass through unchanged. */
  withClient<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result>;
  /** Ends the pool if it was made here. */
  close(): Promise<void>;
}

/**
 * Tries at 0, 0.1, 0.3, 0.7, 1.5 and 3.1 s: long enough for a pooler or a fast server restart, short enough
 * for someone who waits. Statements here are idempotent or guarded, so trying again is safe.
 */
const reconnect = { retries: 5, minTimeout: 100, factor: 2 };

const ignore = () => {};

const statementNames = new Map<string, string>();

/** A name that only this text has: a connection keeps one plan for each name. */
function statementName(text: string): string {
  const known = statementNames.get(text);
  if (known !== undefined) return known;
  const name = `mnemograph_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
  statementNames.set(text, name);
  return name;
}

/** How a database is used, whatever pool it runs on. */
export interface DatabaseSettings {
  readonly schemaName: string;
  readonly clock?: Clock | undefined;
}

/** `pool` as a `Database`; `end` releases what was made for it. */
export function createDatabase(
  pool: pg.Pool,
  { schemaName, clock }: DatabaseSettings,
  end: () => Promise<void>,
): Database {
  let closing: Promise<void> | undefined;
  const refuseWhenClosed = () => {
    if (closing) throw new MemoryError("CLOSED", "This memory was closed; create a new one.");
  };
  const schema = identifier(schemaName);
  const now = () => (clock ? sql`${clock().toISOString()}::timestamptz` : sql`now()`);
  const withClient: Database["withClient"] = async (work) => {
    refuseWhenClosed();
    const client = await pool.connect();
    // Nobody else listens while it is checked out: lost between two statements, it would end the process.
    client.on("error", ignore);
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(isConnectionError(error));
      throw error;
    } finally {
      client.removeListener("error", ignore);
    }
  };
  return {
    pool,
    schemaName,
    schema,
    now,
    async query<Row extends QueryResultRow>({ text, values }: Sql, queryOptions: QueryOptions = {}) {
      const name = queryOptions.prepare ? statementName(text) : undefined;
      const run = async () => {
        refuseWhenClosed();
        return pool.query<Row>({ text, values, ...(name !== undefined && { name }) });
      };
      try {
        const result = await pRetry(run, {
          ...reconnect,
          shouldRetry: ({ error }) => !MemoryError.is(error) && isConnectionError(error),
        });
        return result.rows;
      } catch (error) {
        throw toMemoryError(error, schemaName);
      }
    },
    async transaction(work) {
      try {
        return await withClient(async (client) => {
          const query = async <Row extends QueryResultRow>(
            { text, values }: Sql,
            options: QueryOptions = {},
          ) => {
            const name = options.prepare ? statementName(text) : undefined;
            return (await client.query<Row>({ text, values, ...(name !== undefined && { name }) })).rows;
          };
          await client.query("begin");
          try {
            const result = await work({ schema, now, query });
            await client.query("commit");
            return result;
          } catch (error) {
            await client.query("rollback").catch(() => {});
            throw error;
          }
        });
      } catch (error) {
        throw toMemoryError(error, schemaName);
      }
    },
    withClient,
    close() {
      closing ??= end();
      return closing;
    },
  };
}
