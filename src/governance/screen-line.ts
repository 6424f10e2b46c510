import { clipped } from "../domain/clip-text.js";
import type { ExportLine, ExportLineOf } from "../domain/export-line.js";
import { memoryInstructs } from "../domain/memory-instructs.js";
import { readsAsInstruction } from "../domain/reads-as-instruction.js";
import { onOneLine } from "../domain/storable-text.js";

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
