import { z } from "zod";
import { MemoryError } from "../../errors.js";
import { normalForm } from "../../text/normal-value.js";
import { clipped, onOneLine } from "../../text/storable-text.js";

export const root = "/memories";

/** All are read to list a folder; a search of the store reads so much of a text. */
export const mostFiles = 1_000;
const mostFileCharacters = 100_000;
const mostPathCharacters = 300;

const text = z.string().nullish();

/** The arguments of Anthropic's memory tool. */
export const fileCommandSchema = z.object({
  command: z.enum(["view", "create", "str_replace", "insert", "delete", "rename"]),
  path: text.describe(`${root}, or a folder or file in it; rename has old_path and new_path.`),
  view_range: z
    .array(z.int())
    .length(2)
    .nullish()
    .describe("For view: first and last line, from 1; -1 for the end."),
  file_text: text.describe("For create: the whole text."),
  old_str: text.describe("For str_replace: text that occurs once in the file."),
  new_str: text.describe("For str_replace: what takes its place; leave out to remove it."),
  insert_line: z
    .int()
    .nullish()
    .describe("For insert: the line to insert after; 0 for the beginning."),
  insert_text: text.describe("For insert: the lines."),
  old_path: text.describe("For rename: the file or folder."),
  new_path: text.describe("For rename: its new path."),
});
export type FileCommand = z.output<typeof fileCommandSchema>;

type Files = ReadonlyMap<string, string>;

/** Texts to write by path; null deletes. None for a command that reads. */
type Changes = readonly (readonly [path: string, text: string | null])[];

/** @param files texts by path @throws MemoryError `INVALID_INPUT`, `NOT_FOUND` */
export function runCommand(
  files: Files,
  input: FileCommand,
): { readonly answer: string; readonly changes: Changes } {
  const { command } = input;
  const path = needed(input, command === "rename" ? "old_path" : "path");
  if (command === "view")
    return { answer: view(files, path, input.view_range ?? [1, -1]), changes: [] };
  if (path === root) throw invalid(`${command} needs a file or a folder in ${root}.`);
  const changes = changesOf(files, input, path);
  for (const [name, { length = 0 }] of changes.map(([name, text]) => [name, text ?? ""] as const))
    if (length > mostFileCharacters)
      throw invalid(
        `${name} would have ${length} characters, ${mostFileCharacters} at most. Divide it into several files.`,
      );
  return {
    answer: `Done: ${command} ${path}${command === "rename" ? ` to ${input.new_path}` : ""}.`,
    changes,
  };
}

function changesOf(files: Files, input: FileCommand, path: string): Changes {
  switch (input.command) {
    case "create":
      requireFree(files, path);
      return [[path, needed(input, "file_text")]];
    case "str_replace":
      return [
        [path, replaceOnce(fileAt(files, path), needed(input, "old_str"), input.new_str ?? "")],
      ];
    case "insert":
      return [
        [
          path,
          insertAfter(
            fileAt(files, path),
            needed(input, "insert_line"),
            needed(input, "insert_text"),
          ),
        ],
      ];
    case "rename": {
      const to = needed(input, "new_path");
      requireFree(files, to);
      return filesIn(files, path).flatMap(
        ([name, text]) =>
          [
            [name, null],
            [to + name.slice(path.length), text],
          ] as const,
      );
    }
    default:
      return filesIn(files, path).map(([name]) => [name, null]);
  }
}

function view(files: Files, path: string, [from = 1, to = -1]: readonly number[]): string {
  const text = files.get(path);
  if (text === undefined) {
    const found = path === root ? [...files] : filesIn(files, path);
    const names = found.map(([name, { length }]) => `${name} (${length})`).toSorted();
    return found.length === 0
      ? `${root} has no files yet.`
      : `Files in ${path} (characters):\n${names.join("\n")}`;
  }
  const lines = linesOf(text);
  const last = to === -1 ? Math.max(from, lines.length) : to;
  if (from < 1 || from > last || last > Math.max(1, lines.length))
    throw invalid(
      `\`view_range\` [${from}, ${to}] is not within lines 1 to ${lines.length} of the file.`,
    );
  const numbered = lines
    .slice(from - 1, last)
    .map((line, index) => `${String(from + index).padStart(6)}\t${line}`);
  return `${path}, with line numbers:\n${numbered.join("\n")}`;
}

