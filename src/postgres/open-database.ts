import { resolve } from "node:path";
import pg from "pg";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { errorLine, type Logger } from "../logger.js";
import { timerOption } from "../text/parse-input.js";
import type { BreakerSettings, Outage } from "./circuit-breaker.js";
import { createDatabase, type Database, type DatabaseSettings } from "./database.js";
import { databaseWords } from "./database-error.js";
import { isEmbeddedPool, openEmbeddedPool } from "./embedded-pool.js";
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

/**
 * A pool of the caller's, a connection string, or a folder for the embedded database; ":memory:" is an embedded database
 * that ends with the memory, for tests.
 */
export type DatabaseOption = PostgresPool | string | { readonly dataDir: string };

/** Where the embedded database lives when nothing is said. */
export const defaultDataDir = ".mnemograph";

/** How to open a database. */
export interface OpenSettings extends Omit<DatabaseSettings, "ownSessions" | "breaker"> {
  /** Calls in a row without an answer before the database is left alone. @default never */
  readonly breakerFailures?: number | undefined;
  /** How long it is left alone, in milliseconds. @default 30_000 */
  readonly breakerPauseMs?: number | undefined;
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
  if (isPool(option)) return createDatabase(option, boundsOf(option, settings, logger), async () => {});
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

/** `settings` for a pool of the caller's: none of the bounds but those of statements where it is embedded. */
function boundsOf(pool: pg.Pool, settings: OpenSettings, logger: Logger): DatabaseSettings {
  if (isEmbeddedPool(pool)) return { ...settings, connectTimeoutMs: undefined };
  return { ...settings, ...reportsOf(settings, logger) };
}

/** What is told of a database on a server. */
function reportsOf(settings: OpenSettings, logger: Logger) {
  return { breaker: breakerOf(settings, logger), onLostStatements: () => logger.warn(lostStatements) };
}

const lostStatements =
  "a pooler between here and the database loses prepared statements (PgBouncer before 1.21 in transaction mode does): " +
  'from here on they are planned each time, which takes longer. database.prepare: "never" in the config says so from ' +
  "the start";

function breakerOf(settings: OpenSettings, logger: Logger): BreakerSettings {
  const { breakerFailures = 0, breakerPauseMs: pauseMs = 30_000, onBack } = settings;
  return {
    ...{ failures: breakerFailures, pauseMs },
    onPause(failures, error) {
      logger.warn(
        `the database did not answer ${failures} times in a row: turns go on without memory, and it is tried again ` +
          `in ${pauseMs / 1_000} s (${errorLine(error)})`,
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
  const { connectTimeoutMs = 10_000 } = settings;
  const pool = makePool(connectionString, settings, logger);
  const ownSessions = settings.statementTimeoutMs !== undefined;
  const reports = reportsOf(settings, logger);
  return createDatabase(pool, { ...settings, ...reports, connectTimeoutMs, ownSessions }, () => pool.end());
}

function makePool(connectionString: string, settings: OpenSettings, logger: Logger): pg.Pool {
  const { connectTimeoutMs = 10_000 } = settings;
  const pool = new pg.Pool({
    connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    // With isolation a statement is a transaction of four: sent at once, they take one round trip.
    pipeline: settings.isolation === "rls",
    onConnect: prepareSession(settings.statementTimeoutMs, connectTimeoutMs),
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
   * connection that others wait for. Does not hold on the embedded database.
   *
   * @default 30_000
   */
  statementTimeoutMs: timerOption.min(1).default(30_000),
  /**
   * Longest wait for a connection, new or free, of a pool. A server far away takes a second. Does not hold on the
   * embedded database, nor for a pool of yours that has a `connectionTimeoutMillis` of its own below it.
   *
   * @default 10_000
   */
  connectTimeoutMs: timerOption.min(1).default(10_000),
  /**
   * Calls in a row that the database did not answer in time before it is left alone: then turns go on without memory
   * and other calls fail at once with `DATABASE_UNAVAILABLE`, instead of each waiting in vain. Setup, forget, export,
   * import and the like are always tried. Two may fail by chance, as when idle connections were cut. 0: never.
   * Waiting in vain for a client of a pool whose clients are all in use does not count.
   *
   * @default 3
   */
  breakerFailures: z.int().min(0).default(3),
  /**
   * How long the database is left alone before one call is tried. Restarts and failovers take some seconds to a minute;
   * the messages of the turns meanwhile are recorded by the first that succeeds.
   *
   * @default 30_000
   */
  breakerPauseMs: timerOption.min(1).default(30_000),
  /**
   * Whether large statements stay prepared on the server, so that they are planned once for a session: planning a recall
   * takes longer than running it. "auto": until a pooler shows that it loses them, as PgBouncer before 1.21 does in
   * transaction mode; what it lost is asked again.
   *
   * @default "auto"
   */
  prepare: z.enum(["auto", "always", "never"]).default("auto"),
});

/** How long the database may take. */
export interface DatabaseConfig extends z.input<typeof databaseOptionsSchema> {}
