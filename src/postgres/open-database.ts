import { resolve } from "node:path";
import pg from "pg";
import { z } from "zod";
import { MemoryError } from "../errors.js";
import { timerOption } from "../input/parse-input.js";
import type { Logger } from "../logger.js";
import { createDatabase, type Database, type DatabaseSettings } from "./database.js";
import { databaseWords, engineVersion } from "./database-error.js";
import { openEmbeddedPool } from "./embedded-pool.js";
import { type Outage, probeEveryMs } from "./outage.js";
import { packageVersion } from "./package-version.js";
import { prepareSession } from "./session-settings.js";

// Not pg's own type: it differs by version, and without pg's declarations it would accept any
// value.
interface PostgresPool {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  readonly totalCount: number;
}

/**
 * A pool, a connection string, a folder, or ":memory:", an embedded database that ends with the
 * memory.
 */
export type DatabaseOption = PostgresPool | string | { readonly dataDir: string };

export const defaultDataDir = ".mnemograph";

export interface OpenSettings extends Omit<DatabaseSettings, "dataDir" | "sessions" | "onOutage"> {
  readonly onBack?: ((outage: Outage) => void) | undefined;
  /** What pg_stat_activity calls the connections. @default "mnemograph/" and the version */
  readonly applicationName?: string;
}

/**
 * Reports an undefined `database`, such as an unset variable.
 * @throws MemoryError `INVALID_INPUT` in production
 */
export function reportUndefined(logger: Logger): void {
  const happened = "`database` is given, but undefined: is its environment variable not set?";
  if (process.env.NODE_ENV !== "production") {
    logger.warn(`${happened} The embedded database in ${resolve(defaultDataDir)} is used instead.`);
    return;
  }
  throw new MemoryError(
    "INVALID_INPUT",
    `${happened} Set it; for the embedded database pass { dataDir: … }, or leave \`database\` out.`,
  );
}

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
    if (option.listenerCount?.("error") === 0) outliveConnections(option, logger);
    return createDatabase(
      option,
      { ...settings, onOutage: outageLines(settings, logger) },
      async () => {},
    );
  }
  throw new MemoryError(
    "INVALID_INPUT",
    "`database` must be a pg.Pool, a connection string or { dataDir }. A pg.Client serves one caller at a time; " +
      "an object around a pool needs its `connect`, `query`, `end` and `totalCount`.",
  );
}

function isDataDir(option: unknown): option is { dataDir: string } {
  const { dataDir, query } = (option ?? {}) as { dataDir?: unknown; query?: unknown };
  // An open PGlite has a folder too, which a second one would destroy.
  return typeof dataDir === "string" && dataDir.trim() !== "" && query === undefined;
}

function isPool(option: unknown): option is pg.Pool & PostgresPool {
  const { connect, query, totalCount } = (option ?? {}) as Partial<pg.Pool>;
  if (typeof connect !== "function" || typeof query !== "function") return false;
  // A pg.Client, which one caller at a time may use, has none.
  return typeof totalCount === "number";
}

function outageLines({ onBack }: OpenSettings, logger: Logger): DatabaseSettings["onOutage"] {
  return {
    onPause(silentMs, error) {
      logger.warn(
        `the database has not answered for ${Math.round(silentMs / 1_000)} s: turns go on without memory, and it is ` +
          `probed every ${probeEveryMs / 1_000} s (${databaseWords(error)})`,
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

const isInMemory = (place: string) => place === ":memory:" || place.startsWith("memory://");

/** Without deadlines: nothing can stop a statement of the embedded database. */
function openEmbedded(place: string, settings: OpenSettings, logger: Logger): Database {
  const dataDir = isInMemory(place) ? undefined : resolve(place);
  const onCreate = (otherVersion?: string) => {
    const takes = otherVersion
      ? `; PGlite ${otherVersion} takes longer than ${engineVersion}, for which this package has an empty database`
      : "; this takes some seconds, once";
    logger.warn(`creating an embedded PostgreSQL in ${dataDir ?? "memory"}${takes}`);
  };
  const { pool, close } = openEmbeddedPool({ dataDir, onCreate });
  return createDatabase(pool, { ...settings, dataDir, statementTimeoutMs: undefined }, close);
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
    // Not as the cause: the error contains the connection string with its password.
    const detail = error instanceof Error ? error.message : "";
    throw new MemoryError(
      "INVALID_INPUT",
      `\`database\` is a connection string that cannot be used: ${detail}.`,
    );
  }
  const {
    prepare,
    statementTimeoutMs,
    applicationName = `mnemograph/${packageVersion}`,
  } = settings;
  const pool = new pg.Pool({
    connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    fallback_application_name: applicationName,
    // Sends a transaction and its settings in one round trip.
    pipeline: true,
    // A pooler shares sessions, so session settings would leak.
    ...(prepare !== false && { onConnect: prepareSession(statementTimeoutMs, connectTimeoutMs) }),
  });
  outliveConnections(pool, logger);
  const sessions = prepare === false ? "lent" : "own";
  const onOutage = outageLines(settings, logger);
  return createDatabase(pool, { ...settings, sessions, onOutage }, () => pool.end());
}

/** A distant server answers within a second, a starting one within some seconds. */
const connectTimeoutMs = 10_000;

/**
 * Without listeners, lost connections end the process: idle ones and those between two statements.
 */
function outliveConnections(pool: pg.Pool, logger: Logger): void {
  pool.on("error", (error) =>
    logger.warn(`an idle database connection was lost: ${databaseWords(error)}`),
  );
  pool.on("connect", (client) => client.on("error", () => {}));
}

export const databaseOptionsSchema = z.strictObject({
  /**
   * Longest time of one statement, except for setup, forget, export, import, reembed, pruning,
   * statistics and the lifecycle. A turn's statements take milliseconds; one that takes this long
   * waits for a lock. Not for the embedded database. On a pool of yours the statement fails then,
   * but only the pool's own `statement_timeout` stops it on the server.
   * @default 30_000
   */
  statementTimeoutMs: timerOption.min(1).default(30_000),
  /**
   * Whether large statements stay prepared on the server: planning a recall takes longer than
   * running it. Set it to false behind a pooler in transaction mode, such as PgBouncer.
   * @default true
   */
  prepare: z.boolean().default(true),
});
