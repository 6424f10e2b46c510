export function print(
  { json }: { readonly json?: true },
  result: unknown,
  text: () => string,
): void {
  console.log(json ? JSON.stringify(result) : text());
}

export const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Rows of equally many cells, as lines with aligned columns. */
export function aligned(rows: readonly (readonly (string | number)[])[]): string[] {
  const cells = rows.map((row) => row.map((cell) => oneLine(String(cell))));
  const widths =
    cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

/** Remembered text must not move the cursor, change colours or reorder letters. */
export function oneLine(text: string): string {
  return text
    .replace(/\s+/gu, " ")
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")
    .trim();
}

/**
 * What was asked for cannot be: a command ends with 2. Not the library's own class, which takes
 * longer to load than the whole command line.
 */
export class WrongUse extends Error {
  readonly code = "INVALID_INPUT";
}
