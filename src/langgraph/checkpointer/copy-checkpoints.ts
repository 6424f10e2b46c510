import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type BaseCheckpointSaver,
  type ChannelVersions,
  type CheckpointPendingWrite,
  type PendingWrite,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { MemoryError } from "../../errors.js";
import type { Scope } from "../../scope/scope.js";
import { abortSignal, listener, parseInput } from "../../text/parse-input.js";
import { identityKeys } from "../run/run-identity.js";

/** What to copy, and to whom. */
export interface CopyCheckpointsOptions {
  /** The checkpointer that has them: a `MemorySaver`, or any other that lists what it holds. */
  readonly from: BaseCheckpointSaver;
  /** The checkpointer that gets them: `memory.checkpointer()`, or any other. */
  readonly to: BaseCheckpointSaver;
  /** Whose a thread is; null for nobody's. A thread of somebody else is refused by `memory.checkpointer()`. */
  readonly scopeOf: (threadId: string) => Scope | null | Promise<Scope | null>;
  /** @default all threads that `from` lists */
  readonly threadIds?: readonly string[] | undefined;
  /** Told after each thread. */
  readonly onProgress?: ((copied: CopiedCheckpoints) => void) | undefined;
  /** Stops between two checkpoints, with its reason as the error; run it again to go on. */
  readonly signal?: AbortSignal | undefined;
}

const optionsSchema = z.strictObject({
  from: z.custom<BaseCheckpointSaver>(isSaver, "must be a checkpointer"),
  to: z.custom<BaseCheckpointSaver>(isSaver, "must be a checkpointer"),
  scopeOf: listener<CopyCheckpointsOptions["scopeOf"]>(),
  threadIds: z.array(z.string()).optional(),
  onProgress: listener<(copied: CopiedCheckpoints) => void>().optional(),
  signal: abortSignal.optional(),
});

/** What was copied. */
export interface CopiedCheckpoints {
  readonly threads: number;
  readonly checkpoints: number;
  /** Pending writes: of steps that wait at an interrupt, or failed. */
  readonly writes: number;
}

/**
 * Copies checkpoints from one checkpointer to another, with their history, subgraphs, interrupts and pending writes:
 * a graph goes on where it was. `from` keeps what it has.
 *
 * Oldest first, so that an interrupted copy is finished by the next; what is there already is written again as it was.
 * Copy while no graph runs on these threads. Memories and transcripts begin with the next round, which records all
 * messages that the state holds.
 *
 * ```ts
 * await copyCheckpoints({ from: memorySaver, to: memory.checkpointer(), scopeOf: (threadId) => ({ userId: userOf(threadId) }) });
 * ```
 *
 * @throws MemoryError `THREAD_FORBIDDEN` for a thread that is another's, `SCOPE_REQUIRED`, `INVALID_INPUT`
 */
export async function copyCheckpoints(options: CopyCheckpointsOptions): Promise<CopiedCheckpoints> {
  const { from, to, scopeOf, threadIds, onProgress, signal } = parseInput(optionsSchema, options, "copying");
  const copied = { threads: 0, checkpoints: 0, writes: 0 };
  for (const [threadId, places] of await listPlaces(from, threadIds)) {
    const scope = await scopeOf(threadId);
    if (scope === undefined) {
      throw new MemoryError("SCOPE_REQUIRED", `\`scopeOf\` gave nothing for thread "${threadId}".`);
    }
    const identity = scope === null ? {} : identityKeys(scope);
    const written = new Set<string>();
    // Listed newest first.
    for (const place of places.toReversed()) {
      signal?.throwIfAborted();
      copied.writes += await copyCheckpoint({ from, to, place, identity, written });
      copied.checkpoints += 1;
    }
    copied.threads += 1;
    onProgress?.({ ...copied });
  }
  return copied;
}

function isSaver(value: unknown): boolean {
  return typeof (value as Partial<BaseCheckpointSaver> | null | undefined)?.getTuple === "function";
}

/** Where checkpoints are, by thread, as `from` lists them. */
async function listPlaces(
  from: BaseCheckpointSaver,
  threadIds: readonly string[] | undefined,
): Promise<Map<string, RunnableConfig[]>> {
  const places = new Map<string, RunnableConfig[]>();
  const asked: RunnableConfig[] = threadIds?.map((thread_id) => ({ configurable: { thread_id } })) ?? [{}];
  for (const config of asked) {
    for await (const tuple of from.list(config)) {
      const threadId = String(tuple.config.configurable?.thread_id);
      const listed = places.get(threadId) ?? [];
      places.set(threadId, listed);
      listed.push(tuple.config);
    }
  }
  return places;
}

/** Copies one checkpoint and returns how many pending writes it had. */
async function copyCheckpoint(copy: {
  readonly from: BaseCheckpointSaver;
  readonly to: BaseCheckpointSaver;
  readonly place: RunnableConfig;
  readonly identity: Readonly<Record<string, string>>;
  /** Versions of channels that `to` has, so that each is written once. */
  readonly written: Set<string>;
}): Promise<number> {
  const { from, to, place, identity, written } = copy;
  const tuple = await from.getTuple(place);
  // Pruned since it was listed.
  if (!tuple) return 0;
  const { checkpoint, metadata, parentConfig, pendingWrites = [] } = tuple;
  const { thread_id, checkpoint_ns = "" } = place.configurable ?? {};
  const target = (checkpointId: unknown): RunnableConfig => ({
    configurable: {
      ...{ thread_id, checkpoint_ns, ...identity },
      ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
    },
  });
  const news: ChannelVersions = {};
  for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
    const key = JSON.stringify([checkpoint_ns, channel, version]);
    if (!written.has(key)) news[channel] = version;
    written.add(key);
  }
  const parentId = parentConfig?.configurable?.checkpoint_id;
  await to.put(target(parentId), checkpoint, metadata ?? { source: "update", step: -1, parents: {} }, news);
  for (const [taskId, writes] of byTask(pendingWrites)) {
    await to.putWrites(target(checkpoint.id), writes, taskId);
  }
  return pendingWrites.length;
}

/** Writes as `putWrites` takes them: LangGraph's own channels apart, since those replace what is there. */
function byTask(pendingWrites: readonly CheckpointPendingWrite[]): [taskId: string, PendingWrite[]][] {
  const tasks = new Map<string, { own: PendingWrite[]; others: PendingWrite[] }>();
  for (const [taskId, channel, value] of pendingWrites) {
    const task = tasks.get(taskId) ?? { own: [], others: [] };
    tasks.set(taskId, task);
    (channel in WRITES_IDX_MAP ? task.own : task.others).push([channel, value]);
  }
  return [...tasks].flatMap(([taskId, { own, others }]) =>
    [others, own]
      .filter((writes) => writes.length > 0)
      .map((writes): [string, PendingWrite[]] => [taskId, writes]),
  );
}
