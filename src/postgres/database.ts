import { createHash } from "node:crypto";
import pRetry from "p-retry";
import type pg from "pg";
import type { ClientBase, QueryResult, QueryResultRow } from "pg";
import sql, { type Sql } from "sql-template-tag";
import type { Clock } from "../clock.js";
import { MemoryError } from "../errors.js";
import { type Connection, identifier, type QueryOptions } from "./connection.js";
import { isConnectionError, isConnectTimeout, toMemoryError } from "./database-error.js";
import {
  findIsolation,
  type IsolationStatus,
  requireIsolation,
  requireTenancy,
  tenantSetting,
} from "./isolation.js";
import { beginWith, noSessionTimeout, queryWith } from "./session-settings.js";
import { withinDeadline } from "./statement-deadline.js";

/** A pool bound to one schema. Never check out a second client while holding one: a pool may have just one. */
export interface Database extends Connection {
  readonly schemaName: string;
  readonly pool: pg.Pool;
  /** The same without the deadline of statements: for work in bulk that nobody waits for within a turn. */
  readonly patient: Database;
  /** `work` in a transaction, which its error rolls back. Never try it again: it may have been committed. */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
  /** `work` on one client; its errors pass through unchanged. */
  withClient<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result>;
  /** Opens a transaction on `client` that sees what the statements of this call see; its errors pass through unchanged. */
  beginOn(client: ClientBase): Promise<void>;
  /** Whether work across tenants is possible: always without isolation, else only for the tables' owner. */
  mayCrossTenants(): Promise<boolean>;
  /** Ends the pool if it was made here. */
  close(): Promise<void>;
}

/**
 * Tries at 0, 0.1, 0.3, 0.7, 1.5 and 3.1 s: long enough for a pooler or a fast server restart, short enough
 * for someone who waits. Statements here are idempotent or guarded, so trying again is safe.
 */
const reconnect = { retries: 5, minTimeout: 100, factor: 2 };

const ignore = () => {};

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

function statementOf({ text, values }: Sql, { prepare = false }: QueryOptions) {
  return { text, values, ...(prepare && { name: statementName(text) }) };
}

/** How a database is used, whatever pool it runs on. */
export interface DatabaseSettings {
  readonly schemaName: string;
  /** The text search configuration of PostgreSQL that words are indexed with. @default "english" */
  readonly language?: string | undefined;
  readonly clock?: Clock | undefined;
  /** Whether every statement is to see the rows of one tenant only, as `asTenant` says. */
  readonly isolation?: "rls" | undefined;
  /** Longest time of a statement. @default none */
  readonly statementTimeoutMs?: number | undefined;
  /** Whether the pool's sessions were given that deadline as well, by `prepareSession`. @default false */
  readonly ownSessions?: boolean | undefined;
}

/** `pool` as a `Database`; `end` releases what was made for it. */
export function createDatabase(
  pool: pg.Pool,
  { schemaName, language = "english", clock, isolation, statementTimeoutMs, ownSessions }: DatabaseSettings,
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
      client.release(isConnectionError(MemoryError.is(error) ? error.cause : error));
      throw error;
    } finally {
      client.removeListener("error", ignore);
    }
  };
  let status: Promise<IsolationStatus> | undefined;
  /** Looked at once: isolation that isolates nothing must not go unnoticed. */
  const isolated = async (client: ClientBase) => {
    status ??= findIsolation(client, schemaName)
      .then((found) => {
        requireIsolation(found, schemaName);
        return found;
      })
      .catch((error: unknown) => {
        status = undefined;
        throw error;
      });
    return status;
  };
  /** What statements that begin now need set; read at once, since it follows the call. */
  const settingsNow = (deadlineMs: number | undefined) => [
    ...(isolation === "rls" ? [tenantSetting(requireTenancy())] : []),
    ...(ownSessions && deadlineMs === undefined ? [noSessionTimeout] : []),
  ];
  const requireIsolated = async (client: ClientBase) => {
    if (isolation === "rls") await isolated(client);
  };
  /** How statements run that may take `deadlineMs` each, when they do not say so themselves. */
  const within = (deadlineMs: number | undefined): Pick<Database, "query" | "transaction"> => ({
    async query<Row extends QueryResultRow>(query: Sql, queryOptions: QueryOptions = {}) {
      const statement = statementOf(query, queryOptions);
      const { timeoutMs = deadlineMs } = queryOptions;
      const settings = settingsNow(timeoutMs);
      const run = () =>
        withClient(async (client) => {
          await requireIsolated(client);
          return withinDeadline(client, timeoutMs, () => queryWith(client, settings, statement));
        });
      try {
        const result: QueryResult<Row> = await pRetry(run, {
          ...reconnect,
          shouldRetry: ({ error }) =>
            !MemoryError.is(error) && isConnectionError(error) && !isConnectTimeout(error),
        });
        return result.rows;
      } catch (error) {
        throw toMemoryError(error, schemaName);
      }
    },
    async transaction(work) {
      const settings = settingsNow(deadlineMs);
      const reported = (error: unknown): never => {
        throw toMemoryError(error, schemaName);
      };
      /** What `work` itself threw: that is the caller's to understand. */
      let failure: { readonly error: unknown } | undefined;
      return withClient(async (client) => {
        await requireIsolated(client);
        const query = async <Row extends QueryResultRow>(asked: Sql, options: QueryOptions = {}) => {
          const { timeoutMs = deadlineMs } = options;
          const run = () => client.query<Row>(statementOf(asked, options));
          return (await withinDeadline(client, timeoutMs, run).catch(reported)).rows;
        };
        await beginWith(client, settings);
        try {
          const result = await work({ schema, language, now, query }).catch((error: unknown) => {
            failure = { error };
            throw error;
          });
          await client.query("commit");
          return result;
        } catch (error) {
          await client.query("rollback").catch(() => {});
          throw error;
        }
      }).catch((error: unknown) => {
        if (failure?.error === error) throw error;
        return reported(error);
      });
    },
  });
  const common: Omit<Database, "query" | "transaction" | "patient"> = {
    pool,
    schemaName,
    schema,
    language,
    now,
    async mayCrossTenants() {
      return isolation !== "rls" || (await withClient(isolated)).owner;
    },
    withClient,
    async beginOn(client) {
      const settings = settingsNow(statementTimeoutMs);
      await requireIsolated(client);
      await beginWith(client, settings);
    },
    close() {
      closing ??= end();
      return closing;
    },
  };
  const patient: Database = {
    ...common,
    ...within(undefined),
    get patient() {
      return patient;
    },
  };
  return { ...common, ...within(statementTimeoutMs), patient };
}
