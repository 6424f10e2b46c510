import { MemoryError } from "../errors.js";
import type { SetStatus } from "../postgres/migration-status.js";
import { type CliCommand, type DatabaseFlags, withDatabase } from "./flags.js";
import { aligned, counted, print } from "./output.js";
import type { SetupStatus } from "./set-up.js";

export const statusCommand: CliCommand = {
  name: "status",
  description: "show migrations, what is stored, and what is stuck; changes nothing",
  examples: [["status --data-dir ./data --json"]],
  flags: (command) => withDatabase(command),
  run: status,
};

/** @throws MemoryError `SETUP_REQUIRED`, after printing, when the tables are not up to date */
async function status(flags: DatabaseFlags): Promise<void> {
  const { readStatus } = await import("./set-up.js");
  const { schema } = flags;
  const status = await readStatus(flags);
  const { place, migrations, contents } = status;
  print(flags, { database: place, schema, migrations, ...contents }, () => describe(schema, status));
  if (contents !== null) return;
  const isNew = migrations.sets.every(({ version }) => version === null);
  const pending = migrations.sets.flatMap(({ pending }) => pending);
  const state = isNew ? "is not set up" : `lacks ${pending.join(", ")}`;
  throw new MemoryError("SETUP_REQUIRED", `Schema "${schema}" ${state}. Run \`mnemograph migrate\`.`);
}

const largestTables = 5;

function describe(schema: string, { place, migrations, contents }: SetupStatus): string {
  const rows: (string | number)[][] = [
    ["Database", place],
    ["Schema", schema],
    ...migrations.sets.map((set) => [`Version of ${set.set}`, versionLine(set)]),
  ];
  if (contents === null) return aligned(rows).join("\n");
  const { summaries, waiting, missingVectors: missing, pgvector, energy, tables } = contents;
  const workLine = (name: string) => {
    const rows = contents.work.filter(({ state }) => state === name);
    const by = (worker: string | null) => (worker === null ? "" : ` by ${worker}`);
    return listed(rows, (row) => `${row.count} ${row.kind}${by(row.worker)} since ${row.since.toISOString()}`);
  };
  const withoutVector = missing && listed(missing, (row) => `${row.count} in ${row.space}`);
  const sizes = tables.slice(0, largestTables).map(({ table, rows, bytes }) => {
    return [`Table ${table}`, `${megabytes(bytes)}${rows === null ? "" : `, some ${counted(rows, "row")}`}`];
  });
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0);
  rows.push(
    ["Threads", contents.threads],
    ["Messages", contents.messages],
    ["Memories", listed(contents.memories, ({ kind, state, count }) => `${count} ${kind} ${state}`)],
    ["Summaries", listed(Object.entries(summaries), ([status, count]) => `${count} ${status}`)],
    ["Running", workLine("running")],
    ["Stuck", workLine("stuck")],
    ["Due", workLine("due")],
    ["Given up", listed(contents.deadLetters, ({ kind, count }) => `${count} ${kind}`)],
    ["Waiting", `${waiting.consents} for consent, ${waiting.quarantine} in quarantine`],
    ["Expired", `${contents.expired} not swept yet`],
    ["pgvector", pgvector ?? "not installed"],
    ["Without vector", withoutVector ?? "no vectors are kept"],
    ["Used today", `${counted(Math.round(energy.units), "unit")} in ${counted(energy.calls, "call")}`],
    ["Size", `${megabytes(bytes)} with indexes`],
    ...sizes,
  );
  return aligned(rows).join("\n");
}

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

function listed<Row>(rows: readonly Row[], text: (row: Row) => string): string {
  return rows.map(text).join(", ") || "none";
}

function versionLine({ version, pending }: SetStatus): string {
  const state = version === null ? "not installed" : String(version);
  return pending.length === 0 ? state : `${state}; lacks ${pending.join(", ")}`;
}
