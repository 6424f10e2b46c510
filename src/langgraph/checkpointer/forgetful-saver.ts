import { type BaseMessage, isBaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver, CheckpointTuple, PendingWrite } from "@langchain/langgraph-checkpoint";
import {
  isBlockText,
  isLeftOut,
  isMemoryBlock,
  isRecalled,
  leftOutMessage,
} from "../../conversation/recalled-mark.js";

/** What an agent sees in place of the graph's messages. */
export interface ShownView {
  readonly state: readonly BaseMessage[];
  readonly view: readonly BaseMessage[];
}

/** Stores placeholders for recalled messages: forgetting must reach everything stored. */
export function forgetfulSaver(saver: BaseCheckpointSaver, shown: ShownView) {
  let hasLoaded = false;
  /** Ids of recalled messages that loading has restored. */
  const putBack = new Set<string>();
  const keep = <Value>(value: Value): Value => leaveOut(value, shown);
  const load = <Value>(value: Value): Value => putInAnew(value, shown, putBack);
  const loadTuple = (tuple: CheckpointTuple): CheckpointTuple => ({
    ...tuple,
    checkpoint: { ...tuple.checkpoint, channel_values: load(tuple.checkpoint.channel_values) },
    ...(tuple.pendingWrites && { pendingWrites: load(tuple.pendingWrites) }),
  });
  const own: Partial<BaseCheckpointSaver> = {
    put(config, checkpoint, metadata, versions) {
      const kept = { ...checkpoint, channel_values: keep(checkpoint.channel_values) };
      return saver.put(config, kept, metadata, versions);
    },
    putWrites: (config, writes: PendingWrite[], taskId) => saver.putWrites(config, keep(writes), taskId),
    async getTuple(config: RunnableConfig) {
      const tuple = await saver.getTuple(config);
      if (!tuple) return undefined;
      hasLoaded = true;
      return loadTuple(tuple);
    },
    async get(config: RunnableConfig) {
      return (await own.getTuple?.(config))?.checkpoint;
    },
    async *list(config: RunnableConfig, options) {
      for await (const tuple of saver.list(config, options)) {
        hasLoaded = true;
        yield loadTuple(tuple);
      }
    },
    getDeltaChannelHistory: async (options) => load(await saver.getDeltaChannelHistory(options)),
  };
  // A saver's private fields need the saver itself as `this`.
  const forgetful = new Proxy(saver, {
    get(target, name) {
      const member: unknown = Reflect.get(Object.hasOwn(own, name) ? own : target, name);
      return typeof member === "function" && !Object.hasOwn(own, name) ? member.bind(target) : member;
    },
  });
  return { saver: forgetful, hasLoaded: () => hasLoaded, putBack };
}

/** Replaces recalled messages by placeholders, at any depth. */
export function leaveOut<Value>(value: Value, { state, view }: ShownView): Value {
  const own = new Map(state.map((message) => [message.id, message]));
  const recalled = new Set(view.filter(isRecalled).flatMap(({ id }) => id ?? []));
  const isKept = ({ id, content, message }: AnyMessage) =>
    !(message ? isRecalled(message) : isBlockText(content)) && (id === undefined || !recalled.has(id));
  return rewriteMessages(value, () => (message) => {
    if (isKept(message)) return undefined;
    return [own.get(message.id) ?? leftOutMessage(message.id)];
  });
}

/** For streams: removes the placeholders too. */
export function withoutRecalled<Value>(value: Value, shown: ShownView): Value {
  const removed = ({ message }: AnyMessage) => (message && isLeftOut(message) ? [] : undefined);
  return rewriteMessages(leaveOut(value, shown), () => removed);
}

