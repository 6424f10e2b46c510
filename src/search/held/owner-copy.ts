import { setImmediate } from "node:timers/promises";
import sql from "sql-template-tag";
import type { EmbeddingSpace } from "../../models/embedding-space.js";
import type { Connection } from "../../postgres/connection.js";
import { ownerColumns, ownerIs } from "../../scope/scope-predicates.js";
import type { HeldOptions } from "../held-options.js";
import type { HeldCopy } from "./held-copies.js";
import { type HeldMemories, heldMemories } from "./held-memories.js";
import type { HeldMemoryRow } from "./held-memory-row.js";
import { type HeldMessageRow, type HeldThread, heldThreadsJson } from "./held-message-row.js";
import { type HeldMessages, heldMessages } from "./held-messages.js";
import type { VectorStore } from "./held-vectors.js";
import { createKnownOrder, type KnownOrder } from "./known-order.js";
import { loadMemories } from "./load-memories.js";
import { loadMessages } from "./load-messages.js";
import { scopeOfKey } from "./owner-key.js";

/** What this process holds of one owner: its active memories, and the words of its messages, as they stood at a tick. */
export interface OwnerCopy extends HeldCopy {
  /** `owner.id`; null for an owner of whom nothing is kept. */
  readonly ref: number | null;
  /** The owner's tick up to which all is there. */
  readonly tick: number;
  /** The space of its vectors; null without embeddings. */
  readonly space: EmbeddingSpace | null;
  readonly active: HeldMemories;
  readonly said: HeldMessages;
  readonly order: KnownOrder;
  /** Takes in what changed after `tick` and up to `changes.tick`. A copy that is as new already stays as it is. */
  catchUp(changes: OwnerChanges): void;
}

/** All that changed of an owner up to a tick. */
interface OwnerChanges {
  readonly tick: number;
  readonly memories: readonly HeldMemoryRow[];
  readonly threads: readonly HeldMessageRow[];
}

/** What copies are read from, and into. */
export interface OwnerSource {
  readonly db: Connection;
  readonly vectors: VectorStore;
  /** The space of the vectors; null without embeddings. */
  readonly space: EmbeddingSpace | null;
  readonly options: Pick<HeldOptions, "mostMemories" | "mostMessages" | "mostBytes">;
}

/**
 * A copy of an owner, read in pages outside any transaction: it stands at the tick that was read first, and its first
 * pulse tells what changed meanwhile.
 *
 * @returns null for an owner that is too large, or some of whose memories have no vector in the space
 */
export async function loadOwner(
  { db, vectors, space, options }: OwnerSource,
  key: string,
  signal: AbortSignal,
): Promise<OwnerCopy | null> {
  const owner = await findOwner(db, key);
  if (owner && (owner.memories > options.mostMemories || owner.messages > options.mostMessages)) return null;
  const copy = emptyCopy(owner, space, vectors);
  // Another turn of the event loop after each page: the embedded database gives way to nothing else.
  const pause = async () => {
    await setImmediate();
    signal.throwIfAborted();
    return copy.bytes > options.mostBytes;
  };
  try {
    if (owner === null) return copy;
    for await (const rows of loadMemories(db, { owner: owner.ref, space })) {
      copy.active.apply(rows);
      if (await pause()) return release(copy);
    }
    for await (const rows of loadMessages(db, owner.threads)) {
      copy.said.apply(rows);
      if (await pause()) return release(copy);
    }
    return copy.active.isComplete ? copy : release(copy);
  } catch (error) {
    copy.release();
    throw error;
  }
}

function release(copy: OwnerCopy): null {
  copy.release();
  return null;
}

/** An owner as it is when its copy is begun. */
interface OwnerHead {
  readonly ref: number;
  readonly tick: number;
  readonly memories: number;
  readonly messages: number;
  readonly threads: readonly HeldThread[];
}

async function findOwner(db: Connection, key: string): Promise<OwnerHead | null> {
  const [row] = await db.query<OwnerHead & Record<string, unknown>>(
    sql`
    select o.id::float8 as ref, o.tick::float8 as tick, o.memory_count::float8 as memories,
      o.message_count::float8 as messages, ${heldThreadsJson(db, sql`o.id`)} as threads
    from ${db.schema}.owner o where ${ownerIs(ownerColumns(scopeOfKey(key)))}`,
    { prepare: true },
  );
  return row ?? null;
}

function emptyCopy(owner: OwnerHead | null, space: EmbeddingSpace | null, vectors: VectorStore): OwnerCopy {
  const order = createKnownOrder();
  const watch = { onAdd: order.add, onRemove: order.remove };
  const active = heldMemories(space ? vectors.open(space.dimensions) : null, watch);
  const said = heldMessages();
  let tick = owner?.tick ?? 0;
  return {
    ref: owner?.ref ?? null,
    space,
    ...{ active, said, order },
    get tick() {
      return tick;
    },
    get memories() {
      return active.count;
    },
    get messages() {
      return said.threads.reduce((sum, { size }) => sum + size, 0);
    },
    get bytes() {
      return active.bytes + said.bytes + order.bytes;
    },
    catchUp(changes) {
      if (changes.tick <= tick) return;
      active.apply(changes.memories);
      said.apply(changes.threads);
      tick = changes.tick;
    },
    release: active.release,
  };
}
