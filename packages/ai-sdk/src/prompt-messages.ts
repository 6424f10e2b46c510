import { createHash } from "node:crypto";
import {
  AIMessage,
  type BaseMessage,
  type ContentBlock,
  HumanMessage,
  ToolMessage,
  type UsageMetadata,
} from "@langchain/core/messages";
import type { LanguageModelMiddleware } from "ai";
import type { Recalled } from "mnemograph";
import {
  attachmentOf,
  type InjectAs,
  plainMessages,
  spokenText,
  turnMessages,
  withMessages,
  withReferences,
} from "mnemograph/contract";
import { z } from "zod";

type Middleware = Required<LanguageModelMiddleware>;

/** The messages that a model of the AI SDK is given. */
export type Prompt = Awaited<ReturnType<Middleware["transformParams"]>>["prompt"];
type ModelMessage = Prompt[number];
type AssistantContent = Extract<ModelMessage, { role: "assistant" }>["content"];

type Generated = Awaited<ReturnType<Middleware["wrapGenerate"]>>;

/** What it answers in one step. */
export type GeneratedStep = Generated["content"];
export type GeneratedUsage = Generated["usage"];

/** A message and its place in the prompt. */
export interface Placed {
  readonly message: BaseMessage;
  readonly place: number;
}

export const sendsSchema = z.enum(["all", "last"]);

/** "all": each prompt is the whole conversation. "last": its end, at least the last message. */
export type Sends = z.output<typeof sendsSchema>;

/**
 * `recalled` for whole conversations, `placed`: without messages that they lack, since an earlier
 * one was edited, and without the summary of such messages.
 */
export function ofWholePrompt(recalled: Recalled, placed: readonly Placed[]): Recalled {
  const sent = new Set(placed.map(({ message }) => message.id));
  const known = withMessages(recalled, ({ id }) => sent.has(id));
  const knownIds = new Set([...known.recent, ...known.lastTurn, ...known.gap].map(({ id }) => id));
  // Summarised messages come before those that are known.
  const isSummarised = placed.findIndex(({ message }) => knownIds.has(message.id)) > 0;
  return isSummarised ? known : { ...known, summary: null, omitted: null };
}

/**
 * `prompt` without instructions, under the ids that memory has; the same question in the same place
 * has the same id.
 */
export function placedMessages(prompt: Prompt, recalled: Recalled | null, sends: Sends): Placed[] {
  const placed = prompt.flatMap((each, place) =>
    recordedMessages(each).map((message) => ({ message, place })),
  );
  const { gap = [], recent = [], lastTurn = [], lastMessageId = null } = recalled ?? {};
  const known = [...(recent.length > 0 ? recent : lastTurn), ...gap];
  const messages = placed.map(({ message }) => message);
  const asked = messages.findLastIndex(isUsers);
  const question = messages[asked];
  takeIds(messages, Math.max(asked, 0), known);
  // Alone, it is asked again, or comes after all that is recorded.
  const isAlone = asked === 0 && sends === "last";
  const last = isAlone ? known.findLast(isUsers) : undefined;
  if (question && last?.id && messageKey(last) === messageKey(question)) question.id = last.id;
  let before = (isAlone && lastMessageId) || "";
  for (const message of messages) {
    message.id ??= idAfter(before, message);
    before = message.id;
  }
  return placed;
}

/**
 * From `end` back: those of the same words, else of what stood in the place before the caller
 * changed it.
 */
function takeIds(
  messages: readonly BaseMessage[],
  end: number,
  known: readonly BaseMessage[],
): void {
  const keys = messages.map(messageKey);
  const knownKeys = known.map(messageKey);
  let place = known.length;
  for (const [index, message] of [...messages.slice(0, end).entries()].reverse()) {
    const same = knownKeys.slice(0, place).lastIndexOf(keys[index] as string);
    const isChanged = () =>
      known[place - 1]?.getType() === message.getType() &&
      !keys.toSpliced(index, end - index).includes(knownKeys[place - 1] ?? "");
    if (same < 0 && !isChanged()) continue;
    place = same < 0 ? place - 1 : same;
    message.id = known[place]?.id as string;
  }
}

const isUsers = (message: BaseMessage): boolean => message.getType() === "human";

const messageKey = (message: BaseMessage): string =>
  `${message.getType()}: ${spokenText(withReferences(message))}`;

/** The turn of `placed` with what the model answered. */
export function turnOf(
  placed: readonly Placed[],
  step: GeneratedStep,
  usage: GeneratedUsage | undefined,
): BaseMessage[] {
  const messages = placed.map(({ message }) => message);
  const answer = assistantMessage(step);
  if (usage) Object.assign(answer, { usage_metadata: usageMetadata(usage) });
  answer.id = idAfter(messages.at(-1)?.id ?? "", answer);
  return [...messages.slice(messages.findLastIndex(isUsers)), answer];
}

/** As LangChain's models report it; zero is unknown. */
function usageMetadata({ inputTokens, outputTokens }: GeneratedUsage): UsageMetadata {
  const { total: input = 0, cacheRead: cache_read } = inputTokens;
  const { total: output = 0 } = outputTokens;
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    ...(cache_read !== undefined && { input_token_details: { cache_read } }),
  };
}

