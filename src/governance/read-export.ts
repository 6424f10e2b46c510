import { z } from "zod";
import {
  type ExportLine,
  type ExportLineOf,
  exportLineSchema,
  exportVersion,
} from "../domain/export-line.js";
import { MemoryError } from "../errors.js";

/** A line that was read, and its number, from 1. */
export interface NumberedLine<Line extends ExportLine = ExportLine> {
  readonly number: number;
  readonly line: Line;
}

/** What is wrong with line `number`, as an error. */
export function lineError(number: number, problem: string, cause?: unknown): MemoryError {
  return new MemoryError("INVALID_INPUT", `Line ${number}: ${problem}`, { cause });
}

/** The error of a line whose message cannot be read. */
export function noMessage(number: number, cause: unknown): MemoryError {
  return lineError(number, "serialised: this is no message as LangChain writes it.", cause);
}

/**
 * The lines of an export, checked one by one; the first is the header, the last one ends it. Blank lines are left out.
 *
 * @param input lines as text, or as `export` gives them.
 * @throws MemoryError `INVALID_INPUT` that names the line, also when the export was cut off.
 */
export async function* readExport(
  input: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<NumberedLine, void, undefined> {
  let number = 0;
  let lines = 0;
  let ended = false;
  for await (const given of input) {
    number++;
    if (typeof given === "string" && given.trim() === "") continue;
    if (ended) throw lineError(number, "there is something after the end of the export.");
    const line = parseLine(number, given, lines === 0);
    if (line.type === "end") {
      if (line.lines !== lines) throw lineError(number, `${line.lines - lines} lines before it are missing.`);
      ended = true;
    }
    lines++;
    yield { number, line };
  }
  if (!ended)
    throw lineError(
      number + 1,
      "the export is cut off: its last line is missing. What it holds is imported.",
    );
}

/** @throws MemoryError `INVALID_INPUT` */
function parseLine(number: number, given: unknown, first: boolean): ExportLine {
  const value = typeof given === "string" ? parseJson(number, given) : given;
  if (first) checkHeader(number, value);
  const parsed = exportLineSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.length ? `${issue.path.join(".")}: ` : "";
    throw lineError(number, `${place}${issue?.message}`, parsed.error);
  }
  if (!first && parsed.data.type === "header") throw lineError(number, "a second header.");
  return parsed.data;
}

function parseJson(number: number, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw lineError(number, "this is no JSON.", cause);
  }
}

const anyHeader = z.looseObject({
  type: z.literal("header"),
  format: z.literal("mnemograph"),
  version: z.number(),
});

/** Before the rest: what another version wrote may look different. */
function checkHeader(number: number, value: unknown): void {
  const { data } = anyHeader.safeParse(value);
  if (!data) throw lineError(number, "this is no export of mnemograph: it must begin with a header.");
  if (data.version === exportVersion) return;
  throw lineError(
    number,
    `the export has version ${data.version}, this package reads version ${exportVersion}: update the package.`,
  );
}

/** Those of `lines` that are of this `type`. */
export function linesOf<Type extends ExportLine["type"]>(
  lines: readonly NumberedLine[],
  type: Type,
): NumberedLine<ExportLineOf<Type>>[] {
  return lines.filter((each): each is NumberedLine<ExportLineOf<Type>> => each.line.type === type);
}
