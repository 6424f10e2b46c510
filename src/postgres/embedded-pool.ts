import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { MemoryError } from "../errors.js";
import { attempt } from "../input/plain-json.js";
import { checkPeer, installedVersion, requirePeer } from "../peers.js";
import { openDataDirectory, restrictContents } from "./data-directory.js";
import { engineVersion, installEngine } from "./database-error.js";
import { emptyDatabase, sharedEmptyDatabase, shareEmptyDatabase } from "./empty-database.js";
import { prepareSession } from "./session-settings.js";

interface EmbeddedPoolOptions {
  readonly dataDir?: string | undefined;
  /**
   * A dump of PGlite's `dumpDataDir` to start from.
   * @default the folder's data, else an empty database
   */
  readonly loadDataDir?: Blob;
  /**
   * Called before a new folder is filled, and before any database is made without the package's
   * empty one, with the engine's version.
   */
  readonly onCreate?: ((otherVersion?: string) => void) | undefined;
}

const embeddedPools = new WeakSet<pg.Pool>();

export const isEmbeddedPool = (pool: pg.Pool): boolean => embeddedPools.has(pool);

/**
 * @throws MemoryError `PEER_MISSING`; at the first connection also `DATABASE_UNAVAILABLE`, lock
 * errors
 */
export function openEmbeddedPool(options: EmbeddedPoolOptions) {
  const peers = loadPeers();
  const host = engineHost(options, peers);
  const pool = new pg.Pool({
    Client: embeddedClient(host, peers),
    max: 1,
    idleTimeoutMillis: 0,
    onConnect: prepareSession(),
  } as pg.PoolConfig);
  embeddedPools.add(pool);
  return {
    pool,
    engine: host.engine,
    engineVersion: peers.version,
    async close() {
      await pool.end();
      await host.stop();
    },
  };
}

type Peers = ReturnType<typeof loadPeers>;
type EngineHost = ReturnType<typeof engineHost>;

function engineHost(
  { dataDir, loadDataDir, onCreate }: EmbeddedPoolOptions,
  { PGlite: Engine, vector, version }: Peers,
) {
  let running: { engine: PGlite; ready: Promise<void>; unlock: () => void } | undefined;
  const restrictFiles = () => {
    if (dataDir !== undefined) restrictContents(dataDir);
  };
  const emptyFor = dataDir === undefined ? sharedEmptyDatabase : emptyDatabase;
  const newDatabase = () => {
    const dump = loadDataDir ?? emptyFor(version);
    const isOther = dump === undefined && version !== engineVersion;
    if (isOther || dataDir !== undefined) onCreate?.(isOther ? version : undefined);
    return dump;
  };
  const start = () => {
    if (running) return running;
    const unlock = dataDir === undefined ? () => {} : openDataDirectory(dataDir);
    const isNew = dataDir === undefined || !existsSync(join(dataDir, "PG_VERSION"));
    const dump = isNew ? newDatabase() : loadDataDir;
    const engine = new Engine({
      ...(vector && { extensions: { vector } }),
      // PGlite does not start in a symbolic link.
      ...(dataDir !== undefined && { dataDir: realpathSync(dataDir) }),
      ...(dump !== undefined && { loadDataDir: dump }),
      // After a recovery, the progress timer (10 s) would keep the process alive.
      startParams: [...Engine.defaultStartParams, "-c", "log_startup_progress_interval=0"],
    });
    const ready = engine.waitReady.then(restrictFiles).then(async () => {
      if (dataDir !== undefined || dump !== undefined) return;
      shareEmptyDatabase(version, await engine.dumpDataDir("none"));
    });
    running = { engine, ready, unlock };
    return running;
  };
  return {
    engine: () => start().engine,
    async started() {
      const { ready, unlock } = start();
      try {
        await ready;
      } catch (cause) {
        running = undefined;
        unlock();
        const detail = cause instanceof Error ? cause.message : JSON.stringify(cause);
        throw new MemoryError(
          "DATABASE_UNAVAILABLE",
          `The embedded database in ${dataDir ?? "memory"} does not start (${detail}). ` +
            "The folder may hold something else, or be made by another version.",
          { cause },
        );
      }
    },
    async stop() {
      if (!running) return;
      try {
        await running.engine.close();
        restrictFiles();
      } finally {
        running.unlock();
      }
    },
  };
}

// Clients speak the wire protocol: the peer's own connection stays dead after a failed query.
function embeddedClient(host: EngineHost, { createPgConfig }: Peers): typeof pg.Client {
  return class EmbeddedClient extends pg.Client {
    constructor(clientOptions?: pg.ClientConfig) {
      super({ ...clientOptions, ...createPgConfig(host.engine()) } as pg.ClientConfig);
    }

    // The peer's connection never answers when the engine does not start.
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      const connected = host
        .started()
        .then(() => super.connect())
        // Clients share one session: the statements that an earlier client prepared must go.
        .then(() => super.query("deallocate all"))
        .then(() => this);
      if (!callback) return connected;
      const succeed = callback as () => void;
      connected.then(() => succeed(), callback);
      return undefined;
    }
  };
}

const enginePackage = "@electric-sql/pglite";

function loadPeers() {
  checkPeer(enginePackage);
  type Engine = typeof import("@electric-sql/pglite");
  type Driver = typeof import("@electric-sql/pglite/node-postgres");
  type Extension = typeof import("@electric-sql/pglite-pgvector");
  try {
    const { PGlite: Engine } = requirePeer<Engine>(enginePackage);
    const { createPgConfig } = requirePeer<Driver>(`${enginePackage}/node-postgres`);
    const vector = attempt(() => requirePeer<Extension>("@electric-sql/pglite-pgvector").vector);
    return { PGlite: Engine, createPgConfig, vector, version: installedVersion(enginePackage) };
  } catch (cause) {
    throw new MemoryError(
      "PEER_MISSING",
      `The embedded database needs a package that is not installed or does not load: run \`${installEngine}\`, ` +
        "or pass `database` a PostgreSQL connection string.",
      { cause },
    );
  }
}
