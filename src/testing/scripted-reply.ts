import { randomUUID } from "node:crypto";
import type { BindToolsInput } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { defined } from "../input/plain-json.js";

export interface ScriptedToolCall {
  readonly name: string;
  readonly args: Record<string, unknown>;
  /**
   * @default a new unique id: LangGraph skips a call whose id was answered earlier in the thread
   */
  readonly id?: string;
}

/**
 * One answer in a script.
 *
 * - a string: that text; malformed if the call demands a structured output.
 * - `"hang"`: no answer until the call's signal aborts. (For the text itself: `new
 *   AIMessage("hang")`.)
 * - a message: a copy of it.
 * - an error: thrown.
 * - `{ toolCalls, text? }`: calls of bound tools.
 * - `{ structured, tool? }`: the call that `withStructuredOutput` expects, with `structured` as its
 *   arguments, unchecked. `tool` chooses among several bound tools.
 */
export type ScriptedReply =
  | string
  | "hang"
  | BaseMessage
  | Error
  | { readonly toolCalls: readonly ScriptedToolCall[]; readonly text?: string }
  | { readonly structured: Record<string, unknown>; readonly tool?: string };

type ReplyContext = { readonly toolNames: readonly string[]; readonly toolChoice: unknown };

/**
 * A new message.
 * @throws the reply, if it is an error; Error, if a structured reply has no tool.
 */
export function toAnswer(reply: Exclude<ScriptedReply, "hang">, context: ReplyContext): AIMessage {
  if (reply instanceof Error) throw reply;
  if (typeof reply === "string") return new AIMessage(reply);
  if ("toolCalls" in reply) return callingTools(reply.toolCalls, reply.text ?? "");
  if (!("structured" in reply)) return copyOf(reply);
  const call = { name: structuredTool(reply.tool, context), args: reply.structured };
  return callingTools([call], "");
}

export function callingTools(calls: readonly ScriptedToolCall[], text: string): AIMessage {
  return new AIMessage({
    content: text,
    tool_calls: calls.map(({ name, args, id = `call_${randomUUID()}` }) => ({
      type: "tool_call",
      name,
      args,
      id,
    })),
  });
}

function structuredTool(
  wanted: string | undefined,
  { toolNames, toolChoice }: ReplyContext,
): string {
  const only = toolNames.length === 1 ? toolNames[0] : undefined;
  const name = wanted ?? demandedTool(toolChoice) ?? only;
  if (name !== undefined && toolNames.includes(name)) return name;
  const bound =
    toolNames.length === 0 ? "no tool is bound" : `the bound tools are ${toolNames.join(", ")}`;
  const problem = name === undefined ? bound : `there is no tool ${name}: ${bound}`;
  throw new Error(
    `A structured reply cannot be given: ${problem}. Call the model through withStructuredOutput, or pass { structured, tool }.`,
  );
}

function copyOf(message: BaseMessage): AIMessage {
  // Other messages have none of an answer's own fields.
  const { content, additional_kwargs, response_metadata, id, name } = message;
  const { tool_calls, invalid_tool_calls, usage_metadata } = message as AIMessage;
  const fields = { content, additional_kwargs, response_metadata, id, name };
  const calls = { tool_calls, invalid_tool_calls, usage_metadata };
  return new AIMessage(structuredClone(defined({ ...fields, ...calls })));
}

export function toolName(tool: BindToolsInput): string {
  const name = nameIn(tool);
  if (name !== undefined) return name;
  throw new TypeError(
    'A bound tool has no name: expected { name } or { type: "function", function: { name } }.',
  );
}

/** Of a tool, or of a choice of one, in each of the forms. */
function nameIn(value: unknown): string | undefined {
  type Named = { readonly name?: unknown } | undefined;
  const { function: inner, name } = Object(value) as Named & { readonly function?: Named };
  const found = inner?.name ?? name;
  return typeof found === "string" ? found : undefined;
}

function demandedTool(toolChoice: unknown): string | undefined {
  if (typeof toolChoice === "string")
    return ["auto", "any", "none", "required"].includes(toolChoice) ? undefined : toolChoice;
  return nameIn(toolChoice);
}
