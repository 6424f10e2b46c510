import { randomInt } from "node:crypto";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  type PendingWrite,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Pool } from "pg";
import type { Sql } from "sql-template-tag";
import { MemoryError } from "../../errors.js";
import type { Database } from "../../postgres/database.js";
import {
  addressKey,
  nobody,
  parseScope,
  parseThreadId,
  type Scope,
  type ThreadAddress,
} from "../../scope/scope.js";
import { findRunScope, identityKeys, namedOwner } from "../run/run-identity.js";
import { keptByRun, runOf } from "../run/run-state.js";
import {
  type CheckpointPlace,
  claimPlace,
  deleteCheckpoints,
  findPlace,
} from "./checkpoint-place.js";
import { loadJson } from "./load-json.js";
import { createOwnerOfReads, type NamedRead } from "./owner-of-reads.js";
import {
  type FoundAt,
  type Listed,
  readCheckpoints,
  readDeltaHistory,
  type StoredCheckpoint,
  type Where,
} from "./read-checkpoint.js";
import { checkpointWriter } from "./write-checkpoints.js";

/**
 * LangGraph's Postgres checkpointer that gives a thread's checkpoints to its owner only. A run
 * claims its thread before its first read or write; later calls check the owner of `findRunScope`.
 * A run without ids has the default scope's threads, or unowned ones. Another tenant's equal thread
 * id is another thread. A run cannot restore what was forgotten meanwhile.
 * @throws MemoryError `THREAD_FORBIDDEN`, `INVALID_INPUT`, `SCOPE_REQUIRED`, and errors of the
 * database
 */
export class OwnedPostgresSaver extends PostgresSaver {
  readonly #db: Database;
  readonly #defaultScope: Scope | null;
  readonly #write: ReturnType<typeof checkpointWriter>;
  /** Claims of each run, so that later calls need no query. */
  readonly #claims = keptByRun(() => new Map<string, Promise<CheckpointPlace>>());
  readonly #reads = createOwnerOfReads();

