import { readFileSync } from "node:fs";
import { Command, InvalidArgumentError, Option } from "commander";
import { dayMs } from "../clock.js";
import type { ConsentsFlags } from "./consents-command.js";
import type { DatabaseFlags } from "./database-flags.js";
import type { ExportFlags } from "./export-command.js";
import type { ForgetFlags } from "./forget-command.js";
import type { ImportFlags } from "./import-command.js";
import type { MemoryFlags, ScopeFlags } from "./memory-flags.js";
import { oneLine } from "./output.js";
import type { PruneFlags } from "./prune-command.js";
import type { QuarantineFlags } from "./quarantine-command.js";

const examples = `
Examples:
  $ mnemograph migrate                                  embedded database in ./.mnemograph, or DATABASE_URL
  $ mnemograph migrate --database postgresql://ana@db.example.org/app --schema memory
  $ mnemograph migrate --vectors                        also what embeddings need (pgvector)
  $ mnemograph status --data-dir ./data --json
  $ mnemograph search "favourite tea" --user ana        what is known of a user
  $ mnemograph search tea --user ana --transcript       what was said
  $ mnemograph history 6f1c2d3e-… --user ana            who changed what in a memory
  $ mnemograph consents --user ana                      what waits for a user's consent
  $ mnemograph consents --user ana --approve 6f1c2d3e-… with the user's word for it
  $ mnemograph quarantine --user ana                    what reads as instructions and waits for an operator
  $ mnemograph quarantine --user ana --reject 6f1c2d3e-… or --approve, as an ordinary memory
  $ mnemograph forget --user ana --dry-run              what would go with a user; --yes deletes it for good
  $ mnemograph forget --user ana --thread t1            one conversation; what was learned in it stays
  $ mnemograph export --user ana --out ana.jsonl        what is kept of a user, as JSON lines
  $ mnemograph import ana.jsonl                         into this database; - reads standard input
  $ mnemograph import ana.jsonl --trust operator        believed in all it says: a copy of your own
  $ mnemograph prune --keep-last 5 --older-than 30d     superseded checkpoints of LangGraph
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
    .option("--isolation", "also keep tenants apart by row-level security; run it as the tables' owner")
    .action(async (flags: DatabaseFlags & { vectors?: true; isolation?: true }) => {
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
    withScope(program.command("consents").description("show what waits for a user's consent, or decide it")),
    "give what is approved a vector, with the embeddings a file or package exports",
  )
    .option("--all", "also what was decided or expired")
    .option("--approve <id>", "the user agreed: remember it")
    .option("--refuse <id>", "the user refused: do not ask again for a while")
    .option(
      "--if-revision <number>",
      "only when it still has this revision, as --json shows it",
      wholeNumber(1e9),
    )
    .option("--actor <name>", "who decides, for the audit trail (default: cli)")
    .action(async (flags: ConsentsFlags) => {
      const { consentsCommand } = await import("./consents-command.js");
      await consentsCommand(flags);
    });

  withMemory(
    withScope(
      program
        .command("quarantine")
        .description("show what reads as instructions to a model, or decide whether it may be a memory"),
    ),
    "give what is approved a vector, with the embeddings a file or package exports",
  )
    .option("--approve <id>", "make it an ordinary memory")
    .option("--consent", "with --approve: the user agreed, where a field needs consent")
    .option("--reject <id>", "delete it; the audit trail keeps what it was")
    .option(
      "--if-revision <number>",
      "only when it still has this revision, as --json shows it",
      wholeNumber(1e9),
    )
    .option("--actor <name>", "who decides, for the audit trail (default: cli)")
    .action(async (flags: QuarantineFlags) => {
      const { quarantineCommand } = await import("./quarantine-command.js");
      await quarantineCommand(flags);
    });

  withDatabase(
    withScope(
      program
        .command("forget")
        .description(
          "delete everything of a user or an app, or one conversation, for good; interrupted, the next run finishes it",
        ),
    ),
  )
    .option("--thread <id>", "only this conversation: what was learned in it stays")
    .option("--with-memories", "with --thread: also what was learned in it")
    .option("--dry-run", "only count what would go")
    .option("--yes", "do not ask")
    .action(async (flags: ForgetFlags) => {
      const { forgetCommand } = await import("./forget-command.js");
      await forgetCommand(flags);
    });

  withDatabase(
    withScope(program.command("export").description("write what is kept of a user or an app, as JSON lines")),
  )
    .option("--out <file>", "write to a file instead of standard output")
    .action(async (flags: ExportFlags) => {
      const { exportCommand } = await import("./export-command.js");
      await exportCommand(flags);
    });

  withDatabase(
    program
      .command("import")
      .description(
        "read an export; what is there stays as it is, and an interrupted import goes on where it was",
      ),
  )
    .argument("<file>", 'the export, or "-" for standard input')
    .addOption(
      new Option(
        "--trust <level>",
        "operator: you vouch for the file, and all it says of trust and consent is kept (default: untrusted)",
      ).choices(["untrusted", "operator"]),
    )
    .option("--user <id>", "make it this user's (default: whose it was)")
    .option("--app <id>", "make it this app's")
    .option("--tenant <id>", "the tenant of either")
    .option("--config <file>", "YAML file with the application's settings, such as its language")
    .action(async (file: string, flags: ImportFlags) => {
      const { importCommand } = await import("./import-command.js");
      await importCommand(file, flags);
    });

  withDatabase(program.command("prune").description("delete superseded checkpoints of LangGraph"))
    .requiredOption("--keep-last <count>", "checkpoints of each thread that stay", wholeNumber(1_000_000))
    .option("--older-than <age>", "only checkpoints older than this: 30d, 12h, 45m", age)
    .option("--thread <id>", "only this thread")
    .option("--user <id>", "only threads of this user")
    .option("--app <id>", "only threads of this app, or of the user in it")
    .option("--tenant <id>", "the tenant of either")
    .option("--dry-run", "only count what would go")
    .action(async (flags: PruneFlags) => {
      const { pruneCommand } = await import("./prune-command.js");
      await pruneCommand(flags);
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

const unitMs = { d: dayMs, h: 3_600_000, m: 60_000 };

function age(text: string): number {
  const [, count, unit] = /^(\d{1,9})([dhm])$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * unitMs[unit as keyof typeof unitMs];
  throw new InvalidArgumentError("It must be a number of days, hours or minutes, such as 30d, 12h or 45m.");
}

function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