/** Restores recalled messages at their placeholders; removes the other placeholders. */
export function putInAnew<Value>(value: Value, { view }: ShownView, putBack = new Set<string>()): Value {
  const recalled = new Map(view.filter(isRecalled).map((message) => [message.id, message]));
  recalled.delete(undefined);
  // Without a block, the instructions that stood before it.
  const block = view.find(isMemoryBlock) ?? view.find((message) => message.getType() === "system");
  return rewriteMessages(value, (list) => {
    let other = block && !list.some(({ id }) => id === block.id) ? block : undefined;
    const anewOf = (known: BaseMessage | undefined) => {
      // The block's summary covers this message by now.
      const anew = known ?? other;
      if (anew === other) other = undefined;
      if (anew?.id !== undefined) putBack.add(anew.id);
      return anew ? [anew] : [];
    };
    return ({ id, message }) => {
      const known = recalled.get(id);
      return known || (message && isLeftOut(message)) ? anewOf(known) : undefined;
    };
  });
}

/** LangChain's own message, a plain object, or a serialised message. */
interface AnyMessage {
  readonly id: string | undefined;
  readonly content: unknown;
  /** Null for the latter two. */
  readonly message: BaseMessage | null;
}

/** Replaces each message of one list; undefined keeps it. */
type RewriteList = (
  list: readonly AnyMessage[],
) => (message: AnyMessage) => readonly BaseMessage[] | undefined;

/** Graphs hold nothing deeper. */
const mostDepth = 100;

function rewriteMessages<Value>(value: Value, rewrite: RewriteList): Value {
  return rewriteWithin(value, rewrite, new Set()) as Value;
}

function rewriteWithin(value: unknown, rewrite: RewriteList, around: Set<object>): unknown {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (around.has(value) || around.size > mostDepth) return value;
  around.add(value);
  try {
    const within = (inner: unknown) => rewriteWithin(inner, rewrite, around);
    if (Array.isArray(value)) return rewriteArray(value, rewrite, within);
    const message = asMessage(value);
    // A message outside a list cannot be removed.
    if (message) return rewrite([message])(message)?.[0] ?? value;
    if (value instanceof Map) return changed(value, [...value], within, (entries) => new Map(entries));
    if (value instanceof Set) return changed(value, [...value], within, (items) => new Set(items));
    return rewriteObject(value, within);
  } finally {
    around.delete(value);
  }
}

function rewriteArray(
  items: readonly unknown[],
  rewrite: RewriteList,
  within: (item: unknown) => unknown,
): unknown {
  const messages = new Map(
    items.flatMap((item) => {
      const message = asMessage(item);
      return message ? [[item, message] as const] : [];
    }),
  );
  const of = messages.size === 0 ? undefined : rewrite([...messages.values()]);
  const next: unknown[] = items.flatMap((item): unknown[] => {
    const message = messages.get(item);
    return message ? [...(of?.(message) ?? [item])] : [within(item)];
  });
  return next.length === items.length && next.every((item, index) => item === items[index]) ? items : next;
}

function changed<Item, Collection>(
  collection: Collection,
  items: Item[],
  within: (item: unknown) => unknown,
  make: (items: Item[]) => Collection,
): Collection {
  const next = within(items) as Item[];
  return next === items ? collection : make(next);
}

function rewriteObject(object: object, within: (inner: unknown) => unknown): object {
  const changes = Object.entries(object).flatMap(([key, inner]) => {
    const next = within(inner);
    return next === inner ? [] : [[key, next] as const];
  });
  if (changes.length === 0) return object;
  const copy: object = Object.assign(Object.create(Object.getPrototypeOf(object)), object);
  return Object.assign(copy, Object.fromEntries(changes));
}

function asMessage(value: unknown): AnyMessage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isBaseMessage(value)) return { id: value.id, content: value.content, message: value };
  const holder = value as { kwargs?: unknown; data?: unknown };
  for (const fields of [value, holder.kwargs, holder.data]) {
    if (typeof fields !== "object" || fields === null || !("content" in fields)) continue;
    const { id, content } = fields as { id?: unknown; content: unknown };
    return { id: typeof id === "string" ? id : undefined, content, message: null };
  }
  return undefined;
}
