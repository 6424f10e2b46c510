import { setImmediate as otherWork } from "node:timers/promises";
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemoryError } from "../errors.js";
import { isApproved } from "../memories/item/memory.js";
import { memoryInstructs } from "../memories/write/writing-constraints.rule.js";
import { decodeMessage, encodeMessage } from "../text/message-codec.js";
import { readsAsInstruction } from "../text/reads-as-instruction.js";
import type { Redactor } from "../text/redactor.js";
import { clipped, onOneLine } from "../text/storable-text.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";
import { type NumberedLine, noMessage } from "./read-export.js";

/** Fields of a line that hold what was said or remembered, by its type; the others are ids, times and numbers. */
const spoken: Readonly<Partial<Record<ExportLine["type"], readonly string[]>>> = {
  summary: ["text", "error"],
  memory: ["key", "value", "text", "tags", "metadata", "actorId", "evidence"],
  history: ["old", "new"],
  change: ["line"],
  item: ["value"],
  consent: ["key", "slot", "normalValue", "draft", "signals", "evidence"],
};

/**
 * A line, with what it holds of people's words redacted.
 *
 * @throws MemoryError `REDACTION_FAILED`, `INVALID_INPUT` that names the line of a message that is none.
 */
export async function redactLine(redactor: Redactor, { number, line }: NumberedLine): Promise<ExportLine> {
  if (line.type === "message") {
    try {
      return { ...line, serialised: await redactor.serialised(line.serialised) };
    } catch (cause) {
      throw MemoryError.is(cause, "REDACTION_FAILED") ? cause : noMessage(number, cause);
    }
  }
  const fields = spoken[line.type] ?? [];
  const values: Readonly<Record<string, unknown>> = { ...line };
  const redacted = await Promise.all(
    fields.map(async (field) => [field, await redactor.json(values[field])] as const),
  );
  return { ...line, ...Object.fromEntries(redacted) } as ExportLine;
}

/** What stands for words that would carry instructions into a prompt. */
export const withheld = "(withheld: it reads as instructions)";

/** A line as it may be imported, and whether something of it was held back. */
export interface Screened<Line extends ExportLine = ExportLine> {
  readonly line: Line;
  readonly held: boolean;
}

/** Longest news: those written here have 160 characters of the memory, and the name of its category. */
const newsCharacters = 300;

/**
 * `line` as it may be imported: what reads as instructions to a model, and no operator vouched for, reaches no prompt.
 *
 * A memory of that kind that is active, or can be restored, waits in quarantine, news of it are told without its words, and a request for consent
 * to it has expired. The same line always becomes the same, so that importing twice changes nothing.
 */
export function screenLine(line: ExportLine): Screened {
  switch (line.type) {
    case "memory": {
      const shown = line.state === "active" || line.state === "soft_deleted";
      const suspect = shown && !isApproved(line) && memoryInstructs(line);
      return suspect ? { line: { ...line, state: "quarantined" }, held: true } : { line, held: false };
    }
    case "change":
      return screenNews(line);
    case "consent": {
      const suspect =
        line.status === "pending" && wordsOf(line.draft).some((words) => readsAsInstruction(words));
      const expired = { ...line, status: "expired", decidedAt: line.createdAt } as const;
      return suspect ? { line: expired, held: true } : { line, held: false };
    }
    default:
      return { line, held: false };
  }
}

/** News are one line of the prompt, whatever the file made of them. */
function screenNews(line: ExportLineOf<"change">): Screened {
  const news = clipped(onOneLine(line.line), newsCharacters);
  const label = labelOf(news);
  // The category's label would hide that an order begins the sentence.
  const suspect = [news, news.slice(label.length)].some((words) => readsAsInstruction(words));
  return { line: { ...line, line: suspect ? `${label}${withheld}` : news }, held: suspect };
}

/** What news begin with: a category in brackets, and nothing else that stands in such. */
export function labelOf(news: string): string {
  return /^\[[\p{L}\p{M}\p{N} ]{1,200}\]\s*/u.exec(news)?.[0] ?? "";
}

/**
 * Whether anything in `text`, of any length, reads as instructions: a line of it without its list mark or heading, or a
 * stretch of it across lines.
 *
 * @param options.orders as of `readsAsInstruction`.
 */
export function instructsAnywhere(text: string, options: { readonly orders?: boolean } = {}): boolean {
  const lines = text.split(/[\p{Cc}\p{Zl}\p{Zp}]+/u);
  const unmarked = lines.length > 1 ? lines.map((line) => line.replace(/^[\s\-*•#>\d.)]{1,20}/u, "")) : [];
  return [text, ...unmarked].some((part) => readsAsInstruction(part, options));
}

function wordsOf(draft: object): string[] {
  return Object.values(draft).filter((value) => typeof value === "string");
}

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
  const message = decodeMessage(line.serialised);
  const plain = plainMessage(message, line.messageId);
  const parts = [message.content, message.name, (message as Partial<AIMessage>).tool_calls];
  const held = await instructs(textsOf(parts).join(" "));
  const made = plain ? (held ? wordless(plain) : plain) : quotation(message, line.messageId, held);
  const serialised = encodeMessage(made);
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

/** Whether anything in `text`, of any length, reads as instructions; orders are in place in what people and agents write. */
export async function instructs(text: string): Promise<boolean> {
  for (const [index, piece] of pieces(text.replace(/\s+/gu, " ")).entries()) {
    // In a conversation orders are in place.
    if (readsAsInstruction(piece, { orders: true })) return true;
    if (index % piecesAtOnce === piecesAtOnce - 1) await otherWork();
  }
  return false;
}
