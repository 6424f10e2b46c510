import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { PGlite } from "@electric-sql/pglite";
import pg from "pg";
import { MemoryError } from "../errors.js";
import { closeContents, openDataDirectory } from "./data-directory.js";
import { emptyDatabase, sharedEmptyDatabase, shareEmptyDatabase } from "./empty-database.js";
import { prepareSession } from "./session-settings.js";

/** How to open the embedded database. */
export interface EmbeddedPoolOptions {
  /** Folder of the database; without one it lives in memory and ends with the pool. */
  readonly dataDir?: string;
  /** A dump made by PGlite's `dumpDataDir`, to start from. @default an empty database, made or shipped */
  readonly loadDataDir?: Blob;
  /** Told before a database is made in a folder that has none. */
  readonly onCreate?: ((dataDir: string) => void) | undefined;
}

/** A `pg.Pool` of one client on an embedded PostgreSQL. */
export interface EmbeddedPool {
  readonly pool: pg.Pool;
  /** The running database; starts it if need be. */
  readonly engine: () => PGlite;
  /** The version of its package, where that is known. */
  readonly engineVersion: string | undefined;
  readonly close: () => Promise<void>;
}

const embeddedPools = new WeakSet<pg.Pool>();

/** Whether `pool` is one of the embedded database, which is neither far away nor to be stopped. */
export function isEmbeddedPool(pool: pg.Pool): boolean {
  return embeddedPools.has(pool);
}

/**
 * The embedded database as a `pg.Pool`; it takes its folder and starts at the first connection.
 *
 * @throws MemoryError `PEER_MISSING` here when @electric-sql/pglite is not installed; at the first connection
 *   what `openDataDirectory` throws, and `DATABASE_UNAVAILABLE` when the folder holds no database that starts.
 */
export function openEmbeddedPool(options: EmbeddedPoolOptions): EmbeddedPool {
  const peers = loadPeers();
  const host = engineHost(options, peers);
  const pool = new pg.Pool({
    ...{ Client: embeddedClient(host, peers), max: 1, idleTimeoutMillis: 0 },
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

/** The one engine of a pool. */
interface EngineHost {
  /** The engine; starts it if need be. */
  engine(): PGlite;
  /** Waits until it has started. */
  started(): Promise<void>;
  /** Ends it if it runs, and gives its folder back. */
  stop(): Promise<void>;
}

function engineHost(
  { dataDir, loadDataDir, onCreate }: EmbeddedPoolOptions,
  { PGlite: Engine, vector, version }: Peers,
): EngineHost {
  let running: { engine: PGlite; ready: Promise<void>; unlock: () => void } | undefined;
  const closed = () => {
    if (dataDir !== undefined) closeContents(dataDir);
  };
  const start = () => {
    if (running) return running;
    const unlock = dataDir === undefined ? () => {} : openDataDirectory(dataDir);
    const isNew = dataDir === undefined || !existsSync(join(dataDir, "PG_VERSION"));
    if (isNew && dataDir !== undefined) onCreate?.(dataDir);
    const load = loadDataDir ?? (isNew ? emptyFor(dataDir, version) : undefined);
    const engine = new Engine({
      ...(vector && { extensions: { vector } }),
      // It does not start in a folder that is a symbolic link.
      ...(dataDir !== undefined && { dataDir: realpathSync(dataDir) }),
      ...(load !== undefined && { loadDataDir: load }),
    });
    const isShared = dataDir === undefined && load === undefined;
    const ready = engine.waitReady
      .then(closed)
      .then(() => (isShared ? shareEmpty(engine, version) : undefined));
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
        closed();
      } finally {
        running.unlock();
      }
    },
  };
}

/** What a new database starts from. */
function emptyFor(dataDir: string | undefined, version: string | undefined): Blob | undefined {
  return dataDir === undefined ? sharedEmptyDatabase(version) : emptyDatabase(version);
}

/** Lets the next databases in memory start from this one, to which nothing was written yet. */
async function shareEmpty(engine: PGlite, version: string | undefined): Promise<void> {
  shareEmptyDatabase(version, await engine.dumpDataDir("none"));
}

/**
 * Each client speaks the wire protocol to the one engine; handing the pool a ready-made connection instead would leave
 * it dead after its first failed query.
 */
function embeddedClient(host: EngineHost, { createPgConfig }: Peers): typeof pg.Client {
  return class EmbeddedClient extends pg.Client {
    constructor(clientOptions?: pg.ClientConfig) {
      super({ ...clientOptions, ...createPgConfig(host.engine()) } as pg.ClientConfig);
    }

    // The peer's own connection never answers when the engine does not start.
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      const connected = host
        .started()
        .then(() => super.connect())
        // All clients share the engine's one session, and a new one does not know what those before it prepared.
        .then(() => super.query("deallocate all"))
        .then(() => this);
      if (!callback) return connected;
      const succeed = callback as () => void;
      connected.then(() => succeed(), callback);
      return undefined;
    }
  };
}

function loadPeers() {
  const { PGlite: Engine } = load<typeof import("@electric-sql/pglite")>("@electric-sql/pglite");
  type Driver = typeof import("@electric-sql/pglite/node-postgres");
  const { createPgConfig } = load<Driver>("@electric-sql/pglite", "/node-postgres");
  return { PGlite: Engine, createPgConfig, vector: loadVector(), version: engineVersion() };
}

/** pgvector for the embedded database; without it everything but embeddings works. */
function loadVector() {
  try {
    return load<typeof import("@electric-sql/pglite-pgvector")>("@electric-sql/pglite-pgvector").vector;
  } catch {
    return undefined;
  }
}

/** Undefined where its package is not laid out as it is known. */
function engineVersion(): string | undefined {
  try {
    const main = find("@electric-sql/pglite", (require, name) => require.resolve(name));
    const { version } = JSON.parse(readFileSync(join(dirname(main), "../package.json"), "utf8"));
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

function load<Module>(name: string, part = ""): Module {
  return find(name, (require) => require(name + part) as Module);
}

/**
 * What `look` finds of an optional package, which bundlers are not to look for: from this file; from the program, where
 * a bundler has made a module of another kind or place of this file; or from the working folder.
 */
function find<Found>(name: string, look: (require: NodeJS.Require, name: string) => Found): Found {
  const places = [import.meta.url, process.argv[1], join(process.cwd(), "package.json")];
  let failure: unknown;
  for (const place of places) {
    try {
      if (place) return look(createRequire(place), name);
    } catch (error) {
      failure ??= error;
    }
  }
  throw new MemoryError(
    "PEER_MISSING",
    `The embedded database needs a package that is not installed or does not load: run \`npm install ${name}\`, ` +
      "or pass `database` a PostgreSQL connection string.",
    { cause: failure },
  );
}
