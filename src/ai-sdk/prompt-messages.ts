import { createHash } from "node:crypto";
import { AIMessage, type BaseMessage, type ContentBlock, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { LanguageModelMiddleware } from "ai";
import { attachmentOf } from "../text/attachments.js";

type Middleware = Required<LanguageModelMiddleware>;

/** The messages that a model of the AI SDK is given. */
export type Prompt = Awaited<ReturnType<Middleware["transformParams"]>>["prompt"];
type PromptMessage = Prompt[number];
type AssistantContent = Extract<PromptMessage, { role: "assistant" }>["content"];

/** What it answers in one step. */
export type Step = Awaited<ReturnType<Middleware["wrapGenerate"]>>["content"];

/** The turn of `prompt` with what the model answered. The same prompt has the same ids, so that it is recorded once. */
export function messagesOf(prompt: Prompt, step: Step): BaseMessage[] {
  const from = prompt.findLastIndex(({ role }) => role === "user");
  let id = digestOf("", prompt.slice(0, from));
  const messages = [...prompt.slice(from).flatMap(recorded), assistantMessage(step)];
  for (const message of messages) {
    // A step's answer comes back in the prompt of the next one, in another form.
    id = digestOf(id, [message.getType(), message.content, (message as AIMessage).tool_calls]);
    message.id = id;
  }
  return messages;
}

export function userText(message: PromptMessage | undefined): string {
  return message?.role === "user" ? textOf(message.content) : "";
}

/** Messages of the transcript; calls of tools and their results are left to the summary. */
export function promptOf(messages: readonly BaseMessage[]): Prompt {
  return messages.flatMap((message): PromptMessage[] => {
    const content = [{ type: "text" as const, text: message.text }];
    if (message.text === "") return [];
    if (message.getType() === "human") return [{ role: "user", content }];
    return message.getType() === "ai" ? [{ role: "assistant", content }] : [];
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
