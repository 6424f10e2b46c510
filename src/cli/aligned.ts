import { oneLine } from "./one-line.js";

/** `rows` as lines whose columns begin below each other. The last column may be of any length. */
export function aligned(rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => oneLine(String(cell))));
  const widths: number[] = [];
  for (const row of cells) {
    row.slice(0, -1).forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  return cells.map((row) => {
    const last = row.length - 1;
    const padded = row.map((cell, column) => (column < last ? cell.padEnd(widths[column] ?? 0) : cell));
    return padded.join("  ").trimEnd();
  });
}
