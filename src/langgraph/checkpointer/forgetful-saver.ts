import { type BaseMessage, isBaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver, CheckpointTuple, PendingWrite } from "@langchain/langgraph-checkpoint";
import {
  isBlockText,
  isLeftOut,
  isMemoryBlock,
  isRecalled,
  lastLeftOut,
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

/** Replaces each run of recalled messages by one placeholder, at any depth. */
export function leaveOut<Value>(value: Value, { state, view }: ShownView): Value {
  const own = new Map(state.map((message) => [message.id, message]));
  const recalled = view.filter(isRecalled).flatMap(({ id }) => id ?? []);
  const places = new Map(recalled.map((id, place) => [id, place]));
  const isKept = ({ id, content, message }: AnyMessage) =>
    !(message ? isRecalled(message) : isBlockText(content)) && (id === undefined || !places.has(id));
  return rewriteMessages(value, (list) => {
    const placeOf = (at: number) => {
      const message = list[at];
      return message?.id === undefined || own.has(message.id) ? undefined : places.get(message.id);
    };
    const isNext = (at: number) =>
      placeOf(at) !== undefined && placeOf(at) === (placeOf(at - 1) ?? Number.NaN) + 1;
    return (message, at) => {
      if (isKept(message)) return undefined;
      const said = own.get(message.id);
      if (said || isNext(at)) return said ? [said] : [];
      let last = at;
      while (isNext(last + 1)) last += 1;
      return [leftOutMessage(message.id, list[last]?.id)];
    };
  });
}

/** For streams: removes the placeholders too. */
export function withoutRecalled<Value>(value: Value, shown: ShownView): Value {
  const removed = ({ message }: AnyMessage) => (message && isLeftOut(message) ? [] : undefined);
  return rewriteMessages(leaveOut(value, shown), () => removed);
}

/** Restores recalled messages at their placeholders; removes the other placeholders. */
export function putInAnew<Value>(value: Value, { view }: ShownView, putBack = new Set<string>()): Value {
  const recalled = view.filter((message) => isRecalled(message) && message.id !== undefined);
  // Without a block, the instructions that stood before it.
  const block = view.find(isMemoryBlock) ?? view.find((message) => message.getType() === "system");
  return rewriteMessages(value, (list) => {
    const others = new Set(list.map(({ id }) => id));
    let other = block && !others.has(block.id) ? block : undefined;
    return (message) => {
      const anew = runOf(message, recalled)?.filter(({ id }) => id === message.id || !others.has(id));
      if (!anew) return undefined;
      const [first = null] = anew;
      if (other && first !== other && first?.id !== message.id) anew.unshift(other);
      if (anew[0] === other) other = undefined;
      for (const shown of anew) putBack.add(shown.id ?? "");
      return anew;
    };
  });
}

/** The recalled messages that `message` stands for; a summary may cover the first of them by now. */
function runOf({ id, message }: AnyMessage, recalled: readonly BaseMessage[]) {
  const start = recalled.findIndex((shown) => shown.id === id);
  if (!message || !isLeftOut(message)) return start < 0 ? undefined : recalled.slice(start, start + 1);
  const end = recalled.findLastIndex((shown) => shown.id === lastLeftOut(message));
  return recalled.slice(Math.max(start, 0), end + 1);
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
) => (message: AnyMessage, at: number) => readonly BaseMessage[] | undefined;

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
    if (message) return rewrite([message])(message, 0)?.[0] ?? value;
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
  const messages = items.map(asMessage);
  const list = messages.filter((message) => message !== undefined);
  const of = list.length === 0 ? undefined : rewrite(list);
  let at = 0;
  const next: unknown[] = items.flatMap((item, index): unknown[] => {
    const message = messages[index];
    return message ? [...(of?.(message, at++) ?? [item])] : [within(item)];
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
