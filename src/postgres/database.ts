import { createHash } from "node:crypto";
import type pg from "pg";
import type { ClientBase, QueryResult, QueryResultRow } from "pg";
import sql, { type Sql } from "sql-template-tag";
import type { Clock } from "../clock.js";
import { asParameter } from "./array-literal.js";
import { type Connection, identifier, type QueryOptions } from "./connection.js";
import { isConnectionError, lostCommit, toMemoryError } from "./database-error.js";
import { isEmbeddedPool } from "./embedded-pool.js";
import {
  type DatabaseStatus,
  type OutageSettings,
  probeEveryMs,
  watchForOutages,
} from "./outage.js";
import { type ClientSettings, type PooledClients, pooledClients } from "./pooled-clients.js";
import { afterDeadlocks, reconnecting } from "./retry.js";
import type { SchemaPlace } from "./schema-state.js";
import { runInOrder, type SessionKind } from "./session-settings.js";

interface Statements extends Pick<Connection, "query"> {
  /**
   * Runs `work` in a transaction; an error rolls back. Never repeat it: it may be committed. After a
   * deadlock, or a connection lost before its commit, it is repeated here, so `work` changes nothing
   * but the database.
   */
  transaction<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result>;
}

/**
 * A pool bound to one schema. Never check out a second client while holding one: a pool may have
 * only one.
 */
export interface Database extends Connection, Statements, SchemaPlace {
  /** Without deadlines. */
  readonly patient: Database;
  /** Waits for a free client of the pool, since nobody waits for background work. */
  background(): Database;
  withClient<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result>;
  status(): DatabaseStatus;
  mayCrossTenants(): Promise<boolean>;
  readonly isEmbedded: boolean;
  readonly statementTimeoutMs: number | undefined;
  /** Refuses new calls, finishes waiting ones, and ends the pool if it was made here. */
  close(): Promise<void>;
}

export interface DatabaseSettings
  extends Pick<
    ClientSettings,
    "schemaName" | "dataDir" | "checksSchema" | "isolation" | "statementTimeoutMs"
  > {
  readonly language?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly prepare?: boolean | undefined;
  readonly sessions?: SessionKind | undefined;
  readonly onOutage?: Omit<OutageSettings, "probe"> | undefined;
}

export function createDatabase(
  pool: pg.Pool,
  settings: DatabaseSettings,
  end: () => Promise<void>,
): Database {
  const {
    schemaName,
    dataDir,
    language = "english",
    clock,
    statementTimeoutMs,
    prepare = true,
  } = settings;
  const isEmbedded = isEmbeddedPool(pool);
  const sessions = isEmbedded ? "embedded" : (settings.sessions ?? "callers");
  const probe = () =>
    clients.use((client) => clients.asking(client, probeEveryMs)({ text: "select 1" }));
  const watch = watchForOutages({ probe, ...settings.onOutage });
  const clients = pooledClients(pool, { ...settings, sessions, watch, end });
  const now = () => (clock ? sql`${clock().toISOString()}::timestamptz` : sql`now()`);
  const place = { schemaName, schema: identifier(schemaName), language, now };
  const written = { ...place, prepare };
  const common: Omit<Database, keyof Statements | "patient"> = {
    ...place,
    dataDir,
    isEmbedded,
    statementTimeoutMs,
    withClient: clients.use,
    status: watch.status,
    mayCrossTenants: clients.mayCrossTenants,
    background: () => background,
    close() {
      watch.stop();
      return clients.close();
    },
  };
  const over = (clients: PooledClients): Database => {
    const patient: Database = {
      ...common,
      ...statementsOn(clients, written, undefined),
      get patient() {
        return patient;
      },
    };
    const statements = statementsOn(clients, written, statementTimeoutMs, watch.requireUp);
    return { ...patient, ...statements };
  };
  const background: Database = over({ ...clients, use: clients.useWhenFree });
  return over(clients);
}

type Place = Omit<Connection, "query"> & { readonly schemaName: string; readonly prepare: boolean };

/** Also where the role's sessions have another level: see `prepareSession`. */
const begin = { text: "begin isolation level read committed" };

function statementsOn(
  clients: PooledClients,
  { schemaName, prepare, ...connection }: Place,
  deadlineMs: number | undefined,
  admit = async () => {},
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
      await admit();
      const run = () =>
        clients.use(async (client): Promise<QueryResult<Row>> => {
          const ask = clients.asking(client, timeoutMs);
          await clients.checkOnce(ask);
          const statement = statementOf(asked, options);
          if (settings.length === 0) return ask(statement);
          const results = await runInOrder(client, ask, [
            begin,
            ...settings,
            statement,
            { text: "commit" },
          ]);
          return results.at(-2) as QueryResult<Row>;
        });
      return (await afterDeadlocks(() => reconnecting(run)).catch(reported)).rows;
    },
    async transaction(work) {
      const settings = clients.settingsNow(deadlineMs);
      await admit();
      let failure: { readonly error: unknown } | undefined;
      let isCommitting = false;
      const run = async (client: ClientBase) => {
        isCommitting = false;
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
        await runInOrder(client, ask, [begin, ...settings]);
        try {
          const result = await work({ ...connection, query }).catch((error: unknown) => {
            failure = { error };
            throw error;
          });
          isCommitting = true;
          await ask({ text: "commit" });
          return result;
        } catch (error) {
          await ask({ text: "rollback" }).catch(() => {});
          throw error;
        }
      };
      const mayBeKept = () => isCommitting;
      const runAgain = () => reconnecting(() => clients.use(run), mayBeKept);
      return afterDeadlocks(runAgain).catch((error: unknown) => {
        if (failure?.error === error) throw error;
        if (isCommitting && isConnectionError(error)) throw lostCommit(error);
        return reported(error);
      });
    },
  };
}

/** A cache: hashing takes a measurable part of a recall. */
const statementNames = new Map<string, string>();

const maxNames = 500;

function statementName(text: string): string {
  const cached = statementNames.get(text);
  if (cached !== undefined) return cached;
  if (statementNames.size === maxNames) statementNames.clear();
  const name = `mnemograph_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
  statementNames.set(text, name);
  return name;
}
