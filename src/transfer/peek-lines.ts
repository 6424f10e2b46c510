import type { Scope } from "../scope/scope.js";
import type { ExportLine } from "./export-line.js";

type Lines = AsyncIterable<string | ExportLine> | Iterable<string | ExportLine>;

/** Whom an export is of, as its first line says, and all of its lines; null where that is no header, which import refuses. */
export async function peekLines(
  lines: Lines,
): Promise<{ readonly header: Scope | null; readonly all: Lines }> {
  const iterator = iteratorOf(lines);
  if (!iterator) return { header: null, all: lines };
  const first = await iterator.next();
  const all = (async function* () {
    try {
      for (let line = first; !line.done; line = await iterator.next()) yield line.value;
    } finally {
      await iterator.return?.();
    }
  })();
  return { header: first.done ? null : scopeOfHeader(first.value), all };
}

function iteratorOf(lines: Lines): AsyncIterator<string | ExportLine> | Iterator<string | ExportLine> | null {
  if (typeof lines !== "object" || lines === null) return null;
  if (Symbol.asyncIterator in lines) return lines[Symbol.asyncIterator]();
  return Symbol.iterator in lines ? lines[Symbol.iterator]() : null;
}

function scopeOfHeader(line: unknown): Scope | null {
  try {
    const header = (typeof line === "string" ? JSON.parse(line) : line) as { type?: unknown; scope?: Scope };
    return header?.type === "header" ? (header.scope ?? null) : null;
  } catch {
    return null;
  }
}
