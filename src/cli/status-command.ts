import { MemoryError } from "../errors.js";
import type { TableSize } from "../postgres/table-sizes.js";
import type { EnergyToday } from "../usage/energy-statements.js";
import type { Backlog } from "./backlog.js";
import { type CliCommand, type DatabaseFlags, withDatabase } from "./flags.js";
import { aligned, print } from "./output.js";
import type { SetupStatus } from "./set-up.js";

/** `mnemograph status`: what is set up and what it holds. */
export const statusCommand: CliCommand = {
  name: "status",
  description: "show migrations, what is stored, and what is stuck; changes nothing",
  examples: [["status --data-dir ./data --json"]],
  flags: (command) => withDatabase(command),
  run: status,
};

/** @throws MemoryError `SETUP_REQUIRED` or `SCHEMA_DIFFERS`, after printing, when the tables are not up to date. */
async function status(flags: DatabaseFlags): Promise<void> {
  const { readStatus } = await import("./set-up.js");
  const { schema } = flags;
  const status = await readStatus(flags);
  const { place, migrations, contents } = status;
  print(flags, { database: place, schema, migrations, ...contents }, () => describe(schema, status));
  if (contents === null) throw outdated(schema, migrations);
}

function describe(schema: string, { place, migrations, contents }: SetupStatus): string {
  const { applied, pending } = migrations;
  const rows: (string | number)[][] = [
    ["Database", place],
    ["Schema", schema],
    ["Migrations", `${applied.length} applied, ${pending.length} pending`],
  ];
  if (contents) {
    const { threads, messages, memories, summaries, stuck, deadLetters } = contents;
    const { completed, processing, failed } = summaries;
    rows.push(
      ["Threads", threads],
      ["Messages", messages],
      ["Memories", listed(memories.map(({ kind, state, count }) => `${count} ${kind} ${state}`))],
      ["Summaries", `${completed} completed, ${processing} processing, ${failed} failed`],
      ["Stuck", `${stuck} (processing for more than 5 minutes)`],
      ["Given up", listed(deadLetters.map(({ task, count }) => `${count} ${task}`))],
      [
        "Due",
        listed(contents.due.map(({ work, count, since }) => `${count} ${work} since ${isoTime(since)}`)),
      ],
      ["Waiting", `${contents.waiting.consents} for consent, ${contents.waiting.quarantine} in quarantine`],
      ["Expired", `${contents.expired} not swept yet`],
      ["Without vector", missing(contents)],
      ["Energy", energyLine(contents.energy)],
      ["Size", `${megabytes(contents.tables.reduce((sum, { bytes }) => sum + bytes, 0))} with indexes`],
      ...contents.tables.slice(0, largestTables).map(tableRow),
    );
  }
  return aligned(rows).join("\n");
}

/** Tables named in words; --json has them all. */
const largestTables = 5;

function tableRow({ table, rows, bytes }: TableSize): string[] {
  const counted = rows === null ? "" : `, some ${rows} rows`;
  return [`Table ${table}`, `${megabytes(bytes)}${counted}`];
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function isoTime(time: Date): string {
  return time.toISOString();
}

function missing({ missingVectors, pgvector }: Backlog): string {
  const installed = pgvector === null ? "pgvector is not installed" : `pgvector ${pgvector}`;
  if (missingVectors === null) return `no vectors are kept (${installed})`;
  return `${listed(missingVectors.map(({ space, count }) => `${count} in ${space}`))} (${installed})`;
}

/** What the tenant has left that has least, and what all used today. */
function energyLine({ level, unitsToday, callsToday }: EnergyToday): string {
  const calls = callsToday === 1 ? "1 call" : `${callsToday} calls`;
  return `${Math.floor(level)} % left, where it is least; ${Math.round(unitsToday)} units in ${calls} today`;
}

function listed(counts: readonly string[]): string {
  return counts.length > 0 ? counts.join(", ") : "none";
}

function outdated(schema: string, { applied, pending, unknown }: SetupStatus["migrations"]): MemoryError {
  if (unknown.length > 0) {
    return new MemoryError(
      "SCHEMA_DIFFERS",
      `Schema "${schema}" was set up by a newer mnemograph: this one does not know ${unknown.join(", ")}. Update the package.`,
    );
  }
  const state = applied.length === 0 ? "is not set up" : `lacks ${pending.join(", ")}`;
  return new MemoryError("SETUP_REQUIRED", `Schema "${schema}" ${state}. Run \`mnemograph migrate\`.`);
}
