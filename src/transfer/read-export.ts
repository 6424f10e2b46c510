import { z } from "zod";
import { MemoryError } from "../errors.js";
import { isDeeper } from "../text/plain-json.js";
import {
  type ExportLine,
  type ExportLineOf,
  exportLineSchema,
  exportVersion,
  mostLineCharacters,
  mostLineDepth,
  mostMessageDepth,
} from "./export-line.js";
import { exportOrder } from "./export-order.rule.js";

/**
 * The lines of a file, as text, of which no more is held than the longest that is read. Only line feeds end a line, with
 * or without a carriage return: JSON may hold the other breaks as they are.
 *
 * @param input its bytes, UTF-8.
 * @throws MemoryError `INVALID_INPUT` that names a line that is too long.
 */
export async function* splitLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let characters = 0;
  let number = 1;
  const held = (part: string) => {
    parts.push(part);
    characters += part.length;
    if (characters > mostLineCharacters) throw tooLong(number);
  };
  const line = () => {
    const text = parts.join("");
    parts = [];
    characters = 0;
    number++;
    return text.endsWith("\r") ? text.slice(0, -1) : text;
  };
  for await (const bytes of input) {
    const [first = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
    held(first);
    for (const other of others) {
      yield line();
      held(other);
    }
  }
  held(decoder.decode());
  if (characters > 0) yield line();
}

/** A line that was read, and its number, from 1. */
export interface NumberedLine<Line extends ExportLine = ExportLine> {
  readonly number: number;
  readonly line: Line;
  /** How long it is as text. */
  readonly characters: number;
  /** Whether a message is stored as nobody's words: neither searched, nor a turn. @default false */
  readonly quoted?: boolean;
}

/** What is wrong with line `number`, as an error. */
export function lineError(number: number, problem: string, cause?: unknown): MemoryError {
  return new MemoryError("INVALID_INPUT", `Line ${number}: ${problem}`, { cause });
}

/** The error of a line whose message cannot be read. */
export function noMessage(number: number, cause: unknown): MemoryError {
  return lineError(number, "serialised: this is no message as LangChain writes it.", cause);
}

/** The error of a line that is longer than any that is read. */
function tooLong(number: number): MemoryError {
  return lineError(number, `it is longer than ${mostLineCharacters} characters.`);
}

/**
 * The lines of an export, checked one by one, and each against those before it; the first is the header, the last one
 * ends it. Blank lines are left out.
 *
 * @param input lines as text, or as `export` gives them.
 * @throws MemoryError `INVALID_INPUT` that names the line, also when the export was cut off.
 */
export async function* readExport(
  input: AsyncIterable<unknown> | Iterable<unknown>,
): AsyncGenerator<NumberedLine, void, undefined> {
  let number = 0;
  let last: ExportLine | undefined;
  const order = exportOrder();
  for await (const given of input) {
    number++;
    if (typeof given === "string" && given.trim() === "") continue;
    if (last?.type === "end") throw lineError(number, "there is something after the end of the export.");
    const text = typeof given === "string" ? given : writeJson(number, given);
    const line = parseLine(number, text, last === undefined);
    const misplaced = order(line);
    if (misplaced !== null) throw lineError(number, misplaced);
    last = line;
    yield { number, line, characters: text.length };
  }
  if (last?.type !== "end") {
    const problem = "the export is cut off: its last line is missing. What it holds is imported.";
    throw lineError(number + 1, problem);
  }
}

/** @throws MemoryError `INVALID_INPUT` */
function parseLine(number: number, text: string, first: boolean): ExportLine {
  const value = parseJson(number, text);
  if (first) checkHeader(number, value);
  const parsed = exportLineSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const place = issue?.path.length ? `${issue.path.join(".")}: ` : "";
    // Names of unknown fields may be of any length.
    throw lineError(number, `${place}${issue?.message}`.slice(0, 300), parsed.error);
  }
  const line = parsed.data;
  if (line.type === "message" && isDeeper(line.serialised, mostMessageDepth)) {
    throw lineError(number, `serialised: it is nested deeper than ${mostMessageDepth} levels.`);
  }
  return line;
}

/** Objects are read as the text that they would be, so that both are held to the same. */
function writeJson(number: number, given: unknown): string {
  try {
    const text = JSON.stringify(given);
    if (typeof text === "string") return text;
  } catch (cause) {
    throw lineError(number, "this cannot be written as JSON.", cause);
  }
  throw lineError(number, "this is no JSON.");
}

function parseJson(number: number, text: string): unknown {
  if (text.length > mostLineCharacters) throw tooLong(number);
  // Before it is parsed: what walks through a value does so by calling itself.
  if (isDeeper(text, mostLineDepth)) {
    throw lineError(number, `it is nested deeper than ${mostLineDepth} levels.`);
  }
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
