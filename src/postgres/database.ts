import type pg from "pg";
import type { ClientBase } from "pg";
import sql from "sql-template-tag";
import type { Clock } from "../clock.js";
import { type Connection, identifier } from "./connection.js";
import { isEmbeddedPool } from "./embedded-pool.js";
import {
  type DatabaseStatus,
  type OutageSettings,
  probeEveryMs,
  watchForOutages,
} from "./outage.js";
import { type ClientSettings, pooledClients } from "./pooled-clients.js";
import { type Statements, statementsOn } from "./run-statement.js";
import type { SchemaPlace } from "./schema-state.js";
import type { SessionKind } from "./session-settings.js";

/**
 * A pool bound to one schema. Never check out a second client while holding one: a pool may have
 * only one.
 */
export interface Database extends Connection, Statements, SchemaPlace {
  readonly patient: Database;
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
  const common: Omit<Database, keyof Statements | "patient"> = {
    ...place,
    dataDir,
    isEmbedded,
    statementTimeoutMs,
    withClient: clients.use,
    status: watch.status,
    mayCrossTenants: clients.mayCrossTenants,
    close() {
      watch.stop();
      return clients.close();
    },
  };
  const patient: Database = {
    ...common,
    ...statementsOn(clients, { ...place, prepare }, undefined, () => {}),
    get patient() {
      return patient;
    },
  };
  const statements = statementsOn(
    clients,
    { ...place, prepare },
    statementTimeoutMs,
    watch.requireUp,
  );
  return { ...common, ...statements, patient };
}
