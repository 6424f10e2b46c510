import { readFileSync } from "node:fs";
import { Command } from "commander";
import type { DatabaseFlags } from "./database-flags.js";

const examples = `
Examples:
  $ mnemograph migrate                                  embedded database in ./.mnemograph, or DATABASE_URL
  $ mnemograph migrate --database postgresql://ana@db.example.org/app --schema memory
  $ mnemograph migrate --vectors                        also what embeddings need (pgvector)
  $ mnemograph status --data-dir ./data --json

Exit code: 0 on success; 1 on any error, and for \`status\` also when the tables are not up to date.`;

/**
 * The command line. Its actions throw; what to do with errors is up to the caller.
 *
 * Each loads its code when it runs, so that help comes at once.
 */
export function createProgram(): Command {
  const program = new Command("mnemograph")
    .description("Long-term memory for LangGraph.js agents, kept in PostgreSQL.")
    .version(packageVersion())
    .addHelpText("after", examples);

  withDatabase(program.command("migrate").description("create or update the tables; harmless when done"))
    .option("--vectors", "also create what embeddings need; requires pgvector")
    .action(async (flags: DatabaseFlags & { vectors?: true }) => {
      const { migrateCommand } = await import("./migrate-command.js");
      await migrateCommand(flags);
    });

  withDatabase(
    program
      .command("status")
      .description("show migrations, threads, messages and summaries; changes nothing"),
  ).action(async (flags: DatabaseFlags) => {
    const { statusCommand } = await import("./status-command.js");
    await statusCommand(flags);
  });

  return program;
}

function withDatabase(command: Command): Command {
  return command
    .option("--database <url>", "connection string of a PostgreSQL server (default: DATABASE_URL)")
    .option("--data-dir <dir>", "folder of the embedded database (default without a server: .mnemograph)")
    .option("--schema <name>", "schema that holds the tables", "mnemograph")
    .option("--json", "print JSON");
}

function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
