import { type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { isJsonObject } from "../../input/plain-json.js";
import { withFields } from "../../messages/message-text.js";
import { memoryEnd } from "../../messages/recalled-mark.js";

/** All calls of chat models go through these; older versions lack the last. */
const calls = ["_generate", "_streamResponseChunks", "_streamChatModelEvents"];

/** Anthropic's limit. */
const maxBreakpoints = 4;

type Control = { readonly type: string; readonly ttl?: string };
type Part = Readonly<Record<string, unknown>>;
type CallOptions = { readonly cache_control?: Control; readonly tools?: readonly unknown[] };
type AnyMethod = (...args: unknown[]) => unknown;

/**
 * Makes Anthropic's models send `cache_control`. Wraps the model, since later middleware may change
 * the request.
 */
export function withCacheBreakpoints<Model>(model: Model): Model {
  if (typeof model !== "object" || model === null) return model;
  const methods = model as Record<string, AnyMethod>;
  if ("bound" in model) {
    const bound = withCacheBreakpoints(model.bound);
    return bound === model.bound ? model : derivedModel(model, { bound });
  }
  // `initChatModel`: the run's configuration may choose the model.
  if ("_getModelInstance" in model)
    return derivedModel(model, {
      bindTools: (...args: unknown[]) => withCacheBreakpoints(methods.bindTools?.(...args)),
      _getModelInstance: async (...args: unknown[]) =>
        withCacheBreakpoints(await methods._getModelInstance?.(...args)),
    });
  if (methods._llmType?.() !== "anthropic") return model;
  const overridden = calls.filter((name) => name in model);
  const marking =
    (name: string) => (messages: BaseMessage[], options: CallOptions, manager: unknown) =>
      methods[name]?.(...marked(messages, options), manager);
  return derivedModel(model, Object.fromEntries(overridden.map((name) => [name, marking(name)])));
}

/** Shares everything that it does not override with `model`, including private state. */
function derivedModel<Model extends object>(model: Model, overrides: object): Model {
  return Object.assign(Object.create(model), overrides);
}

function marked(messages: BaseMessage[], options: CallOptions): [BaseMessage[], CallOptions] {
  const all = [...messages.flatMap(blocksOfContent), ...(options.tools ?? []), options];
  const present = all.map(controlOf).filter((control) => control !== null);
  // Anthropic refuses a longer lifetime after a shorter one.
  const ttl = present.find((control) => control.ttl === "1h")?.ttl;
  const control = options.cache_control ?? { type: "ephemeral", ...(ttl !== undefined && { ttl }) };
  let free = maxBreakpoints - present.length;
  let sentOptions = options;
  const sent = [...messages];
  const last = messages.at(-1);
  const lastPart = last && blocksOfContent(last).at(-1);
  const isEndMarked = [options, lastPart].some(controlOf);
  if (!isEndMarked && free-- > 0) {
    const end = last && withMarkedEnd(last, control);
    if (end) sent.splice(-1, 1, end);
    // Anthropic then marks the last possible part.
    else sentOptions = { ...options, cache_control: control };
  }
  // The longest memory is the block; the days of earlier messages may be before it.
  const lengths = sent.map(memoryLength);
  const place = lengths.indexOf(Math.max(...lengths));
  const block = sent[place] && withMarkedBlock(sent[place], control);
  if (block && free > 0) sent[place] = block;
  return [sent, sentOptions];
}

/** Null if no part can have `cache_control`, or its client would lose it. */
function withMarkedEnd(message: BaseMessage, control: Control): BaseMessage | null {
  const { content } = message;
  if (message.getType() === "tool" && typeof content === "string") {
    const { tool_call_id } = message as BaseMessage & { tool_call_id: string };
    const result = {
      type: "tool_result",
      tool_use_id: tool_call_id,
      content,
      cache_control: control,
    };
    return new HumanMessage({ content: [result] });
  }
  const parts = blocksOfContent(message);
  const end = parts.at(-1);
  if (message.getType() !== "human" || typeof end?.text !== "string" || end.text.trim() === "")
    return null;
  return withFields(message, { content: parts.with(-1, { ...end, cache_control: control }) });
}

const endOfMemory = (message: BaseMessage, { text }: Part): number =>
  typeof text === "string" ? memoryEnd(message.getType(), text) : 0;

const memoryLength = (message: BaseMessage): number =>
  Math.max(0, ...blocksOfContent(message).map((part) => endOfMemory(message, part)));

/** Splits the part where its memory block ends; null without a block. */
function withMarkedBlock(message: BaseMessage, control: Control): BaseMessage | null {
  const parts = blocksOfContent(message);
  const place = parts.findIndex((part) => endOfMemory(message, part) > 0);
  const part = parts[place];
  if (!part) return null;
  const text = String(part.text);
  const end = endOfMemory(message, part);
  const split: Part[] = [{ cache_control: control, ...part, text: text.slice(0, end) }];
  if (text.slice(end).trim() !== "") split.push({ ...part, text: text.slice(end) });
  return withFields(message, { content: parts.toSpliced(place, 1, ...split) });
}

function blocksOfContent({ content }: BaseMessage): Part[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content)
    ? content.map((part) => (isJsonObject(part) ? part : { text: part }))
    : [];
}

function controlOf(part: unknown): Control | null {
  return isJsonObject(part) && part.cache_control
    ? (part.cache_control as unknown as Control)
    : null;
}