  constructor(db: Database, defaultScope: Scope | null) {
    super(readingPool(db), undefined, { schema: db.schemaName });
    this.#db = db;
    this.#defaultScope = defaultScope;
    this.#write = checkpointWriter(db);
    countVersionsApart(this);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.thread_id === undefined) return undefined;
    const read = this.#readOf(config);
    const search = { ...addressOf(config), limit: 1 };
    const found = await this.#find(config, read.asked, (where) =>
      readCheckpoints(this.#db, where, search),
    );
    const stored = found?.[1][0];
    const tuple = stored && (await this.#tupleOf(found[0], stored));
    this.#reads.open(read);
    return tuple;
  }

  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id: threadId, checkpoint_ns: ns = undefined } = config?.configurable ?? {};
    if (threadId === undefined) return yield* this.#listUnowned(config, options);
    const { filter, before, limit } = options ?? {};
    const range = { ...addressOf(config), ns, before: before?.configurable?.checkpoint_id };
    const found = await this.#find(config, this.#askedBy(config), (where) =>
      readCheckpoints(this.#db, where, { ...range, filter, limit }),
    );
    if (!found) return;
    for (const stored of found[1]) yield this.#tupleOf(found[0], stored);
  }

  override async getDeltaChannelHistory({
    config,
    channels,
  }: Parameters<PostgresSaver["getDeltaChannelHistory"]>[0]): Promise<
    Record<string, DeltaChannelHistory>
  > {
    const read = this.#readOf(config);
    const search = { ...addressOf(config), channels };
    const found = await this.#find(config, read.asked, (where) =>
      readDeltaHistory(this.#db, where, search),
    );
    const row = found?.[1];
    const seeds = new Map(row && (await this.#load(row.value_list, row.value_bytes)));
    const writes = row ? await this.#load(row.write_list, row.write_bytes) : [];
    this.#reads.open(read);
    const historyOf = (channel: string) => ({
      writes: writes.filter((write) => write[1] === channel),
      ...(seeds.has(channel) && { seed: seeds.get(channel) }),
    });
    return Object.fromEntries(channels.map((channel) => [channel, historyOf(channel)]));
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const place = await this.#claim(config, this.#askedBy(config));
    const { checkpoint_ns: ns = "", checkpoint_id: parent = null } = config.configurable ?? {};
    const [blobs, dumped] = await Promise.all([
      this._dumpBlobs(place.name, ns, checkpoint.channel_values, newVersions),
      this._dumpMetadata(metadata),
    ]);
    await this.#write({
      place,
      blobs: blobs.map(([, , channel, version, type, value = null]) => ({
        ns,
        channel,
        version,
        type,
        value,
      })),
      checkpoints: [
        {
          ns,
          id: checkpoint.id,
          parent,
          checkpoint: this._dumpCheckpoint(checkpoint),
          metadata: dumped,
        },
      ],
    });
    return configOf(place, ns, checkpoint.id);
  }

  override async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    const place = await this.#claim(config, this.#askedBy(config));
    // LangGraph also calls when only channels that are not kept were written.
    if (writes.length === 0) return;
    const { checkpoint_ns: ns = "", checkpoint_id: id } = config.configurable ?? {};
    const replaces = writes.every(([channel]) => (channel as string) in WRITES_IDX_MAP);
    const dumped = await this._dumpWrites(
      place.name,
      ns,
      id,
      taskId,
      writes as [string, unknown][],
    );
    const rows = dumped.map(([, , , task, idx, channel, type, value]) => {
      return { ns, id, task, path: taskPath, idx, channel, type, value, replaces };
    });
    await this.#write({ place, writes: rows });
  }

  /**
   * Deletes a thread's checkpoints, not its transcript or memories. @param scope its owner.
   * @default nobody
   */
  override async deleteThread(threadId: string, scope?: Scope): Promise<void> {
    const owner = scope ? parseScope(scope) : nobody;
    const asked = { scope: owner, threadId: parseThreadId(threadId) };
    const place = await findPlace(this.#db, asked).catch((error: unknown) => {
      if (scope || !MemoryError.is(error, "THREAD_FORBIDDEN")) throw error;
      throw new MemoryError(
        "THREAD_FORBIDDEN",
        `Thread "${threadId}" has an owner: name it, as in deleteThread(threadId, { userId: … }). ` +
          "memory.threads.delete({ scope, threadId }) deletes its transcript as well.",
      );
    });
    if (place) await deleteCheckpoints(this.#db, place);
  }

  /** A run names its owner in every config; outside of runs LangGraph's reads of subgraphs do not. */
  #readOf(config: RunnableConfig): NamedRead {
    if (runOf(config)) return { asked: this.#askedBy(config), isOpen: false };
    const threadId = parseThreadId(config.configurable?.thread_id);
    const isLent = config.configurable?.__pregel_checkpointer === this;
    const current =
      isLent && namedOwner(config) === null ? this.#reads.current(threadId) : undefined;
    return current ?? this.#reads.begin(this.#askedBy(config));
  }

  /**
   * Finds the place and reads there in one statement, also before the run claims the thread. Calls
   * outside of runs claim nothing.
   */
  async #find<Found>(
    config: RunnableConfig,
    asked: ThreadAddress,
    read: (where: Where) => Promise<FoundAt<Found>>,
  ): Promise<readonly [CheckpointPlace, Found] | undefined> {
    const claims = this.#claims(config);
    const key = addressKey(asked);
    if (!claims?.has(key)) {
      const [owned, found] = await read(asked);
      if (owned) claims?.set(key, Promise.resolve(owned));
      if (owned) return [owned, found];
    }
    const place = await (claims ? this.#claim(config, asked) : findPlace(this.#db, asked));
    return place ? [place, (await read(place))[1]] : undefined;
  }

  #load<Fields extends readonly unknown[]>(
    list: Listed<Fields>,
    bytes: Uint8Array | null,
  ): Promise<[...Fields, unknown][]> {
    let end = 0;
    const loaded = list.map(async (each) => {
      const [type, length] = each.slice(-2) as [string, number];
      end += length;
      const value = bytes?.subarray(end - length, end) ?? new Uint8Array();
      const own = type === "json" ? loadJson(new TextDecoder().decode(value)) : undefined;
      const found = own ? own.value : await this.serde.loadsTyped(type, value);
      return [...each.slice(0, -2), found] as [...Fields, unknown];
    });
    return Promise.all(loaded);
  }

  async #tupleOf(place: CheckpointPlace, stored: StoredCheckpoint): Promise<CheckpointTuple> {
    const { ns, id, parent, checkpoint, metadata } = stored;
    const [channels, pendingWrites] = await Promise.all([
      this.#load(stored.value_list, stored.value_bytes),
      this.#load(stored.write_list, stored.write_bytes),
    ]);
    const configurable = { thread_id: place.name, checkpoint_ns: ns, checkpoint_id: id };
    // LangGraph stored pending sends with the parent's writes.
    const old =
      checkpoint.v < 4 && parent !== null ? await super.getTuple({ configurable }) : undefined;
    return {
      config: configOf(place, ns, id),
      checkpoint: old?.checkpoint ?? {
        ...checkpoint,
        channel_values: Object.fromEntries(channels),
      },
      metadata: await this._loadMetadata(metadata),
      ...(parent !== null && { parentConfig: configOf(place, ns, parent) }),
      pendingWrites,
    };
  }

  /** For operators: lists unclaimed threads only. */
  async *#listUnowned(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    const unowned = new Map<string, boolean>();
    for await (const tuple of super.list(config, options)) {
      const threadId = String(tuple.config.configurable?.thread_id);
      if (!unowned.has(threadId)) {
        const place = await findPlace(this.#db, { scope: nobody, threadId }).catch(() => null);
        unowned.set(threadId, place?.name === threadId);
      }
      if (unowned.get(threadId)) yield tuple;
    }
  }

  #askedBy(config: RunnableConfig): ThreadAddress {
    const scope = findRunScope(config, this.#defaultScope) ?? nobody;
    return { scope, threadId: parseThreadId(config.configurable?.thread_id) };
  }

  /** A run claims its thread once. @throws MemoryError `THREAD_FORBIDDEN` */
  #claim(config: RunnableConfig, asked: ThreadAddress): Promise<CheckpointPlace> {
    const claims = this.#claims(config);
    const key = addressKey(asked);
    const known = claims?.get(key);
    if (known) return known;
    const sought = claimPlace(this.#db, asked);
    claims?.set(key, sought);
    sought.catch(() => claims?.delete(key));
    return sought;
  }
}

