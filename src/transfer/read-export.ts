import { MemoryError } from "../errors.js";
import { isDeeper } from "../input/plain-json.js";
import { isStorable } from "../text/storable-text.js";
import {
  type ExportLine,
  type ExportLineOf,
  exportLineSchema,
  exportVersion,
} from "./export-line.js";

/**
 * Longest line, in characters. A line has one message at most, and no model takes one of this
 * length.
 */
const maxLineCharacters = 10_000_000;

/**
 * Deepest nesting of a line, and of a message in it: recursive functions would overflow the stack.
 */
const maxLineDepth = 1_000;

/**
 * Splits at line feeds only: JSON may contain other line breaks.
 * @throws MemoryError `INVALID_INPUT` for a line too long, or no UTF-8
 */
export async function* splitLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  // Without `fatal` a letter of another encoding would be replaced.
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let number = 1;
  let line = "";
  const add = (part: string) => {
    line += part;
    if (line.length > maxLineCharacters) throw lineError(number, tooLong);
  };
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch (cause) {
      throw lineError(number, noUtf8, cause);
    }
  };
  for await (const bytes of input) {
    const [first = "", ...others] = decode(bytes).split("\n");
    add(first);
    for (const other of others) {
      yield line.replace(/\r$/, "");
      number++;
      line = "";
      add(other);
    }
  }
  add(decode());
  if (line !== "") yield line.replace(/\r$/, "");
}

const noUtf8 =
  "this line or one after it is no UTF-8. Unpack a compressed file, fetch a cut one again, save an edited one as UTF-8.";
const tooLong = `it is longer than ${maxLineCharacters} characters.`;
const tooDeep = `it is nested deeper than ${maxLineDepth} levels.`;

/** Numbered from 1. */
export interface NumberedLine<Line extends ExportLine = ExportLine> {
  readonly number: number;
  readonly line: Line;
  readonly characters: number;
}

export function linesOf<Type extends ExportLine["type"]>(
  lines: readonly NumberedLine[],
  type: Type,
) {
  return lines.filter((each): each is NumberedLine<ExportLineOf<Type>> => each.line.type === type);
}

export function lineError(number: number, problem: string, cause?: unknown): MemoryError {
  return new MemoryError("INVALID_INPUT", `Line ${number}: ${problem}`, { cause });
}

/**
 * Checks each line; skips blank ones.
 * @throws MemoryError `INVALID_INPUT` with the line, also if lines are missing
 */
export async function* readExport(
  input: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<NumberedLine> {
  let number = 0;
  let lines = 0;
  let last: ExportLine | undefined;
  for await (const given of input) {
    number++;
    if (typeof given === "string" && given.trim() === "") continue;
    if (last?.type === "end")
      throw lineError(number, "there is something after the end of the export.");
    const text = typeof given === "string" ? given : writeJson(number, given);
    const line = parseLine(number, text, last === undefined);
    if (line.type === "end" && line.lines !== lines)
      throw lineError(
        number,
        `${line.lines - lines} lines before it are missing. Forget the scope, and import the whole file.`,
      );
    last = line;
    lines++;
    yield { number, line, characters: text.length };
  }
  if (last?.type === "end") return;
  const whatToDo = "Import the whole file: what this one had is not written again.";
  throw lineError(number + 1, `the export is cut off: its last line is missing. ${whatToDo}`);
}

function parseLine(number: number, text: string, first: boolean): ExportLine {
  const value = parseLineJson(number, text);
  if (first) checkHeader(number, value);
  const parsed = exportLineSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.length ? `${issue.path.join(".")}: ` : "";
    // The message may quote long names of unknown fields.
    throw lineError(number, `${place}${issue?.message}`.slice(0, 300), parsed.error);
  }
  if (!first && parsed.data.type === "header") throw lineError(number, "a second header.");
  return parsed.data;
}

/** Objects become text, so that the same limits apply. */
function writeJson(number: number, given: unknown): string {
  let text: unknown;
  try {
    text = JSON.stringify(given);
  } catch (cause) {
    throw lineError(number, "this cannot be written as JSON.", cause);
  }
  if (typeof text === "string") return text;
  throw lineError(number, "this is no JSON.");
}

function parseLineJson(number: number, text: string): unknown {
  if (text.length > maxLineCharacters) throw lineError(number, tooLong);
  if (isDeeper(text, maxLineDepth)) throw lineError(number, tooDeep);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw lineError(number, "this is no JSON. It may be cut off: import the whole file.", cause);
  }
  const { serialised } = (value ?? {}) as { readonly serialised?: unknown };
  if (typeof serialised === "string" && isDeeper(serialised, maxLineDepth))
    throw lineError(number, tooDeep);
  if (!isStorableJson(value))
    throw lineError(number, "it has characters that PostgreSQL cannot hold.");
  return value;
}

/** Text by text: writing a long line as JSON again would block the process. */
function isStorableJson(value: unknown): boolean {
  if (typeof value === "string") return isStorable(value);
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, inner]) => isStorable(key) && isStorableJson(inner));
}

/** Checked first: lines of another version may have other fields. */
function checkHeader(number: number, value: unknown): void {
  const { type, format, version } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== "header" || format !== "mnemograph" || typeof version !== "number")
    throw lineError(number, "this is no export of mnemograph: it must begin with a header.");
  if (version === exportVersion) return;
  const message = `the export has version ${version}, this package reads version ${exportVersion}: update the package.`;
  throw lineError(number, message);
}
