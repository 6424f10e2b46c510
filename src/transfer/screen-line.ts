import { MemoryError } from "../errors.js";
import { isApproved } from "../memories/item/memory.js";
import { memoryInstructs } from "../memories/write/writing-constraints.rule.js";
import { withoutInstructions } from "../summaries/make-summary.js";
import { readsAsInstruction } from "../text/reads-as-instruction.js";
import type { Redactor } from "../text/redactor.js";
import { clipped, onOneLine } from "../text/storable-text.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";
import { lineError, type NumberedLine } from "./read-export.js";

/** Fields that hold what was said or remembered, by the line's type; the others are ids, times and numbers. */
const spoken: Readonly<Partial<Record<ExportLine["type"], readonly string[]>>> = {
  thread: ["endedReason"],
  summary: ["text", "error"],
  memory: ["key", "value", "text", "tags", "metadata", "actorId", "evidence"],
  history: ["old", "new"],
  change: ["line"],
  item: ["value"],
  consent: ["key", "slot", "normalValue", "draft", "signals", "evidence"],
};

/**
 * A line with its words redacted and screened, and whether that put a memory in quarantine.
 *
 * @throws MemoryError `REDACTION_FAILED`, `INVALID_INPUT` that names the line of a message that cannot be read.
 */
export async function importable(
  redactor: Redactor,
  { number, line }: NumberedLine,
): Promise<{ readonly line: ExportLine; readonly held: boolean }> {
  if (line.type === "message") {
    try {
      return { line: { ...line, serialised: await redactor.serialised(line.serialised) }, held: false };
    } catch (cause) {
      throw MemoryError.is(cause, "REDACTION_FAILED") ? cause : unreadable(number, cause);
    }
  }
  const values: Readonly<Record<string, unknown>> = { ...line };
  const redacted = await Promise.all(
    (spoken[line.type] ?? []).map(async (field) => [field, await redactor.json(values[field])] as const),
  );
  const made = screened({ ...line, ...Object.fromEntries(redacted) } as ExportLine);
  return { line: made, held: made.type === "memory" && made.state !== values.state };
}

/** The error of a line whose message cannot be read. */
export function unreadable(number: number, cause: unknown): MemoryError {
  return lineError(number, "serialised: this is no message as LangChain writes it.", cause);
}

/**
 * `line` as the ordinary screen lets it in: an active memory that reads as instructions to a model, and that no person
 * approved, waits in quarantine; its news have no words; a request for consent to it has expired; a summary loses those
 * sentences. Other states are screened when they are restored or reverted.
 */
function screened(line: ExportLine): ExportLine {
  switch (line.type) {
    case "memory": {
      const instructs = line.state === "active" && !isApproved(line) && memoryInstructs(line);
      return instructs ? { ...line, state: "quarantined" } : line;
    }
    case "summary":
      return screenedSummary(line);
    case "change":
      return screenedNews(line);
    case "consent": {
      const words = Object.values(line.draft).filter((value) => typeof value === "string");
      const instructs = line.status === "pending" && words.some((each) => readsAsInstruction(each));
      return instructs ? { ...line, status: "expired", decidedAt: line.createdAt } : line;
    }
    default:
      return line;
  }
}

function screenedSummary(line: ExportLineOf<"summary">): ExportLine {
  if (line.status !== "completed") return line;
  const { text } = withoutInstructions(line.text ?? "");
  if (text.trim() !== "") return { ...line, text };
  return { ...line, status: "failed", text: null, error: "not imported: it has nothing but instructions" };
}

/** Longest line of news: those written here have 160 characters of the memory, and the name of its category. */
const newsCharacters = 300;

function screenedNews(line: ExportLineOf<"change">): ExportLine {
  const news = clipped(onOneLine(line.line), newsCharacters);
  const label = /^\[[\p{L}\p{M}\p{N} ]{1,200}\]\s*/u.exec(news)?.[0] ?? "";
  // The category's label would hide that an order begins the sentence.
  const instructs = [news, news.slice(label.length)].some((words) => readsAsInstruction(words));
  return { ...line, line: instructs ? `${label}(withheld: it reads as instructions)` : news };
}
