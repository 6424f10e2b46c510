import { resolve } from "node:path";
import pg from "pg";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { errorLine, type Logger } from "../logger.js";
import { timerOption } from "../text/parse-input.js";
import { type Outage, probeAfterMs } from "./circuit-breaker.js";
import { createDatabase, type Database, type DatabaseSettings } from "./database.js";
import { databaseWords } from "./database-error.js";
import { openEmbeddedPool } from "./embedded-pool.js";
import { prepareSession } from "./session-settings.js";

/**
 * A `pg.Pool`, as much of it as its own declarations need not be there for: two versions of them in one program are not
 * the same type, and without any everything would pass for a pool.
 */
interface PostgresPool {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  readonly totalCount: number;
}

/**
 * A pool of the caller's, a connection string, or a folder for the embedded database; ":memory:" is an embedded database
 * that ends with the memory, for tests.
 */
export type DatabaseOption = PostgresPool | string | { readonly dataDir: string };

/** Where the embedded database lives when nothing is said. */
export const defaultDataDir = ".mnemograph";

/** How to open a database. */
export interface OpenSettings extends Omit<DatabaseSettings, "sessions" | "onOutage"> {
  /** Told when it answers again after it was left alone. */
  readonly onBack?: ((outage: Outage) => void) | undefined;
}

/**
 * The database that `option` names; it connects at its first statement. Only pools made here are ended.
 */
export function openDatabase(
  option: DatabaseOption | undefined,
  settings: OpenSettings,
  logger: Logger,
): Database {
  if (option === undefined) return openEmbedded(defaultDataDir, settings, logger);
  if (isDataDir(option)) return openEmbedded(option.dataDir, settings, logger);
  if (typeof option === "string") {
    const open = isInMemory(option) ? openEmbedded : openServer;
    return open(option, settings, logger);
  }
  if (isPool(option)) {
    return createDatabase(option, { ...settings, onOutage: outageLines(settings, logger) }, async () => {});
  }
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

function outageLines({ onBack }: OpenSettings, logger: Logger): DatabaseSettings["onOutage"] {
  return {
    onPause(failures, error) {
      logger.warn(
        `the database did not answer ${failures} times in a row: turns go on without memory, and it is tried again ` +
          `every ${probeAfterMs / 1_000} s (${errorLine(error)})`,
      );
    },
    onBack(outage) {
      const { durationMs, refused } = outage;
      logger.warn(
        `the database answers again after ${Math.round(durationMs / 1_000)} s; ${refused} calls went without it`,
      );
      onBack?.(outage);
    },
  };
}

/** As SQLite and PGlite call it. */
const isInMemory = (place: string) => place === ":memory:" || place.startsWith("memory://");

/** Without deadlines: nothing can stop it. */
function openEmbedded(place: string, settings: OpenSettings, logger: Logger): Database {
  const { schemaName, language, clock, isolation } = settings;
  const onCreate = (dataDir: string) =>
    logger.warn(`creating an embedded PostgreSQL in ${dataDir}; this takes some seconds, once`);
  const { pool, close } = openEmbeddedPool(isInMemory(place) ? {} : { dataDir: resolve(place), onCreate });
  return createDatabase(pool, { schemaName, language, clock, isolation }, close);
}

function openServer(connectionString: string, settings: OpenSettings, logger: Logger): Database {
  if (!/^postgres(ql)?:\/\//.test(connectionString)) {
    throw new MemoryError(
      "INVALID_INPUT",
      "`database` is a string but not a connection string: it must start with postgresql://. " +
        'For the embedded database pass { dataDir: … }, ":memory:" or nothing.',
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
  const pool = makePool(connectionString, settings, logger);
  const sessions = settings.prepare === false ? "lent" : "own";
  return createDatabase(pool, { ...settings, sessions, onOutage: outageLines(settings, logger) }, () =>
    pool.end(),
  );
}

/** Longest wait for a connection, new or free. A server far away takes a second, one that has to start some seconds. */
const connectTimeoutMs = 10_000;

function makePool(
  connectionString: string,
  { prepare, statementTimeoutMs }: OpenSettings,
  logger: Logger,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    // A statement with settings of its own is a transaction of several: sent at once, they take one round trip.
    pipeline: true,
    // Others use the sessions of a pooler as well: nothing is set in them.
    ...(prepare !== false && { onConnect: prepareSession(statementTimeoutMs, connectTimeoutMs) }),
  });
  // Without listeners, a server restart would end the process: while a connection is idle the pool reports
  // the loss, while the checkpointer has it checked out between two statements only the client does.
  pool.on("error", (error) => logger.warn(`an idle database connection was lost: ${databaseWords(error)}`));
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

export const databaseOptionsSchema = z.strictObject({
  /**
   * Longest time of one statement; setup, forget, export, import, reembed, pruning, statistics and the lifecycle apart.
   * A turn's statements take milliseconds: what takes this long waits for a lock that will not come, and holds a
   * connection that others wait for. Does not hold on the embedded database. On a pool of yours the statement fails after
   * that time; the server stops it by the pool's own `statement_timeout`.
   *
   * @default 30_000
   */
  statementTimeoutMs: timerOption.min(1).default(30_000),
  /**
   * Whether large statements stay prepared on the server, so that they are planned once for a session: planning a recall
   * takes longer than running it. Set it to false behind a pooler in transaction mode, such as PgBouncer: then nothing is
   * kept in its sessions.
   *
   * @default true
   */
  prepare: z.boolean().default(true),
});

/** How long the database may take. */
export interface DatabaseConfig extends z.input<typeof databaseOptionsSchema> {}
