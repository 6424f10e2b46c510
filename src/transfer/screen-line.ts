import { MemoryError } from "../errors.js";
import { memoryInstructs } from "../memories/write/writing-constraints.js";
import { readsAsInstruction } from "../text/reads-as-instruction.js";
import type { Redactor } from "../text/redactor.js";
import { clipped, onOneLine } from "../text/storable-text.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";
import { type NumberedLine, noMessage } from "./read-export.js";

/** Fields of a line that hold what was said or remembered, by its type; the others are ids, times and numbers. */
const spoken: Readonly<Partial<Record<ExportLine["type"], readonly string[]>>> = {
  summary: ["text", "error"],
  memory: ["key", "value", "text", "tags", "actorId", "evidence"],
  history: ["old", "new"],
  change: ["line"],
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
      const suspect = shown && line.trust !== "operator" && memoryInstructs(line);
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
