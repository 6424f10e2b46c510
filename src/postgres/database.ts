import type pg from "pg";
import type { ClientBase } from "pg";
import sql from "sql-template-tag";
import type { Clock } from "../clock.js";
import { openPool } from "./acquire-client.js";
import { type BoundedPool, boundedPool } from "./bounded-pool.js";
import { type BreakerSettings, createCircuitBreaker, type DatabaseStatus } from "./circuit-breaker.js";
import { type Connection, identifier } from "./connection.js";
import { isEmbeddedPool } from "./embedded-pool.js";
import { createPreparing, type PrepareMode } from "./prepared-statements.js";
import { pooledClients, type Statements, statementsOn } from "./run-statement.js";
import { beginWith } from "./session-settings.js";

/** A pool bound to one schema. Never check out a second client while holding one: a pool may have just one. */
export interface Database extends Connection, Statements, BoundedPool {
  readonly schemaName: string;
  /** The same without the deadline of statements: for work in bulk that nobody waits for within a turn. */
  readonly patient: Database;
  /** `work` on one client; its errors pass through unchanged. */
  withClient<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result>;
  /** Opens a transaction on `client` that sees what the statements of this call see; its errors pass through unchanged. */
  beginOn(client: ClientBase): Promise<void>;
  /** Whether the database answers. */
  status(): DatabaseStatus;
  /** Whether work across tenants is possible: always without isolation, else only for the tables' owner. */
  mayCrossTenants(): Promise<boolean>;
  /** Whether it is the embedded database. */
  readonly isEmbedded: boolean;
  /** Refuses what comes, lets those have a client who wait for one, and ends the pool if it was made here. */
  close(): Promise<void>;
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
  /** Longest wait for a client of the pool. @default none */
  readonly connectTimeoutMs?: number | undefined;
  /** Whether large statements stay prepared on the server. @default "auto" */
  readonly prepare?: PrepareMode | undefined;
  /** Told when they no longer are, since a pooler lost one. */
  readonly onLostStatements?: (() => void) | undefined;
  /** When a database that does not answer is left alone. @default never */
  readonly breaker?: BreakerSettings | undefined;
}

/** `pool` as a `Database`; `end` releases what was made for it. */
export function createDatabase(
  pool: pg.Pool,
  settings: DatabaseSettings,
  end: () => Promise<void>,
): Database {
  const {
    schemaName,
    language = "english",
    clock,
    isolation,
    statementTimeoutMs,
    connectTimeoutMs,
  } = settings;
  const preparing = createPreparing(settings.prepare ?? "auto", settings.onLostStatements);
  const opened = openPool(pool, connectTimeoutMs, end);
  const clients = pooledClients(opened, {
    ...{ schemaName, isolation, ownSessions: settings.ownSessions ?? false, preparing },
  });
  const breaker = createCircuitBreaker(settings.breaker ?? { failures: 0, pauseMs: 0 });
  const schema = identifier(schemaName);
  const now = () => (clock ? sql`${clock().toISOString()}::timestamptz` : sql`now()`);
  const surroundings = { schemaName, schema, language, now };
  const common: Omit<Database, keyof Statements | "patient"> = {
    ...surroundings,
    ...boundedPool(pool, { schemaName, breaker, opened, statementTimeoutMs }),
    withClient: clients.use,
    async beginOn(client) {
      const needed = clients.settingsNow(statementTimeoutMs);
      await clients.requireIsolated(client);
      await beginWith(client, needed.map(preparing.sendable));
    },
    status: breaker.status,
    isEmbedded: isEmbeddedPool(pool),
    mayCrossTenants: clients.mayCrossTenants,
    close: opened.close,
  };
  const patient: Database = {
    ...common,
    ...statementsOn(clients, surroundings, undefined, breaker.watch),
    get patient() {
      return patient;
    },
  };
  return { ...common, ...statementsOn(clients, surroundings, statementTimeoutMs, breaker.guard), patient };
}