/** `end` does nothing: the memory closes its pools. */
function readingPool(db: Database): Pool {
  const query = async (text: string, values: unknown[] = []) => ({
    rows: await db.query({ text, values } as Sql),
  });
  return { query, end: async () => {} } as unknown as Pool;
}

/** Without an id, the latest in its namespace. */
function addressOf({ configurable = {} }: RunnableConfig) {
  return { ns: configurable.checkpoint_ns ?? "", id: configurable.checkpoint_id || undefined };
}

/** Names the thread and its owner, so that it can be run. */
function configOf({ threadId, scope }: CheckpointPlace, ns: string, id: string): RunnableConfig {
  const owner = scope === nobody ? {} : identityKeys(scope);
  return {
    configurable: { checkpoint_ns: ns, checkpoint_id: id, thread_id: threadId, ...owner },
  };
}

/** Twelve decimals: a double also holds as many steps as a thread has. */
const fractions = 10 ** 12;

/**
 * Adds a random fraction to the versions of each step: `PostgresSaver` stores one value for each
 * version of a channel, so with whole numbers a fork or a concurrent run would read the other
 * branch's values.
 */
function countVersionsApart(saver: PostgresSaver): void {
  const counted = saver.getNextVersion.bind(saver);
  // LangGraph reads the method once for a run or an update.
  Object.defineProperty(saver, "getNextVersion", {
    get: () => versionsOfRun(counted),
    configurable: true,
  });
}

/** Channels written in one step share a version: LangGraph finds the last writers by it. */
function versionsOfRun(counted: (current: number | undefined) => number) {
  let last: { readonly current: number | undefined; readonly next: number } | undefined;
  return (current: number | undefined): number => {
    if (!last || last.current !== current)
      last = { current, next: Math.floor(counted(current)) + randomInt(1, fractions) / fractions };
    return last.next;
  };
}
