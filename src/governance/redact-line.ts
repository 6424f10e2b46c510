import type { ExportLine } from "../domain/export-line.js";
import { MemoryError } from "../errors.js";
import type { Redactor } from "../remember/redactor.js";
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
