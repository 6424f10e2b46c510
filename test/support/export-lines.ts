import type { Memory } from "../../src/memory.js";
import type { Scope } from "../../src/scope/scope.js";
import type { ExportLine } from "../../src/transfer/export-line.js";

/** All lines of an export. */
export async function linesOf(memory: Memory, scope: Scope): Promise<ExportLine[]> {
  const lines: ExportLine[] = [];
  for await (const line of memory.export(scope)) lines.push(line);
  return lines;
}

/** But for when it was made. */
export const withoutHeader = (lines: ExportLine[]) => lines.slice(1);

/** As a file holds them. */
export const asText = (lines: ExportLine[]) => lines.map((line) => JSON.stringify(line));

/** Those of one type. */
export const ofType = <Type extends ExportLine["type"]>(lines: ExportLine[], type: Type) =>
  lines.filter((line): line is Extract<ExportLine, { type: Type }> => line.type === type);
