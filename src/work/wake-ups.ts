import { AsyncResource } from "node:async_hooks";
import { setTimeout as wait } from "node:timers/promises";
import { MemoryError } from "../errors.js";
import { errorLine, type Logger } from "../logger.js";
import { checkPeer, refuseMissing } from "../peers.js";
import { distributesSchemas } from "../postgres/citus.js";
import type { Database } from "../postgres/database.js";
import { errorCodeOf, isTimeout } from "../postgres/database-error.js";
import { retryOn } from "../postgres/retry.js";
import { askOf } from "../postgres/session-settings.js";
import { type WorkKind, workKinds } from "./work-kinds.rule.js";

/** The part of pg-boss 10.4 and 12 in use: programs without pg-boss need no declarations. */
export interface PgBossInstance {
  getQueues(names?: string[]): Promise<readonly { readonly name: string }[]>;
  createQueue(name: string, options?: object): Promise<unknown>;
  /** Version 10 takes jobs that have the queue's name, version 12 the name and then jobs. */
  insert(...given: never[]): Promise<unknown>;
  fetch(
    name: string,
    options: { batchSize: number },
  ): Promise<readonly { readonly id: string; readonly data: unknown }[]>;
  complete(name: string, ids: string[]): Promise<unknown>;
}

/** pg-boss's own options; without a connection it uses the memory's pool. */
interface PgBossOptions {
  /** The schema of pg-boss's tables. @default "pgboss" */
  readonly schema?: string;
  readonly [option: string]: unknown;
}

export type QueueOption = PgBossInstance | { readonly pgBoss: PgBossOptions };

interface Listening {
  readonly pollIntervalMs: number;
  /** Whether it may do more now: others get the wake-up if not. */
  isFree(): boolean;
  onWake(): Promise<unknown>;
  readonly signal: AbortSignal;
}

export type WakeUps = ReturnType<typeof createWakeUps>;

/** "short": one message waits at most. `work` alone has leases and retries. */
const queueOptions = { policy: "short", retryLimit: 0 };

/** Each queue is a table; processes that create them concurrently deadlock, and one succeeds. */
const whileOthersMakeThem = {
  most: 10,
  stepMs: 100,
  busy: "Other processes made the same queues at the same time, again and again.",
};

/** pg-boss, started when it is first needed, with a queue for each kind of work. */
function createQueues(db: Database, option: QueueOption, logger: Logger) {
  const nameOf = (kind: WorkKind) => `${db.schemaName}-${kind}`;
  let started: Promise<StartedBoss> | undefined;
  let isPrepared = false;

  const open = async (): Promise<PgBossInstance> => {
    if (!("pgBoss" in option)) return option;
    started ??= startBoss(db, option.pgBoss, logger).catch((error: unknown) => {
      started = undefined;
      throw error;
    });
    return started;
  };
  const makeMissing = async (boss: PgBossInstance) => {
    const names = workKinds.map(nameOf);
    // Without names, pg-boss 12 returns the first hundred queues.
    const there = new Set((await boss.getQueues(names)).map(({ name }) => name));
    for (const name of names) if (!there.has(name)) await boss.createQueue(name, queueOptions);
  };
  return {
    nameOf,
    async prepare(): Promise<PgBossInstance> {
      const boss = await open();
      if (!isPrepared) await retryOn(["40P01"], () => makeMissing(boss), whileOthersMakeThem);
      isPrepared = true;
      return boss;
    },
    /** Whether the last request to the queues succeeded. */
    isWell: () => isPrepared,
    /** Logs that a request failed; the next one prepares the queues anew. */
    failed: (what: string) => (error: unknown) => {
      isPrepared = false;
      logger.warn(`${what}, so workers find work at their intervals: ${errorLine(error)}`);
    },
    async close(): Promise<void> {
      const boss = await started?.catch(() => undefined);
      await boss?.stop({ graceful: false });
    },
  };
}

/**
 * A message of a queue says that there is work of its kind, and nothing else. The tables say which:
 * messages may be lost.
 */