function replaceOnce(text: string, old: string, replacement: string): string {
  if (old === "") throw invalid("`old_str` is empty. Give the text to replace, or use insert.");
  const places: number[] = [];
  for (let at = text.indexOf(old); at !== -1; at = text.indexOf(old, at + 1)) places.push(at);
  const [place] = places;
  if (place === undefined)
    throw invalid("`old_str` does not occur in the file. View it, and copy the text exactly.");
  if (places.length === 1)
    return text.slice(0, place) + replacement + text.slice(place + old.length);
  const lines = places.slice(0, 20).map((at) => linesOf(text.slice(0, at + 1)).length);
  throw invalid(
    `\`old_str\` occurs ${places.length} times, in lines ${lines.join(", ")}. Give more text around one.`,
  );
}

function insertAfter(text: string, line: number, added: string): string {
  const lines = linesOf(text);
  if (line >= 0 && line <= lines.length)
    return [
      ...lines.slice(0, line),
      ...(added === "" ? [] : [added.replace(/\n$/, "")]),
      ...lines.slice(line),
      "",
    ].join("\n");
  throw invalid(
    `\`insert_line\` is ${line}, and the file has ${lines.length} lines: give 0 to ${lines.length}.`,
  );
}

/** A line break at the end begins no line. */
const linesOf = (text: string): string[] =>
  text === "" ? [] : text.replace(/\n$/, "").split("\n");

const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`);

function filesIn(files: Files, path: string): [path: string, text: string][] {
  const found = [...files].filter(([name]) => isIn(name, path));
  return found.length > 0 ? found : missing(path);
}

const fileAt = (files: Files, path: string): string => files.get(path) ?? missing(path);

function missing(path: string): never {
  throw new MemoryError(
    "NOT_FOUND",
    `There is no file ${path}. View ${root} to see what there is.`,
  );
}

/** A path is a file or a folder, never both; so a folder cannot move into itself. */
function requireFree(files: Files, path: string): void {
  const taken = [...files.keys()].find((name) => isIn(name, path) || isIn(path, name));
  if (taken !== undefined)
    throw invalid(`${taken} is there already. Change that one, or give another path.`);
  if (files.size >= mostFiles)
    throw invalid(`There are ${mostFiles} files already. Delete some first.`);
}

/**
 * @throws MemoryError `INVALID_INPUT` for a path that is not plainly one file or folder in
 * `/memories`
 */
export function filePath(given: string): string {
  const path = normalForm(given, "NFC").replace(/\/$/, "");
  // Other forms of dots and slashes: what reads an export may take them as plain ones.
  const plain = normalForm(path, "NFKC");
  const isPlain = onOneLine(path) === path && plain.split("/").length === path.split("/").length;
  const isOdd = /\\|%[0-9a-f]{2}|\/[\s.]*(?:\/|$)/i.test(plain);
  if (isPlain && !isOdd && path.length <= mostPathCharacters && isIn(path, root)) return path;
  throw invalid(
    `"${clipped(given, 100)}" is no path here. Begin with ${root}/, and leave out "..", backslashes, escapes such as %2e, ` +
      `blank parts and invisible characters; ${mostPathCharacters} characters at most: ${root}/notes/tea.md.`,
  );
}

function needed<Name extends keyof FileCommand>(
  input: FileCommand,
  name: Name,
): NonNullable<FileCommand[Name]> {
  const value = input[name];
  if (value !== null && value !== undefined) return value;
  throw invalid(`\`${name}\` is needed to ${input.command}.`);
}

const invalid = (message: string): MemoryError => new MemoryError("INVALID_INPUT", message);
