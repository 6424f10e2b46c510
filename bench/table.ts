/** Prints rows as an aligned table, numbers to the right. */
export function printTable(title: string, rows: readonly Record<string, string | number>[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const cells = [columns, ...rows.map((row) => columns.map((column) => format(row[column] ?? "")))];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  console.log(`\n${title}`);
  for (const line of cells) {
    console.log(
      line
        .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
        .join("  "),
    );
  }
}

function format(value: string | number): string {
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(2);
}

/** The value that `share` of `values` stay below (nearest rank). */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