export function createWakeUps(db: Database, option: QueueOption, logger: Logger) {
  const outside = new AsyncResource("mnemograph.queue");
  const unsent = new Set<WorkKind>();
  const listeners = new Map<WorkKind, () => Promise<unknown>>();
  const { nameOf, prepare, isWell, failed, close } = createQueues(db, option, logger);
  let sending: Promise<void> | undefined;

  const insert = async (kinds: readonly WorkKind[]) => {
    const boss = await prepare();
    for (const kind of kinds) {
      const name = nameOf(kind);
      const rows = [{ name, data: { kind } }];
      const given = isVersion10(boss) ? [rows] : [name, rows];
      await boss.insert(...(given as never[]));
      await listeners.get(kind)?.();
    }
  };
  const sendAll = async () => {
    await new Promise(setImmediate);
    while (unsent.size > 0) {
      const kinds = [...unsent];
      unsent.clear();
      await insert(kinds).catch(failed("Workers could not be woken"));
    }
    sending = undefined;
  };
  return {
    /** Never throws: workers look at the tables at intervals, too. */
    send(kind: WorkKind): void {
      unsent.add(kind);
      sending ??= outside.runInAsyncScope(sendAll);
    },
    flush: async () => sending,
    prepare,
    isWell,
    /**
     * Polls until `signal`, without pauses while there are messages. Not by `boss.work`: in pg-boss
     * 10 its failed statement ends the process.
     */
    async listen(kind: WorkKind, { pollIntervalMs, isFree, onWake, signal }: Listening) {
      const name = nameOf(kind);
      const take = async () => {
        if (!isFree()) return false;
        const boss = await prepare();
        const [message] = await boss.fetch(name, { batchSize: 1 });
        if (!message) return false;
        await boss.complete(name, [message.id]);
        await onWake();
        return true;
      };
      const onError = failed(`The queue of ${kind} could not be asked`);
      listeners.set(kind, async () => isFree() && onWake());
      while (!signal.aborted) {
        const took = await take().catch(onError);
        if (!took) await wait(pollIntervalMs, undefined, { signal }).catch(() => {});
      }
      listeners.delete(kind);
    },
    async close() {
      await sending;
      await close();
    },
  };
}

/** Later versions have `getQueueStats` in its place. */
const isVersion10 = (boss: PgBossInstance) => "getQueueSize" in boss;

interface StartedBoss extends PgBossInstance {
  start(): Promise<unknown>;
  stop(how: { graceful: boolean }): Promise<void>;
  schemaVersion(): Promise<unknown>;
  on(event: "error", listener: (error: Error) => void): unknown;
}

type BossClass = new (options: Readonly<Record<string, unknown>>) => StartedBoss;

/** Version 12 has a named export, version 10 a default one. */
type BossModule = { readonly PgBoss?: BossClass; readonly default?: BossClass };

const connectionOptions = ["connectionString", "host", "database", "user", "db"];

async function startBoss(
  db: Database,
  options: PgBossOptions,
  logger: Logger,
): Promise<StartedBoss> {
  const connects = connectionOptions.some((name) => options[name] !== undefined);
  if (db.isEmbedded && !connects) {
    throw new MemoryError(
      "INVALID_INPUT",
      "Queues need a PostgreSQL server, which other processes reach: with the embedded database leave out `jobs`.",
    );
  }
  checkPeer("pg-boss");
  const found: BossModule = await import("pg-boss").catch(refuseMissing("`jobs`", "pg-boss"));
  const { default: PgBoss10, PgBoss = PgBoss10 as BossClass } = found;
  const executeSql = (text: string, values: unknown[]) => execute(db, text, values);
  const boss = new PgBoss({
    schedule: false,
    ...(!connects && { db: { executeSql } }),
    ...options,
  });
  boss.on("error", (error) => logger.warn(`pg-boss: ${errorLine(error)}`));
  try {
    await boss.start();
  } catch (error) {
    // pg-boss makes its tables by several commands in one statement.
    if (errorCodeOf(error) !== "42601") throw error;
    const isCitus = await db.withClient((client) => distributesSchemas(askOf(client)));
    throw isCitus ? refusedByCitus(error) : error;
  } finally {
    await refuseOtherTables(boss, options.schema);
  }
  return boss;
}

const refusedByCitus = (cause: unknown) =>
  new MemoryError(
    "INVALID_INPUT",
    "Citus cannot distribute pg-boss's tables. Keep them on the coordinator: end the connection string with " +
      "?options=-c%20citus.enable_schema_based_sharding%3Doff",
    { cause },
  );

/** The newest tables of pg-boss 10. Version 12 does not bring them up to date. */
const newestTablesOf10 = 24;

/** Version 12 fails to start on tables of version 10; version 10 starts on later ones, and fails. */
async function refuseOtherTables(boss: StartedBoss, schema = "pgboss"): Promise<void> {
  const version = Number(await boss.schemaVersion().catch(() => null));
  const made = version <= newestTablesOf10 ? 10 : 12;
  const started = isVersion10(boss) ? 10 : 12;
  if (version === 0 || made === started) return;
  await boss.stop({ graceful: false }).catch(() => {});
  throw new MemoryError(
    "SCHEMA_DIFFERS",
    `The schema "${schema}" has the tables of pg-boss ${made}, and pg-boss ${started} is installed: ` +
      'name another schema in every process, as in jobs: { pgBoss: { schema: "queues" } }.',
  );
}

/** pg-boss's statements take milliseconds, creating its tables seconds. */
const queueTimeoutMs = 60_000;

/**
 * Keeps driver errors, whose text pg-boss checks for existing tables. Ends its failed transaction.
 */
function execute(db: Database, text: string, values: unknown[]): Promise<{ rows: unknown[] }> {
  const statement = { text, values, query_timeout: queueTimeoutMs };
  return db.withClient(async (client) => {
    try {
      return await client.query(statement);
    } catch (error) {
      if (!isTimeout(error)) await client.query("rollback").catch(() => {});
      throw error;
    }
  });
}
