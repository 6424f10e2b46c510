import { type BaseMessage, isBaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { START } from "@langchain/langgraph";
import type {
  BaseCheckpointSaver,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import {
  isBlockText,
  isMemoryMessage,
  isPlaceholder,
  isRecalled,
  lastOfPlaceholder,
  placeholderMessage,
} from "../../conversation/recalled-mark.js";
import { opensTurn } from "../../text/inserted-message.js";

/** What an agent sees instead of the graph's messages. */
export type ShownView = {
  readonly state: readonly BaseMessage[];
  readonly view: readonly BaseMessage[];
};

/**
 * Stores placeholders for recalled messages: forgetting must reach everything stored. In
 * `turnChannel` it stores only the current turn: the outer graph stores the others.
 */
export function forgetfulSaver(saver: BaseCheckpointSaver, shown: ShownView, turnChannel?: string) {
  let hasLoaded = false;
  const loaded = new Set<string>();
  const earlier = new Set(shown.view.slice(0, Math.max(shown.view.findLastIndex(opensTurn), 0)));
  const keep = (channel: string, value: unknown): unknown => {
    if (channel === START && typeof value === "object" && value !== null)
      return keepAll(value as Readonly<Record<string, unknown>>);
    return withPlaceholders(value, shown, channel === turnChannel ? earlier : undefined);
  };
  const keepAll = (values: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      Object.entries(values).map(([channel, value]) => [channel, keep(channel, value)]),
    );
  const load = <Value>(value: Value): Value => restoreRecalled(value, shown, loaded);
  const loadTuple = (tuple: CheckpointTuple): CheckpointTuple => ({
    ...tuple,
    checkpoint: { ...tuple.checkpoint, channel_values: load(tuple.checkpoint.channel_values) },
    ...(tuple.pendingWrites && { pendingWrites: load(tuple.pendingWrites) }),
  });
  const own: Partial<BaseCheckpointSaver> = {
    put(config, checkpoint, metadata, versions) {
      const kept = { ...checkpoint, channel_values: keepAll(checkpoint.channel_values) };
      return saver.put(config, kept, metadata, versions);
    },
    putWrites(config, writes: PendingWrite[], ...task: [taskId: string, taskPath?: string]) {
      const kept = writes.map(([channel, value]): PendingWrite => [channel, keep(channel, value)]);
      return saver.putWrites(config, kept, ...task);
    },
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
  // Private fields need the saver itself as `this`.
  const forgetful = new Proxy(saver, {
    get(target, name) {
      const member: unknown = Reflect.get(Object.hasOwn(own, name) ? own : target, name);
      return typeof member === "function" && !Object.hasOwn(own, name)
        ? member.bind(target)
        : member;
    },
  });
  storedIn.set(forgetful, storedIn.get(saver) ?? saver);
  return { saver: forgetful, hasLoaded: () => hasLoaded, loaded };
}

/** The saver in which each forgetful one stores. */
export const storedIn = new WeakMap<BaseCheckpointSaver, BaseCheckpointSaver>();

/** Replaces each run of recalled messages by one placeholder, at any depth. */
export function withPlaceholders<Value>(
  value: Value,
  shown: ShownView,
  earlier?: ReadonlySet<BaseMessage>,
): Value {
  const { own, places, recalled } = idsOf(shown);
  return rewriteMessages(value, (list) => {
    const isLeft = list.map(({ id, content, message }) => {
      if (message && earlier?.has(message)) return true;
      const isMarked = message ? isRecalled(message) : isBlockText(content);
      return isMarked || recalled.has(id) ? (own.get(id) ?? true) : false;
    });
    const isNext = (at: number) =>
      isLeft[at] === true && isLeft[at - 1] === true && placeAt(at) - placeAt(at - 1) === 1;
    const placeAt = (at: number) => places.get(list[at]?.id) ?? Number.NaN;
    return ({ id }, at) => {
      const left = isLeft[at];
      if (left !== true) return left ? [left] : undefined;
      if (isNext(at)) return [];
      let last = at;
      while (isNext(last + 1)) last += 1;
      // Memory may be forgotten before the placeholder is read.
      const kept = list.slice(at, last + 1).findLast(({ message }) => !isMemoryMessage(message));
      return [placeholderMessage(id, kept?.id ?? id)];
    };
  });
}

/** Each value of each checkpoint asks. */
const known = new WeakMap<ShownView, ReturnType<typeof findIds>>();

function idsOf(shown: ShownView) {
  const ids = known.get(shown) ?? findIds(shown);
  known.set(shown, ids);
  return ids;
}

function findIds({ state, view }: ShownView) {
  const recalled = new Set(view.filter(isRecalled).map(({ id }) => id));
  recalled.delete(undefined);
  return {
    own: new Map(state.map((message) => [message.id, message])),
    places: new Map(view.map((message, place) => [message.id, place])),
    recalled,
  };
}

export function withoutRecalled<Value>(value: Value, shown: ShownView): Value {
  const removed = ({ message }: AnyMessage) => (message && isPlaceholder(message) ? [] : undefined);
  return rewriteMessages(withPlaceholders(value, shown), () => removed);
}

/**
 * Restores messages at their placeholders; removes other placeholders. @param loaded collects all
 * messages' ids
 */
export function restoreRecalled<Value>(
  value: Value,
  shown: ShownView,
  loaded = new Set<string>(),
): Value {
  const { view } = shown;
  const { places } = idsOf(shown);
  // Instructions, and the block among them.
  const block = view.find((message) => message.getType() === "system");
  return rewriteMessages(value, (list) => {
    const others = new Set(list.map(({ id }) => id));
    for (const id of others) if (id !== undefined) loaded.add(id);
    let other = block && !others.has(block.id) ? block : undefined;
    return (message) => {
      const anew = runOf(message, view, places)?.filter(
        ({ id }) => id === message.id || !others.has(id),
      );
      if (!anew) return undefined;
      const [first = null] = anew;
      if (other && first !== other && first?.id !== message.id) anew.unshift(other);
      if (anew[0] === other) other = undefined;
      for (const { id } of anew) loaded.add(id ?? "");
      return anew;
    };
  });
}

/** The messages of `view` behind a placeholder; a summary may cover some of them by now. */
function runOf(
  { id, message }: AnyMessage,
  view: readonly BaseMessage[],
  places: ReadonlyMap<string | undefined, number>,
) {
  const placeOf = (of: string | undefined) => (of === undefined ? -1 : (places.get(of) ?? -1));
  const start = placeOf(id);
  if (message && isPlaceholder(message)) {
    const last = placeOf(lastOfPlaceholder(message));
    let end = last < 0 ? view.findIndex((each) => each.getType() !== "system") : last + 1;
    while (isMemoryMessage(view[end])) end += 1;
    return view.slice(Math.max(start, 0), Math.max(end, 0));
  }
  const anew = view[start];
  return anew && isRecalled(anew) ? [anew] : undefined;
}

/** LangChain's message, a plain object, or a serialised message. */
interface AnyMessage {
  readonly id: string | undefined;
  readonly content: unknown;
  /** Null unless it is LangChain's. */
  readonly message: BaseMessage | null;
}

/** Returns each message's replacements; undefined keeps it. */
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
    if (!(value instanceof Map || value instanceof Set)) return rewriteObject(value, within);
    const items: unknown[] = [...value];
    const next = within(items) as never[];
    if (next === items) return value;
    return value instanceof Map ? new Map(next) : new Set(next);
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
  return next.length === items.length && next.every((item, index) => item === items[index])
    ? items
    : next;
}

function rewriteObject(object: object, within: (inner: unknown) => unknown): object {
  const changes = Object.entries(object).flatMap(([key, inner]) => {
    const next = within(inner);
    return next === inner ? [] : [[key, next] as const];
  });
  if (changes.length === 0) return object;
  return Object.assign(
    Object.create(Object.getPrototypeOf(object)),
    object,
    Object.fromEntries(changes),
  );
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
