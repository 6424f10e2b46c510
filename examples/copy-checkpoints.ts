import { pathToFileURL } from "node:url";
import type { RunnableConfig } from "@langchain/core/runnables";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import {
  type BaseCheckpointSaver,
  type ChannelVersions,
  type CheckpointPendingWrite,
  type PendingWrite,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import type { Scope } from "mnemograph";

// Conversations that another checkpointer kept go on under `memory.checkpointer()`. Copy this file
// into your project.
//
// npx tsx examples/copy-checkpoints.ts

/** What to copy, and to whom. */
export interface CopyOptions {
  /** The checkpointer that has them: a `MemorySaver`, or any other that lists what it holds. */
  readonly from: BaseCheckpointSaver;
  readonly to: BaseCheckpointSaver;
  /**
   * Whose a thread is; null for nobody's. `memory.checkpointer()` refuses a thread of somebody
   * else.
   */
  readonly scopeOf: (threadId: string) => Scope | null;
  /** @default all threads that `from` lists */
  readonly threadIds?: readonly string[];
}

/**
 * Copies checkpoints with their history, subgraphs, interrupts and pending writes: a graph goes on
 * where it was. `from` keeps what it has. Returns how many threads and checkpoints were copied.
 *
 * The oldest is copied first, so that the next copy finishes one that was interrupted; what is
 * there already is written again as it was. Copy while no graph runs on these threads. Memories and
 * transcripts begin with the next round, which records all messages that the state holds.
 */
export async function copyCheckpoints({ from, to, scopeOf, threadIds }: CopyOptions) {
  const copied = { threads: 0, checkpoints: 0 };
  for (const [threadId, places] of await listPlaces(from, threadIds)) {
    const scope = scopeOf(threadId);
    const identity = scope && {
      user_id: scope.userId,
      tenant_id: scope.tenantId,
      app_id: scope.appId,
    };
    const written = new Set<string>();
    // Listed newest first.
    for (const place of places.toReversed()) {
      await copyCheckpoint({ from, to, place, identity, written });
      copied.checkpoints += 1;
    }
    copied.threads += 1;
  }
  return copied;
}

/** Where checkpoints are, by thread, as `from` lists them. */
async function listPlaces(from: BaseCheckpointSaver, threadIds: readonly string[] | undefined) {
  const places = new Map<string, RunnableConfig[]>();
  const asked: RunnableConfig[] = threadIds?.map((thread_id) => ({
    configurable: { thread_id },
  })) ?? [{}];
  for (const config of asked) {
    for await (const tuple of from.list(config)) {
      const threadId = String(tuple.config.configurable?.thread_id);
      places.set(threadId, [...(places.get(threadId) ?? []), tuple.config]);
    }
  }
  return places;
}

async function copyCheckpoint(copy: {
  readonly from: BaseCheckpointSaver;
  readonly to: BaseCheckpointSaver;
  readonly place: RunnableConfig;
  readonly identity: object | null;
  /** Versions of channels that `to` has, so that each is written once. */
  readonly written: Set<string>;
}): Promise<void> {
  const { from, to, place, identity, written } = copy;
  const tuple = await from.getTuple(place);
  // Deleted since it was listed.
  if (!tuple) return;
  const { checkpoint, metadata, parentConfig, pendingWrites = [] } = tuple;
  const { thread_id, checkpoint_ns = "" } = place.configurable ?? {};
  const target = (checkpoint_id: unknown): RunnableConfig => ({
    configurable: {
      thread_id,
      checkpoint_ns,
      ...identity,
      ...(checkpoint_id !== undefined && { checkpoint_id }),
    },
  });
  const news: ChannelVersions = {};
  for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
    const key = JSON.stringify([checkpoint_ns, channel, version]);
    if (!written.has(key)) news[channel] = version;
    written.add(key);
  }
  const parentId = parentConfig?.configurable?.checkpoint_id;
  await to.put(
    target(parentId),
    checkpoint,
    metadata ?? { source: "update", step: -1, parents: {} },
    news,
  );
  for (const [taskId, writes] of byTask(pendingWrites)) {
    await to.putWrites(target(checkpoint.id), writes, taskId);
  }
}

/**
 * Writes as `putWrites` takes them: LangGraph's own channels apart, since those replace what is
 * there.
 */
function byTask(
  pendingWrites: readonly CheckpointPendingWrite[],
): [taskId: string, PendingWrite[]][] {
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

/** A conversation that a `MemorySaver` kept goes on in the database. */
async function demo(): Promise<void> {
  const graphOn = (checkpointer: BaseCheckpointSaver) =>
    new StateGraph(MessagesAnnotation)
      .addNode("answer", ({ messages }) => ({
        messages: [{ role: "ai", content: `answer ${messages.length}` }],
      }))
      .addEdge(START, "answer")
      .compile({ checkpointer });
  const say = async (saver: BaseCheckpointSaver, content: string, configurable: object) => {
    const { messages } = await graphOn(saver).invoke(
      { messages: [{ role: "user", content }] },
      { configurable },
    );
    console.log(messages.map(({ text }) => text).join(" | "));
  };

  const { createMemory } = await import("mnemograph");
  const memory = createMemory({ database: process.env.DATABASE_URL });
  await memory.setup();
  const thread_id = `thread-${Date.now()}`;
  const from = new MemorySaver();
  await say(from, "Hello.", { thread_id });
  console.log(
    await copyCheckpoints({ from, to: memory.checkpointer(), scopeOf: () => ({ userId: "ana" }) }),
  );
  await say(memory.checkpointer(), "Still there?", { thread_id, user_id: "ana" });
  await memory.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await demo();
