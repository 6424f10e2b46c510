import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { BenchDatabase } from "./bench-database.js";

const packages = [
  "@langchain/core",
  "@langchain/langgraph",
  "@langchain/langgraph-checkpoint",
  "@langchain/langgraph-checkpoint-postgres",
];

/**
 * Prints what the numbers below it were measured on: date, versions, and how busy the machine is.
 */
export function printEnvironment(database: BenchDatabase): void {
  const versions = packages.map((name) => `${name} ${versionOf(name)}`);
  console.log(new Date().toISOString().slice(0, 10));
  console.log(`Node ${process.versions.node}, ${database.name}, ${versions.join(", ")}`);
  printLoad();
}

/** Prints how busy the machine is: what others do on it slows whatever is measured. */
export function printLoad(): void {
  const [minute = 0, minutes = 0] = loadavg();
  console.log(
    `Load of the machine: ${minute.toFixed(1)} (1 minute), ${minutes.toFixed(1)} (5 minutes)`,
  );
}

/**
 * Prints what a benchmark found as one line of JSON, for programs to read: numbers with four
 * digits.
 */
export function printResult(result: object): void {
  const rounded = (_: string, value: unknown) =>
    typeof value === "number" ? Number(value.toPrecision(4)) : value;
  console.log(`\n${JSON.stringify(result, rounded)}`);
}

/** Prints rows as an aligned table, numbers to the right. */
export function printTable(title: string, rows: readonly Record<string, string | number>[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const cells = [columns, ...rows.map((row) => columns.map((column) => format(row[column] ?? "")))];
  const widths = columns.map((_, index) =>
    Math.max(...cells.map((line) => line[index]?.length ?? 0)),
  );
  console.log(`\n${title}`);
  for (const line of cells) {
    console.log(
      line
        .map((cell, index) =>
          index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0),
        )
        .join("  "),
    );
  }
}

function format(value: string | number): string {
  if (typeof value === "string") return value;
  return Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(2);
}

function versionOf(name: string): string {
  // Compiled, this file stands in a folder whose own packages are links to those of the repository.
  const file = join(process.cwd(), "node_modules", name, "package.json");
  return JSON.parse(readFileSync(file, "utf8")).version;
}
