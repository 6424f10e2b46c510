import { countTranscripts } from "../conversation/list-threads.js";
import { MemoryError } from "../errors.js";
import { defaultLogger } from "../logger.js";
import type { Database } from "../postgres/database.js";
import { acrossTenants } from "../postgres/isolation.js";
import { type MigrationStatus, migrationStatus } from "../postgres/migration-set.js";
import { openDatabase } from "../postgres/open-database.js";
import { listStuckSummaries, summaryStats } from "../summaries/list-summaries.js";
import { countMemories, type MemoryCounts } from "./count-memories.js";
import { type ChosenDatabase, type DatabaseFlags, existingDatabase, isolationOf } from "./database-flags.js";
import { aligned } from "./output.js";

/** As `memory.summaries.stuck()` has it. */
const stuckAfterMs = 300_000;

interface Contents extends MemoryCounts {
  readonly threads: number;
  readonly messages: number;
  readonly summaries: { readonly completed: number; readonly processing: number; readonly failed: number };
  /** Summaries `processing` for more than five minutes. */
  readonly stuck: number;
}

/**
 * `mnemograph status`: what is set up and what it holds. Changes nothing.
 *
 * @throws MemoryError `SETUP_REQUIRED` or `SCHEMA_TOO_NEW`, after printing, when the tables are not up to date.
 */
export async function statusCommand(flags: DatabaseFlags): Promise<void> {
  const chosen = existingDatabase(flags, process.env);
  const isolation = await isolationOf(chosen.option, flags.schema);
  const database = openDatabase(chosen.option, { schemaName: flags.schema, ...isolation }, defaultLogger);
  try {
    const migrations = await migrationStatus(database);
    const current = migrations.pending.length === 0 && migrations.unknown.length === 0;
    const contents = current ? await acrossTenants(() => readContents(database)) : null;
    const status = { database: chosen.place, schema: flags.schema, migrations, ...contents };
    console.log(flags.json ? JSON.stringify(status) : describe(chosen, flags, migrations, contents));
    if (!current) throw outdated(flags.schema, migrations);
  } finally {
    await database.close();
  }
}

async function readContents(database: Database): Promise<Contents> {
  const { completed, processing, failed } = await summaryStats(database);
  const stuck = await listStuckSummaries(database, stuckAfterMs);
  const counts = { ...(await countTranscripts(database)), ...(await countMemories(database)) };
  return { ...counts, summaries: { completed, processing, failed }, stuck: stuck.length };
}

function describe(
  { place }: ChosenDatabase,
  { schema }: DatabaseFlags,
  { applied, pending }: MigrationStatus,
  contents: Contents | null,
): string {
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
    );
  }
  return aligned(rows).join("\n");
}

function listed(counts: readonly string[]): string {
  return counts.length > 0 ? counts.join(", ") : "none";
}

function outdated(schema: string, { applied, pending, unknown }: MigrationStatus): MemoryError {
  if (unknown.length > 0) {
    return new MemoryError(
      "SCHEMA_TOO_NEW",
      `Schema "${schema}" was set up by a newer mnemograph: this one does not know ${unknown.join(", ")}. Update the package.`,
    );
  }
  const state = applied.length === 0 ? "is not set up" : `lacks ${pending.join(", ")}`;
  return new MemoryError("SETUP_REQUIRED", `Schema "${schema}" ${state}. Run \`mnemograph migrate\`.`);
}
