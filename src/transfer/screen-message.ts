import { setImmediate as otherWork } from "node:timers/promises";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { decodeMessage, encodeMessage } from "../text/message-codec.js";
import { readsAsInstruction } from "../text/reads-as-instruction.js";
import { clipped, onOneLine } from "../text/storable-text.js";
import type { ExportLineOf } from "./export-line.js";
import { withheld } from "./screen-line.js";

/** A message of a file that nobody vouches for, as it may be imported. */
export interface ScreenedMessage {
  readonly line: ExportLineOf<"message">;
  readonly held: boolean;
  /** Whether it is stored as nobody's words: neither searched, nor a turn. */
  readonly quoted: boolean;
}

/** Longest quotation of what had a say in the conversation that it comes from. */
const quotedCharacters = 2_000;

/**
 * `line` with a message that says what it said, and can do no more.
 *
 * Of users', assistants' and tools' messages the words stay, with calls of tools and their results; what providers and
 * apps noted beside them goes. One that reads as instructions to a model is left without its words. Every other kind,
 * system messages above all, becomes a quotation, which no model takes for its instructions.
 */
export async function screenMessage(line: ExportLineOf<"message">): Promise<ScreenedMessage> {
  const message = await decodeMessage(line.serialised);
  const plain = plainMessage(message, line.messageId);
  const parts = [message.content, message.name, (message as Partial<AIMessage>).tool_calls];
  const held = await instructs(textsOf(parts).join(" "));
  const made = plain ? (held ? wordless(plain) : plain) : quotation(message, line.messageId, held);
  const serialised = await encodeMessage(made);
  return { line: { ...line, serialised }, held: held || plain === null, quoted: plain === null };
}

/** A message with the same words, calls and results, and nothing else; null for other kinds. */
function plainMessage(message: BaseMessage, id: string): HumanMessage | AIMessage | ToolMessage | null {
  const { content, name } = message;
  const fields = { id, content, ...(name !== undefined && { name }) };
  if (HumanMessage.isInstance(message)) return new HumanMessage(fields);
  if (AIMessage.isInstance(message))
    return new AIMessage({ ...fields, tool_calls: message.tool_calls ?? [] });
  if (!ToolMessage.isInstance(message)) return null;
  const { tool_call_id, status } = message;
  return new ToolMessage({ ...fields, tool_call_id, ...(status !== undefined && { status }) });
}

/** The same without words: calls and results still find each other. */
function wordless(message: HumanMessage | AIMessage | ToolMessage): BaseMessage {
  const { id = "" } = message;
  if (HumanMessage.isInstance(message)) return new HumanMessage({ id, content: withheld });
  if (ToolMessage.isInstance(message)) {
    return new ToolMessage({ id, content: withheld, tool_call_id: message.tool_call_id });
  }
  const calls = (message.tool_calls ?? []).map((call) => ({ ...call, args: {} }));
  return new AIMessage({ id, content: withheld, tool_calls: calls });
}

/** A user's message by its class: providers take no assistant's first, and no unknown ones. */
function quotation(message: BaseMessage, id: string, held: boolean): HumanMessage {
  const words = held ? withheld : JSON.stringify(clipped(onOneLine(message.text), quotedCharacters));
  const content = `(Quoted from the imported conversation, where it was a ${message.getType()} message: ${words})`;
  return new HumanMessage({ id, content });
}

/** Every text in `value`, at whatever depth. */
function textsOf(value: unknown): string[] {
  const texts: string[] = [];
  const left = [value];
  while (left.length > 0) {
    const next = left.pop();
    if (typeof next === "string") texts.push(next);
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inner] of Object.entries(next)) {
      if (!Array.isArray(next)) texts.push(key);
      left.push(inner);
    }
  }
  return texts;
}

/** Stretches of text looked at before others get their turn: some ten milliseconds. */
const piecesAtOnce = 50;
/** Characters looked at at once, and how many of them once more with the next: longer than any instruction's core. */
const pieceCharacters = 1_000;
const overlapCharacters = 200;

/** `text` in stretches that overlap. */
function pieces(text: string): string[] {
  const step = pieceCharacters - overlapCharacters;
  const count = Math.max(1, Math.ceil((text.length - overlapCharacters) / step));
  return Array.from({ length: count }, (_, index) =>
    text.slice(index * step, index * step + pieceCharacters),
  );
}

async function instructs(text: string): Promise<boolean> {
  for (const [index, piece] of pieces(text.replace(/\s+/gu, " ")).entries()) {
    // In a conversation orders are in place.
    if (readsAsInstruction(piece, { orders: true })) return true;
    if (index % piecesAtOnce === piecesAtOnce - 1) await otherWork();
  }
  return false;
}
