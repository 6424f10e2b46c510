import { MemoryError } from "../errors.js";
import { isApproved, type MemoryItem, type Provenance } from "../memories/item/memory.js";
import { wordNames } from "../memories/item/memory-fields.js";
import { memoryInstructs } from "../memories/write/writing-constraints.rule.js";
import { withReferences } from "../messages/attachments.js";
import { decodeMessage, plainMessage } from "../messages/message-codec.js";
import type { Screen } from "../screening/reads-as-instruction.js";
import { type Redactor, redactFields } from "../screening/redactor.js";
import { withoutInstructions } from "../summaries/make-summary.js";
import { clipped, onOneLine } from "../text/storable-text.js";
import type { ExportLine, ExportLineOf } from "./export-line.js";
import { lineError, type NumberedLine } from "./read-export.js";
import { recordTypeOf } from "./records.js";

export interface ImportableLine extends NumberedLine {
  /** Whether this import puts the memory in quarantine. */
  readonly isQuarantined: boolean;
}

/**
 * Redacts and screens a line.
 * @throws MemoryError `REDACTION_FAILED`, `INVALID_INPUT` that names an unreadable line
 */
export async function importable(
  { redactor, screen }: { readonly redactor: Redactor; readonly screen: Screen },
  given: NumberedLine,
): Promise<ImportableLine> {
  const { line, number } = given;
  if (line.type === "message") {
    try {
      const said = decodeMessage(line.serialised);
      const kept = withReferences(said);
      const isWritten = kept === said && !redactor.redacts;
      const serialised = isWritten
        ? line.serialised
        : JSON.stringify(await redactor.message(plainMessage(kept)));
      return { ...given, line: { ...line, serialised }, isQuarantined: false };
    } catch (cause) {
      throw MemoryError.is(cause, "REDACTION_FAILED") ? cause : unreadable(number, cause);
    }
  }
  if (line.type === "header" || line.type === "end") return { ...given, isQuarantined: false };
  const { words = [] } = recordTypeOf(line.type);
  const redacted = await redactFields(redactor, line, words);
  if (redacted.type === "history" && redacted.snapshot) {
    const snapshot = await redactFields(redactor, redacted.snapshot, wordNames);
    const kept = { ...redacted, snapshot: await screenedMemory(screen, snapshot) };
    return { ...given, line: kept, isQuarantined: false };
  }
  const clean = await screened(screen, redacted);
  const isQuarantined = line.type === "memory" && "state" in clean && clean.state !== line.state;
  return { ...given, line: clean, isQuarantined };
}

export function unreadable(number: number, cause: unknown): MemoryError {
  return lineError(number, "serialised: this is no message as LangChain writes it.", cause);
}

/**
 * Treats text that reads as instructions to a model like ordinary writes do: an unapproved active
 * memory goes into quarantine, a change loses its text, a pending request for consent expires, and
 * a summary loses those sentences. Memories in other states are screened when they are restored or
 * reverted.
 */
async function screened(screen: Screen, line: ExportLine): Promise<ExportLine> {
  switch (line.type) {
    case "memory":
      return screenedMemory(screen, line);
    case "summary":
      return screenedSummary(screen, line);
    case "change":
      return screenedChange(screen, line);
    case "consent": {
      const texts = Object.values(line.draft).filter((value) => typeof value === "string");
      const instructs = line.status === "pending" && (await anyInstructs(screen, texts));
      return instructs ? { ...line, status: "expired", decidedAt: line.createdAt } : line;
    }
    default:
      return line;
  }
}

async function screenedMemory<Of extends Parameters<typeof memoryInstructs>[1]>(
  screen: Screen,
  memory: Of & Provenance & Pick<MemoryItem, "state">,
): Promise<Of> {
  const isTrusted = memory.state !== "active" || isApproved(memory);
  const instructs = !isTrusted && (await memoryInstructs(screen, memory));
  return instructs ? { ...memory, state: "quarantined" } : memory;
}

async function screenedSummary(screen: Screen, line: ExportLineOf<"summary">): Promise<ExportLine> {
  if (line.status !== "completed") return line;
  const { text } = await withoutInstructions(screen, line.text ?? "");
  if (text.trim() !== "") return { ...line, text };
  return { ...line, status: "failed", text: null };
}

/** Longest line of a change: 160 characters of the memory, and the name of its category. */
const changeCharacters = 300;

async function screenedChange(screen: Screen, line: ExportLineOf<"change">): Promise<ExportLine> {
  const text = clipped(onOneLine(line.line), changeCharacters);
  const label = /^\[[\p{L}\p{M}\p{N} ]{1,200}\]\s*/u.exec(text)?.[0] ?? "";
  // Screened without the category's label too, which could hide an instruction.
  const instructs = await anyInstructs(screen, [...new Set([text, text.slice(label.length)])]);
  return { ...line, line: instructs ? `${label}(withheld: it reads as instructions)` : text };
}

async function anyInstructs(screen: Screen, texts: readonly string[]): Promise<boolean> {
  return (await Promise.all(texts.map((each) => screen(each)))).includes(true);
}
