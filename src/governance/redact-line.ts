import type { ExportLine } from "../domain/export-line.js";
import type { Redactor } from "../remember/redactor.js";
import { decodeMessage, encodeMessage } from "../store/message-codec.js";

/** Fields of a line that hold what was said or remembered, by its type; the others are ids, times and numbers. */
const spoken: Readonly<Partial<Record<ExportLine["type"], readonly string[]>>> = {
  summary: ["text", "error"],
  memory: ["key", "value", "text", "tags", "actorId", "evidence"],
  history: ["old", "new"],
  change: ["line"],
  consent: ["key", "slot", "normalValue", "draft", "signals", "evidence"],
};

/** `line`, with what it holds of people's words redacted. @throws MemoryError `REDACTION_FAILED` */
export async function redactLine(redactor: Redactor, line: ExportLine): Promise<ExportLine> {
  if (line.type === "message") {
    const message = await redactor.message(await decodeMessage(line.serialised));
    return { ...line, serialised: await encodeMessage(message) };
  }
  const fields = spoken[line.type] ?? [];
  const values: Readonly<Record<string, unknown>> = { ...line };
  const redacted = await Promise.all(
    fields.map(async (field) => [field, await redactor.json(values[field])] as const),
  );
  return { ...line, ...Object.fromEntries(redacted) } as ExportLine;
}
