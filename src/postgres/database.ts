import type pg from "pg";
import type { ClientBase } from "pg";
import sql from "sql-template-tag";
import type { Clock } from "../clock.js";
import { type BreakerSettings, createCircuitBreaker, type DatabaseStatus } from "./circuit-breaker.js";
import { type Connection, identifier } from "./connection.js";
import { isEmbeddedPool } from "./embedded-pool.js";
import { pooledClients } from "./pooled-clients.js";
import { type Statements, statementsOn } from "./run-statement.js";
import type { SessionKind } from "./session-settings.js";

/** A pool bound to one schema. Never check out a second client while holding one: a pool may have just one. */
export interface Database extends Connection, Statements {
  readonly schemaName: string;
  /** The same without the deadline of statements: for work in bulk that nobody waits for within a turn. */
  readonly patient: Database;
  /** `work` on one client; its errors pass through unchanged. */
  withClient<Result>(work: (client: ClientBase) => Promise<Result>): Promise<Result>;
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
  /** Whether large statements stay prepared on the server. @default true */
  readonly prepare?: boolean | undefined;
  /** Whose sessions the pool has. @default the caller's */
  readonly sessions?: SessionKind | undefined;
  /** Told when a database that does not answer is left alone, and when it is back. */
  readonly onOutage?: Omit<BreakerSettings, "probe"> | undefined;
}

/** `pool` as a `Database`; `end` releases what was made for it. */
export function createDatabase(
  pool: pg.Pool,
  settings: DatabaseSettings,
  end: () => Promise<void>,
): Database {
  const { schemaName, language = "english", clock, isolation, prepare = true } = settings;
  const { statementTimeoutMs } = settings;
  const isEmbedded = isEmbeddedPool(pool);
  const sessions = isEmbedded ? "embedded" : (settings.sessions ?? "callers");
  const clients = pooledClients(pool, { schemaName, isolation, sessions, statementTimeoutMs, end });
  const probe = () =>
    clients.use((client) => clients.asking(client, statementTimeoutMs)({ text: "select 1" }));
  const breaker = createCircuitBreaker({ probe, ...settings.onOutage });
  const schema = identifier(schemaName);
  const now = () => (clock ? sql`${clock().toISOString()}::timestamptz` : sql`now()`);
  const surroundings = { schemaName, schema, language, now, prepare };
  const common: Omit<Database, keyof Statements | "patient"> = {
    ...{ schemaName, schema, language, now },
    ...{ isEmbedded, withClient: clients.use, status: breaker.status },
    mayCrossTenants: clients.mayCrossTenants,
    close() {
      breaker.stop();
      return clients.close();
    },
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