/** A step's answer comes back in the prompt of the next one, in another form. */
function idAfter(before: string, message: BaseMessage): string {
  const said = JSON.stringify([
    message.getType(),
    message.content,
    (message as AIMessage).tool_calls,
  ]);
  return createHash("sha256").update(`${before}${said}`).digest("hex").slice(0, 32);
}

/**
 * `prompt` as memory has it: a summary for its oldest messages, earlier ones that it lacks, and
 * what each turn added.
 */
export function promptWithMemory(
  prompt: Prompt,
  placed: readonly Placed[],
  recalled: Recalled,
  injectAs?: InjectAs,
): Prompt {
  const own = new Map(placed.map((each) => [each.message.id, each]));
  const view = turnMessages(
    placed.map(({ message }) => message),
    recalled,
    injectAs,
  );
  const shownIds = new Set(view.map(({ id }) => id));
  let isCalled = false;
  const shown = view.flatMap((message, index) => {
    const found = own.get(message.id);
    const given = found && prompt[found.place];
    if (!ToolMessage.isInstance(message)) isCalled = given !== undefined;
    else if (!isCalled) return [];
    if (!given) return modelMessages(message);
    // Results of several calls are one message.
    if (own.get(view[index - 1]?.id)?.place === found.place) return [];
    if (given.role !== "tool") return withShownPrefix(given, message.text, found.message.text);
    const results = placed.filter(({ place }) => place === found.place).values();
    const isShown = () => shownIds.has(results.next().value?.message.id);
    return {
      ...given,
      content: given.content.filter(({ type }) => type !== "tool-result" || isShown()),
    };
  });
  const instructions = prompt.filter((message) => message.role === "system");
  const last = instructions.at(-1);
  const [block, ...rest] = shown;
  if (block?.role !== "system" || !last) return [...instructions, ...shown];
  const content = `${last.content}\n\n${block.content}`;
  return [...instructions.slice(0, -1), { ...last, content }, ...rest];
}

function withShownPrefix(message: ModelMessage, shown: string, said: string): ModelMessage[] {
  if (message.role !== "user" || shown === said || !shown.endsWith(said)) return [message];
  const prefix = shown.slice(0, shown.length - said.length);
  const [first, ...rest] = message.content;
  // One part, as the transcript gives it back.
  if (first?.type === "text")
    return [{ ...message, content: [{ ...first, text: prefix + first.text }, ...rest] }];
  return [{ ...message, content: [{ type: "text", text: prefix }, ...message.content] }];
}

export function userText(message: ModelMessage | undefined): string {
  return message?.role === "user" ? sdkText(message.content) : "";
}

/** A message of the transcript; calls of tools and their results are left to the summary. */
function modelMessages(message: BaseMessage): ModelMessage[] {
  return plainMessages([message]).map(({ role, content }): ModelMessage => {
    if (role === "system") return { role, content };
    return { role, content: [{ type: "text", text: content }] };
  });
}

function recordedMessages(message: ModelMessage): BaseMessage[] {
  if (message.role === "user")
    return [new HumanMessage({ content: modelContent(message.content) })];
  if (message.role === "assistant") return [assistantMessage(message.content)];
  if (message.role !== "tool") return [];
  return message.content.flatMap((part) =>
    part.type === "tool-result"
      ? new ToolMessage({
          tool_call_id: part.toolCallId,
          name: part.toolName,
          content:
            part.output.type === "content"
              ? modelContent(part.output.value)
              : asText("value" in part.output ? part.output.value : ""),
        })
      : [],
  );
}

/** Of a prompt, or of what a model answers. */
function assistantMessage(parts: readonly (GeneratedStep | AssistantContent)[number][]): AIMessage {
  const calls = parts.flatMap((part) => {
    if (part.type !== "tool-call") return [];
    return {
      id: part.toolCallId,
      name: part.toolName,
      args: argumentsOf(part.input),
      type: "tool_call" as const,
    };
  });
  return new AIMessage({ content: modelContent(parts), tool_calls: calls });
}

/** Providers give text, and models sometimes no JSON. */
function argumentsOf(input: unknown): Record<string, unknown> {
  try {
    const value: unknown = typeof input === "string" ? JSON.parse(input) : input;
    return typeof value === "object" && value !== null
      ? (value as Record<string, unknown>)
      : { input: value };
  } catch {
    return { input };
  }
}

function sdkText(parts: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return parts
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? text : []))
    .join("\n");
}

/** Text where there are no files: the ids of recorded messages depend on it. */
function modelContent(parts: Parameters<typeof sdkText>[0]): string | ContentBlock[] {
  const kept = parts.flatMap(({ ...part }): ContentBlock | ContentBlock[] => {
    // A thought, like the text of "reasoning".
    if (part.type === "reasoning-file") return [];
    if (part.type !== "text") return attachmentOf(part) ?? [];
    return typeof part.text !== "string" || part.text === ""
      ? []
      : { type: "text", text: part.text };
  });
  return kept.some(({ type }) => type !== "text") ? kept : sdkText(kept);
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
