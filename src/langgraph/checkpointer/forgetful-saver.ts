import { type BaseMessage, isBaseMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { START } from "@langchain/langgraph";
import type {
  BaseCheckpointSaver,
  CheckpointTuple,
  PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { opensTurn } from "../../messages/inserted-message.js";
import { withFields } from "../../messages/message-text.js";
import {
  isBlockText,
  isMemoryMessage,
  isPlaceholder,
  isRecalled,
  lastOfPlaceholder,
  placeholderMessage,
} from "../../messages/recalled-mark.js";

/** What an agent sees instead of the graph's messages. */
export type ShownView = ReturnType<typeof shownView>;

export function shownView(state: readonly BaseMessage[], view: readonly BaseMessage[]) {
  const recalled = new Set(view.filter(isRecalled).map(({ id }) => id));
  recalled.delete(undefined);
  return {
    view,
    /** The graph's own messages, by id. */
    own: new Map(state.map((message) => [message.id, message])),
    places: new Map(view.map((message, place) => [message.id, place])),
    /** Ids. */
    recalled,
  };
}

/**
 * Stores placeholders for recalled messages: forgetting must reach everything stored. In
 * `turnChannel` it stores only the current turn: the outer graph stores the others. `loaded` gets
 * the ids of all messages that it loads.
 */
export function forgetfulSaver(saver: BaseCheckpointSaver, shown: ShownView, turnChannel?: string) {
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
  const getTuple = async (config: RunnableConfig) => {
    const tuple = await saver.getTuple(config);
    return tuple && loadTuple(tuple);
  };
  const own = {
    put(config, checkpoint, metadata, versions) {
      const kept = { ...checkpoint, channel_values: keepAll(checkpoint.channel_values) };
      return saver.put(config, kept, metadata, versions);
    },
    putWrites(config, writes, ...task) {
      const kept = writes.map(([channel, value]): PendingWrite => [channel, keep(channel, value)]);
      return saver.putWrites(config, kept, ...task);
    },
    getTuple,
    get: async (config) => (await getTuple(config))?.checkpoint,
    async *list(config, options) {
      for await (const tuple of saver.list(config, options)) yield loadTuple(tuple);
    },
    getDeltaChannelHistory: async (options) => load(await saver.getDeltaChannelHistory(options)),
  } satisfies Partial<BaseCheckpointSaver>;
  const forgetful = new Proxy(saver, {
    get(target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const member: unknown = Reflect.get(target, name);
      // Private fields need the saver itself as `this`.
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
  storedIn.set(forgetful, storedIn.get(saver) ?? saver);
  return { saver: forgetful, loaded };
}

/** The saver in which each forgetful one stores. */
export const storedIn = new WeakMap<BaseCheckpointSaver, BaseCheckpointSaver>();

/** Replaces each run of recalled messages by one placeholder, at any depth. */
export function withPlaceholders<Value>(
  value: Value,
  shown: ShownView,
  earlier?: ReadonlySet<BaseMessage>,
): Value {
  return withReplacements(value, (list) => placeholdersIn(list, shown, earlier));
}

function placeholdersIn(
  list: readonly AnyMessage[],
  { own, places, recalled }: ShownView,
  earlier: ReadonlySet<BaseMessage> = new Set(),
): Replacements {
  const inPlaceOf = ({ id, content, message }: AnyMessage) => {
    if (message && earlier.has(message)) return "placeholder";
    const isMarked = message ? isRecalled(message) : isBlockText(content);
    return isMarked || recalled.has(id) ? (own.get(id) ?? "placeholder") : null;
  };
  const changes: Replacements = new Map();
  let first: string | undefined;
  let placeholder: BaseMessage[] = [];
  let lastPlace = Number.NaN;
  for (const each of list) {
    const other = inPlaceOf(each);
    const place = other === "placeholder" ? places.get(each.id) : undefined;
    if (place !== undefined && place === lastPlace + 1) {
      changes.set(each, []);
      // Memory may be forgotten before the placeholder is read.
      if (!isMemoryMessage(each.message)) placeholder[0] = placeholderMessage(first, each.id);
    } else if (other === "placeholder") {
      first = each.id;
      placeholder = [placeholderMessage(first)];
      changes.set(each, placeholder);
    } else if (other) changes.set(each, [other]);
    lastPlace = place ?? Number.NaN;
  }
  return changes;
}

export function withoutRecalled<Value>(value: Value, shown: ShownView): Value {
  return withReplacements(withPlaceholders(value, shown), (list) => {
    const placeholders = list.filter(({ message }) => message && isPlaceholder(message));
    return new Map(placeholders.map((placeholder) => [placeholder, []]));
  });
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
  return withReplacements(value, (list) => messagesIn(list, shown, loaded));
}

function messagesIn(
  list: readonly AnyMessage[],
  shown: ShownView,
  loaded: Set<string>,
): Replacements {
  const changes: Replacements = new Map();
  const others = new Set(list.map(({ id }) => id));
  for (const id of others) if (id !== undefined) loaded.add(id);
  // Instructions, and the block among them.
  let block = shown.view.find((message) => message.getType() === "system");
  if (others.has(block?.id)) block = undefined;
  for (const each of list) {
    const anew = messagesBehind(each, shown)?.filter(({ id }) => id === each.id || !others.has(id));
    if (!anew) continue;
    const [first] = anew;
    if (block && first !== block && first?.id !== each.id) anew.unshift(block);
    if (anew[0] === block) block = undefined;
    for (const { id } of anew) loaded.add(id ?? "");
    changes.set(each, anew);
  }
  return changes;
}

/** Undefined unless it is a placeholder; a summary may cover some of its messages by now. */
function messagesBehind({ id, message }: AnyMessage, { view, places }: ShownView) {
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

/** What replaces a message; others stay. */
type Replacements = Map<AnyMessage, readonly BaseMessage[]>;
type FindReplacements = (list: readonly AnyMessage[]) => Replacements;

/** Graphs hold nothing deeper. */
const maxDepth = 100;

function withReplacements<Value>(
  value: Value,
  rewrite: FindReplacements,
  around = new Set<unknown>(),
): Value {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  if (around.has(value) || around.size > maxDepth) return value;
  around.add(value);
  const next = rewriteParts(value, rewrite, (part) => withReplacements(part, rewrite, around));
  around.delete(value);
  return next as Value;
}

function rewriteParts(
  value: object,
  rewrite: FindReplacements,
  within: <Part>(part: Part) => Part,
) {
  if (Array.isArray(value)) {
    const messages = value.map(messageIn);
    const changes = rewrite(messages.filter((message) => message !== undefined));
    const next = value.flatMap((item, index): readonly unknown[] => {
      const message = messages[index];
      return message ? (changes.get(message) ?? [item]) : [within(item)];
    });
    const isSame = next.length === value.length && next.every((item, at) => item === value[at]);
    return isSame ? value : next;
  }
  const message = messageIn(value);
  // A message outside a list cannot be removed.
  if (message) return rewrite([message]).get(message)?.[0] ?? value;
  if (value instanceof Map || value instanceof Set) {
    const items: unknown[] = [...value];
    const next = within(items) as never[];
    if (next === items) return value;
    return value instanceof Map ? new Map(next) : new Set(next);
  }
  const fields = Object.entries(value);
  const next = fields.map(([key, inner]) => [key, within(inner)] as const);
  if (next.every(([, inner], at) => inner === fields[at]?.[1])) return value;
  return withFields(value, Object.fromEntries(next));
}

function messageIn(value: unknown): AnyMessage | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (isBaseMessage(value)) return { id: value.id, content: value.content, message: value };
  const { kwargs, data } = value as { kwargs?: unknown; data?: unknown };
  const holder = [value, kwargs, data].find(
    (each) => typeof each === "object" && each !== null && "content" in each,
  );
  if (!holder) return undefined;
  const { id, content } = holder as { id?: unknown; content: unknown };
  return { id: typeof id === "string" ? id : undefined, content, message: null };
}
