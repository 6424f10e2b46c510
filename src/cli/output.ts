export function print({ json }: { readonly json?: true }, result: unknown, words: () => string): void {
  console.log(json ? JSON.stringify(result) : words());
}

export const counted = (count: number, one: string, several = `${one}s`) => `${count} ${count === 1 ? one : several}`;

/** The last column may have any length. */
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

/** Remembered text must not move the cursor, change colours or reorder letters. */
export function oneLine(text: string): string {
  return text
    .replace(/\s+/gu, " ")
    .replace(/[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")
    .trim();
}
