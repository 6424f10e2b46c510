import type { RunnableConfig } from "@langchain/core/runnables";
import type {
  ChannelVersions,
  Checkpoint,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { Pool } from "pg";
import { parseScope, type Scope } from "../../scope/scope.js";
import { findRunScope } from "../run/run-identity.js";
import { runOf } from "../run/run-state.js";
import { countVersionsApart } from "./channel-versions.js";
import { isAfterTravel, isPartOfRead } from "./owned-postgres-saver.js";

/** The checkpointers of a memory's cells. */
export interface CellSavers {
  readonly defaultScope: Scope | null;
  /** Those of the cells that were asked for anything so far. */
  known(): readonly PostgresSaver[];
  /** Those of all cells. */
  all(): readonly PostgresSaver[];
  /** What `work` does with it. @throws MemoryError `CELL_MOVING` as every call */
  use<Result>(scope: Scope | null, work: (saver: PostgresSaver) => Promise<Result>): Promise<Result>;
}

/** Threads remembered whose runs travel back. */
const mostRemembered = 10_000;

/** The checkpointer of a memory with several cells: each thread's checkpoints are in the cell of whose it is. */
export class CelledSaver extends PostgresSaver {
  readonly #cells: CellSavers;
  /** By thread id, whose runs have begun that travel back, and are about to ask for the latest checkpoint as nobody. */
  readonly #travelled = new Map<string, (Scope | null)[]>();

  constructor(cells: CellSavers) {
    // Nothing is asked of it: every call goes to a cell's.
    super({} as Pool);
    this.#cells = cells;
    countVersionsApart(this);
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const threadId = config.configurable?.thread_id;
    if (threadId === undefined) return undefined;
    if (isPartOfRead(config, this)) return this.#getOfRead(config);
    if (isAfterTravel(config)) {
      const [scope, ...others] = this.#travelled.get(threadId) ?? [];
      if (others.length > 0) this.#travelled.set(threadId, others);
      else this.#travelled.delete(threadId);
      return this.#cells.use(scope ?? null, (saver) => saver.getTuple(config));
    }
    const scope = this.#scopeOf(config);
    if (runOf(config) && config.configurable?.checkpoint_id) this.#remember(threadId, scope);
    return this.#cells.use(scope, (saver) => saver.getTuple(config));
  }

  override async *list(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncGenerator<CheckpointTuple> {
    if (config?.configurable?.thread_id !== undefined) {
      yield* await this.#cells.use(this.#scopeOf(config), async (saver) => saver.list(config, options));
      return;
    }
    // As operators ask, of threads that are nobody's.
    for (const saver of this.#cells.all()) yield* saver.list(config, options);
  }

  override put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    return this.#cells.use(this.#scopeOf(config), (saver) =>
      saver.put(config, checkpoint, metadata, newVersions),
    );
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return this.#cells.use(this.#scopeOf(config), (saver) => saver.putWrites(config, writes, taskId));
  }

  /** @param scope whose thread it is. @default nobody's: that of a graph without memory */
  override deleteThread(threadId: string, scope?: Scope): Promise<void> {
    const whose = scope ? parseScope(scope) : null;
    type Owned = { deleteThread(threadId: string, scope?: Scope): Promise<void> };
    return this.#cells.use(whose, (saver) => (saver as Owned).deleteThread(threadId, scope));
  }

  /** Nothing: the tables are made by `memory.setup()`. */
  override async setup(): Promise<void> {}

  /** Nothing: the pools are the memory's. */
  override async end(): Promise<void> {}

  #scopeOf(config: RunnableConfig): Scope | null {
    return findRunScope(config, this.#cells.defaultScope);
  }

  /** A subgraph's state, which LangGraph reads within a read that said who asks: each cell's knows what it was asked for. */
  async #getOfRead(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    for (const saver of this.#cells.known()) {
      const configurable = { ...config.configurable, __pregel_checkpointer: saver };
      const tuple = await saver.getTuple({ ...config, configurable });
      if (tuple) return tuple;
    }
    return undefined;
  }

  #remember(threadId: string, scope: Scope | null): void {
    const others = this.#travelled.get(threadId) ?? [];
    this.#travelled.delete(threadId);
    this.#travelled.set(threadId, [scope, ...others]);
    const [oldest] = this.#travelled.keys();
    if (this.#travelled.size > mostRemembered && oldest !== undefined) this.#travelled.delete(oldest);
  }
}
