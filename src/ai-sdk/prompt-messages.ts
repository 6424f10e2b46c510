import { createHash } from "node:crypto";
import { AIMessage, type BaseMessage, type ContentBlock, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { LanguageModelMiddleware } from "ai";
import { attachmentOf } from "../text/attachments.js";
import { plainMessages } from "../turns/prompt-for.js";
import type { Recalled } from "../turns/recalled.js";
import { turnMessages } from "../turns/turn-messages.js";

type Middleware = Required<LanguageModelMiddleware>;

/** The messages that a model of the AI SDK is given. */
export type Prompt = Awaited<ReturnType<Middleware["transformParams"]>>["prompt"];
type PromptMessage = Prompt[number];
type AssistantContent = Extract<PromptMessage, { role: "assistant" }>["content"];

/** What it answers in one step. */
export type Step = Awaited<ReturnType<Middleware["wrapGenerate"]>>["content"];

/** The messages of `prompt` without instructions, each with its place there. The same conversation has the same ids. */
export function placedMessages(prompt: Prompt): { readonly message: BaseMessage; readonly place: number }[] {
  let [before, id] = ["", ""];
  return prompt.flatMap((each, place) => {
    if (each.role === "user") id = before;
    before = digestOf(before, each);
    return recorded(each).map((message) => {
      id = withId(message, id);
      return { message, place };
    });
  });
}

/** The turn of `prompt` with what the model answered. The same prompt has the same ids, so that it is recorded once. */
export function messagesOf(prompt: Prompt, step: Step): BaseMessage[] {
  const from = prompt.findLastIndex(({ role }) => role === "user");
  const said = placedMessages(prompt).flatMap(({ message, place }) => (place >= from ? message : []));
  const answer = assistantMessage(step);
  withId(answer, said.at(-1)?.id ?? "");
  return [...said, answer];
}

/** A step's answer comes back in the prompt of the next one, in another form. */
function withId(message: BaseMessage, before: string): string {
  message.id = digestOf(before, [message.getType(), message.content, (message as AIMessage).tool_calls]);
  return message.id;
}

/** `prompt` as memory has it: a summary for its oldest messages, earlier ones that it lacks, and what each turn added. */
export function promptWithMemory(prompt: Prompt, recalled: Recalled): Prompt {
  const placed = placedMessages(prompt);
  const own = new Map(placed.map((each) => [each.message.id, each]));
  const view = turnMessages(
    placed.map(({ message }) => message),
    recalled,
    "user",
  );
  const shown = view.flatMap((message, index) => {
    const found = own.get(message.id);
    if (!found) return promptOf(message);
    // Results of several calls are one message.
    if (own.get(view[index - 1]?.id)?.place === found.place) return [];
    return withPrefix(prompt[found.place] as PromptMessage, message.text, found.message.text);
  });
  return [...prompt.filter(({ role }) => role === "system"), ...shown];
}

function withPrefix(message: PromptMessage, shown: string, said: string): PromptMessage[] {
  if (message.role !== "user" || shown === said || !shown.endsWith(said)) return [message];
  const prefix = shown.slice(0, shown.length - said.length);
  const [first, ...rest] = message.content;
  // One part, as the transcript gives it back.
  if (first?.type === "text") return [{ ...message, content: [{ ...first, text: prefix + first.text }, ...rest] }];
  return [{ ...message, content: [{ type: "text", text: prefix }, ...message.content] }];
}

export function userText(message: PromptMessage | undefined): string {
  return message?.role === "user" ? textOf(message.content) : "";
}

/** A message of the transcript; calls of tools and their results are left to the summary. */
function promptOf(message: BaseMessage): PromptMessage[] {
  return plainMessages([message]).map(({ role, content }): PromptMessage => {
    if (role === "system") return { role, content };
    return { role, content: [{ type: "text", text: content }] };
  });
}

function recorded(message: PromptMessage): BaseMessage[] {
  if (message.role === "user") return [new HumanMessage({ content: contentOf(message.content) })];
  if (message.role === "assistant") return [assistantMessage(message.content)];
  if (message.role !== "tool") return [];
  return message.content.flatMap((part) =>
    part.type === "tool-result"
      ? new ToolMessage({
          tool_call_id: part.toolCallId,
          name: part.toolName,
          content:
            part.output.type === "content"
              ? contentOf(part.output.value)
              : asText("value" in part.output ? part.output.value : ""),
        })
      : [],
  );
}

/** Of a prompt, or of what a model answers. */
function assistantMessage(parts: readonly (Step | AssistantContent)[number][]): AIMessage {
  const calls = parts.flatMap((part) => {
    if (part.type !== "tool-call") return [];
    return { id: part.toolCallId, name: part.toolName, args: argumentsOf(part.input), type: "tool_call" as const };
  });
  return new AIMessage({ content: contentOf(parts), tool_calls: calls });
}

/** Providers give text, and models sometimes no JSON. */
function argumentsOf(input: unknown): Record<string, unknown> {
  try {
    const value: unknown = typeof input === "string" ? JSON.parse(input) : input;
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : { input: value };
  } catch {
    return { input };
  }
}

function textOf(parts: readonly { readonly type: string; readonly text?: unknown }[]): string {
  return parts.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? text : [])).join("\n");
}

/** Text where there are no files: the ids of recorded messages depend on it. */
function contentOf(parts: Parameters<typeof textOf>[0]): string | ContentBlock[] {
  const kept = parts.flatMap((part): ContentBlock | ContentBlock[] => {
    if (part.type === "text") return part.text === "" ? [] : (part as ContentBlock);
    return attachmentOf(part) ?? [];
  });
  return kept.some(({ type }) => type !== "text") ? kept : textOf(parts);
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function digestOf(before: string, value: unknown): string {
  return createHash("sha256")
    .update(`${before}${JSON.stringify(value)}`)
    .digest("hex")
    .slice(0, 32);
}
