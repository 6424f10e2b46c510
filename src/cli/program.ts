import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError } from "commander";
import type { DatabaseFlags } from "./database-flags.js";
import type { MemoryFlags, ScopeFlags } from "./memory-flags.js";
import { oneLine } from "./one-line.js";

const examples = `
Examples:
  $ mnemograph migrate                                  embedded database in ./.mnemograph, or DATABASE_URL
  $ mnemograph migrate --database postgresql://ana@db.example.org/app --schema memory
  $ mnemograph migrate --vectors                        also what embeddings need (pgvector)
  $ mnemograph status --data-dir ./data --json
  $ mnemograph search "favourite tea" --user ana        what is known of a user
  $ mnemograph search tea --user ana --transcript       what was said
  $ mnemograph history 6f1c2d3e-… --user ana            who changed what in a memory
  $ mnemograph reembed --embeddings ./embeddings.js     after a change of the embedding model

Exit code: 0 on success; 2 when used wrongly; 1 on any other error, and for \`status\` also when the tables are
not up to date.`;

/**
 * The command line. Its actions throw; what to do with errors is up to the caller.
 *
 * Each loads its code when it runs, so that help comes at once.
 */
export function createProgram(): Command {
  const program = new Command("mnemograph")
    .description("Long-term memory for LangGraph.js agents, kept in PostgreSQL.")
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text)}\n`) })
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
      .description("show migrations, what is stored, and what is stuck; changes nothing"),
  ).action(async (flags: DatabaseFlags) => {
    const { statusCommand } = await import("./status-command.js");
    await statusCommand(flags);
  });

  const vectorSearch = "also search by meaning, with the embeddings a file or package exports";
  withMemory(
    withScope(program.command("search").description("find memories, or messages, best first")),
    vectorSearch,
  )
    .argument("<query>", "what to look for")
    .option("--transcript", "search what was said instead of what is known")
    .option("--top <count>", "at most this many (default: 5 memories, 10 messages)", wholeNumber(200))
    .action(async (query: string, flags: SearchFlags) => {
      const { searchCommand } = await import("./search-command.js");
      await searchCommand(query, flags);
    });

  withDatabase(withScope(program.command("history").description("show who changed what in a memory")))
    .argument("<id>", "the memory's id, as `search` prints it")
    .action(async (id: string, flags: DatabaseFlags & ScopeFlags) => {
      const { historyCommand } = await import("./history-command.js");
      await historyCommand(id, flags);
    });

  withMemory(
    program
      .command("reembed")
      .description("make the vectors that active memories lack; interrupted, it goes on where it was"),
    "file or package that exports LangChain embeddings as default or as `embeddings` (required)",
  )
    .option("--batch-size <count>", "memories in one call of the model (default: 100)", wholeNumber(1_000))
    .action(async (flags: MemoryFlags & { batchSize?: number }) => {
      const { reembedCommand } = await import("./reembed-command.js");
      await reembedCommand(flags);
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

interface SearchFlags extends MemoryFlags, ScopeFlags {
  readonly transcript?: true;
  readonly top?: number;
}

function withMemory(command: Command, embeddings: string): Command {
  return withDatabase(command)
    .option("--embeddings <module>", embeddings)
    .option("--embedding-space <name>", "name of the vectors' space (default: the model's name)")
    .option("--config <file>", "YAML file with the application's settings, such as its categories");
}

function withScope(command: Command): Command {
  return command
    .option("--user <id>", "the user; this or --app is needed")
    .option("--app <id>", "the app")
    .option("--tenant <id>", "the tenant");
}

function wholeNumber(max: number): (text: string) => number {
  return (text) => {
    const count = Number(text);
    if (/^\d+$/.test(text) && count >= 1 && count <= max) return count;
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
  };
}

function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
