import type { Memory } from "../../src/memory.js";
import type { Scope } from "../../src/scope/scope.js";
import type { ExportLine } from "../../src/transfer/export-line.js";

export async function linesOf(memory: Memory, scope: Scope): Promise<ExportLine[]> {
  const lines: ExportLine[] = [];
  for await (const line of memory.export({ scope })) lines.push(line);
  return lines;
}

/** Without the header, which has the time of the export. */
export const withoutHeader = (lines: ExportLine[]) => lines.slice(1);

export const asText = (lines: ExportLine[]) => lines.map((line) => JSON.stringify(line));

export const ofType = <Type extends ExportLine["type"]>(lines: ExportLine[], type: Type) =>
  lines.filter((line): line is Extract<ExportLine, { type: Type }> => line.type === type);
