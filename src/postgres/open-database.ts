import { resolve } from "node:path";
import pg from "pg";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import type { Logger } from "../logger.js";
import { timerOption } from "../text/parse-input.js";
import { createDatabase, type Database, type DatabaseSettings } from "./database.js";
import { databaseWords } from "./database-error.js";
import { openEmbeddedPool } from "./embedded-pool.js";
import { prepareSession } from "./session-settings.js";

/**
 * A `pg.Pool`, as much of it as its own declarations need not be there for: two versions of them in one program are not
 * the same type, and without any everything would pass for a pool.
 */
export interface PostgresPool {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  readonly totalCount: number;
}

/** A pool of the caller's, a connection string, or a folder for the embedded database. */
export type DatabaseOption = PostgresPool | string | { readonly dataDir: string };

/** Where the embedded database lives when nothing is said. */
export const defaultDataDir = ".mnemograph";

/** How to open a database. */
export interface OpenSettings extends Omit<DatabaseSettings, "ownSessions"> {
  /** Longest wait for a connection, of pools made here. @default as the config has it */
  readonly connectTimeoutMs?: number | undefined;
}

/** The database that `option` names; it connects at its first statement. Only pools made here are ended. */
export function openDatabase(
  option: DatabaseOption | undefined,
  settings: OpenSettings,
  logger: Logger,
): Database {
  if (option === undefined) return openEmbedded(resolve(defaultDataDir), settings);
  if (typeof option === "string") return openServer(option, settings, logger);
  if (isDataDir(option)) return openEmbedded(resolve(option.dataDir), settings);
  if (isPool(option)) return createDatabase(option, settings, async () => {});
  throw new MemoryError("INVALID_INPUT", "`database` must be a pg.Pool, a connection string or { dataDir }.");
}

// JavaScript can pass anything.
function isDataDir(option: unknown): option is { dataDir: string } {
  const { dataDir } = (option ?? {}) as { dataDir?: unknown };
  return typeof dataDir === "string" && dataDir.trim() !== "";
}

function isPool(option: unknown): option is pg.Pool & PostgresPool {
  const { connect, query } = (option ?? {}) as Partial<pg.Pool>;
  return typeof connect === "function" && typeof query === "function";
}

/** Without deadlines: nothing can stop it. */
function openEmbedded(dataDir: string, { schemaName, language, clock, isolation }: OpenSettings): Database {
  const embedded = openEmbeddedPool({ dataDir });
  return createDatabase(embedded.pool, { schemaName, language, clock, isolation }, embedded.close);
}

function openServer(connectionString: string, settings: OpenSettings, logger: Logger): Database {
  if (!/^postgres(ql)?:\/\//.test(connectionString)) {
    throw new MemoryError(
      "INVALID_INPUT",
      "`database` is a string but not a connection string: it must start with postgresql://. " +
        "For the embedded database pass { dataDir: … } or nothing.",
    );
  }
  try {
    new pg.Client({ connectionString });
  } catch (error) {
    // The error itself must not be the cause: it holds the whole string, password and all.
    const detail = error instanceof Error ? error.message : "";
    throw new MemoryError(
      "INVALID_INPUT",
      `\`database\` is a connection string that cannot be used: ${detail}.`,
    );
  }
  const pool = new pg.Pool({
    connectionString,
    connectionTimeoutMillis: settings.connectTimeoutMs ?? 10_000,
    // With isolation a statement is a transaction of four: sent at once, they take one round trip.
    pipeline: settings.isolation === "rls",
    onConnect: prepareSession(settings.statementTimeoutMs),
  });
  // Without listeners, a server restart would end the process: while a connection is idle the pool reports
  // the loss, while the checkpointer has it checked out between two statements only the client does.
  pool.on("error", (error) => logger.warn(`an idle database connection was lost: ${databaseWords(error)}`));
  pool.on("connect", (client) => client.on("error", () => {}));
  const ownSessions = settings.statementTimeoutMs !== undefined;
  return createDatabase(pool, { ...settings, ownSessions }, () => pool.end());
}

export const databaseOptionsSchema = z.strictObject({
  /**
   * Longest time of one statement; setup, forget, export, import, reembed, pruning, statistics and the lifecycle apart.
   * A turn's statements take milliseconds: what takes this long waits for a lock that will not come, and holds a
   * connection that others wait for. Does not hold on the embedded database.
   *
   * @default 30_000
   */
  statementTimeoutMs: timerOption.min(1).default(30_000),
  /** Longest wait for a connection, of pools made here. A server far away takes a second. @default 10_000 */
  connectTimeoutMs: timerOption.min(1).default(10_000),
});

/** How long the database may take. */
export interface DatabaseConfig extends z.input<typeof databaseOptionsSchema> {}
