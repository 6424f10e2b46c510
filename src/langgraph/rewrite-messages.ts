import { type BaseMessage, isBaseMessage } from "@langchain/core/messages";

/** A message in whatever form nodes write it: LangChain's own, as a plain object, or as it is serialised. */
export interface AnyMessage {
  readonly id: string | undefined;
  readonly content: unknown;
  /** Null where it is a plain object. */
  readonly message: BaseMessage | null;
}

/** What takes the place of each of the messages that stand in one list; undefined for the message itself. */
export type RewriteList = (
  list: readonly AnyMessage[],
) => (message: AnyMessage) => readonly BaseMessage[] | undefined;

/** Deepest nesting looked into: nothing that a graph holds is nested deeper. */
const mostDepth = 100;

/** `value` with every message rewritten that is in it, at any depth. Copied only as far as something changes. */
export function rewriteMessages<Value>(value: Value, rewrite: RewriteList): Value {
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
    // What stands alone cannot be left out.
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

/** Undefined for what is no message. */
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
