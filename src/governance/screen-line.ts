import type { ExportLine } from "../domain/export-line.js";
import { memoryInstructs } from "../domain/memory-instructs.js";
import { readsAsInstruction } from "../domain/reads-as-instruction.js";

/** What stands for news that would carry instructions into a prompt. */
const withheld = "(withheld: it reads as instructions)";

/**
 * `line` as it may be imported: what reads as instructions to a model, and no operator vouched for, reaches no prompt.
 *
 * A memory of that kind that is active, or can be restored, waits in quarantine, news of it are told without its words, and a request for consent
 * to it has expired. The same line always becomes the same, so that importing twice changes nothing.
 */
export function screenLine(line: ExportLine): ExportLine {
  switch (line.type) {
    case "memory": {
      const shown = line.state === "active" || line.state === "soft_deleted";
      const suspect = shown && line.trust !== "operator" && memoryInstructs(line);
      return suspect ? { ...line, state: "quarantined" } : line;
    }
    case "change": {
      // The category's label would hide that an order begins the sentence.
      const [label = ""] = /^\[[^\]]*\]\s*/.exec(line.line) ?? [];
      const suspect = readsAsInstruction(line.line.slice(label.length));
      return suspect ? { ...line, line: `${label}${withheld}` } : line;
    }
    case "consent": {
      const suspect =
        line.status === "pending" && wordsOf(line.draft).some((words) => readsAsInstruction(words));
      return suspect ? { ...line, status: "expired", decidedAt: line.createdAt } : line;
    }
    default:
      return line;
  }
}

function wordsOf(draft: unknown): string[] {
  return typeof draft === "object" && draft !== null
    ? Object.values(draft).filter((value) => typeof value === "string")
    : [];
}
