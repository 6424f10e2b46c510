import { paintFor, type Style, usableWidth } from "../terminal/paint.js";
import { columnsOf, createFlow, wrapped } from "../terminal/wrap.js";

const { stdout, env } = process;
const paint = paintFor({ isTTY: stdout.isTTY, env });
const width = () => usableWidth(stdout.columns ?? Number(env.COLUMNS));

// Whoever read it has gone, as `head` does.
stdout.on("error", () => process.exit(1));

/** A part of the story begins. */
export function heading(text: string): void {
  stdout.write("\n");
  tell(text, "bold");
}

/** A paragraph. */
export function tell(text: string, style?: Style): void {
  for (const line of wrapped(text, width())) stdout.write(`${style ? paint(style, line) : line}\n`);
}

const numberColumns = 4;
const labelColumns = 9;

/**
 * Lines in three columns: a turn's number or nothing, who or what, and the words, wrapped below
 * themselves.
 */
export function row(number: string, label: string, text: string, style?: Style): void {
  const margin = numberColumns + labelColumns;
  for (const [index, line] of wrapped(text, width() - margin).entries()) {
    const start =
      index === 0 ? number.padEnd(numberColumns) + label.padEnd(labelColumns) : " ".repeat(margin);
    const painted =
      style === "dim" ? paint("dim", start + line) : paint("cyan", start) + paintedIn(style, line);
    stdout.write(`${painted}\n`);
  }
}

function paintedIn(style: Style | undefined, text: string): string {
  return style ? paint(style, text) : text;
}

/** A table, its columns as wide as what is in them. */
export function table(names: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = names.map((name, index) =>
    Math.max(...[name, ...rows.map((cells) => cells[index] ?? "")].map(columnsOf)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(" | ")} |`;
  stdout.write(
    `${paint("bold", line(names))}\n|${widths.map((columns) => "-".repeat(columns + 2)).join("|")}|\n`,
  );
  for (const cells of rows) stdout.write(`${line(cells)}\n`);
}

/** Says what is being done before it is, and then how long it took. */
export async function working<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const flow = createFlow((piece) => stdout.write(paint("dim", piece)), width);
  flow.add(`${what} … `);
  const began = performance.now();
  const result = await work();
  flow.add(`${((performance.now() - began) / 1_000).toFixed(1)} s`);
  flow.end();
  return result;
}
