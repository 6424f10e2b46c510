import { readFileSync } from "node:fs";
import { Command } from "commander";
import { appsCommand } from "./apps-command.js";
import { pinCommand, removeCommand, restoreCommand, revertCommand, unpinCommand } from "./change-commands.js";
import { consentsCommand } from "./consents-command.js";
import { exportCommand } from "./export-command.js";
import { forgetCommand } from "./forget-command.js";
import { historyCommand } from "./history-command.js";
import { importCommand } from "./import-command.js";
import { importStoreCommand } from "./import-store-command.js";
import { inspectCommand } from "./inspect-command.js";
import { jobsCommand } from "./jobs-command.js";
import { addCommand, listCommand, showCommand } from "./memories-commands.js";
import { migrateCommand } from "./migrate-command.js";
import { notesCommand } from "./notes-command.js";
import { oneLine } from "./output.js";
import { mergeCommand, usersCommand } from "./owners-commands.js";
import { quarantineCommand } from "./quarantine-command.js";
import { reembedCommand } from "./reembed-command.js";
import { searchCommand } from "./search-command.js";
import { mcpCommand, serveCommand } from "./serve-commands.js";
import { statsCommand } from "./stats-command.js";
import { statusCommand } from "./status-command.js";
import { threadsCommand } from "./threads-command.js";
import { summariesCommand, upkeepCommand } from "./work-commands.js";
import { workerCommand } from "./worker-command.js";

/** In the order of the help. */
const commands = [
  ...[
    migrateCommand,
    statusCommand,
    statsCommand,
    usersCommand,
    appsCommand,
    threadsCommand,
    summariesCommand,
  ],
  ...[searchCommand, listCommand, showCommand, historyCommand, addCommand, removeCommand, restoreCommand],
  ...[
    revertCommand,
    pinCommand,
    unpinCommand,
    consentsCommand,
    quarantineCommand,
    mergeCommand,
    notesCommand,
    forgetCommand,
  ],
  ...[
    exportCommand,
    importCommand,
    importStoreCommand,
    upkeepCommand,
    workerCommand,
    jobsCommand,
    reembedCommand,
  ],
  ...[inspectCommand, serveCommand, mcpCommand],
];

/** The command line. Its actions throw; what to do with errors is up to the caller. */
export function createProgram(): Command {
  const program = new Command("mnemograph")
    .description("Long-term memory for LangGraph.js agents, kept in PostgreSQL.")
    .version(packageVersion())
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text)}\n`) })
    .addHelpText("after", helpEnd());
  for (const { name, description, flags, run } of commands) {
    flags(program.command(name).description(description)).action(
      run as (...given: unknown[]) => Promise<void>,
    );
  }
  return program;
}

/** Where the words about an example begin; a longer example has none. */
const exampleColumns = 40;

function helpEnd(): string {
  const examples = commands.flatMap((command) => command.examples);
  const lines = examples.map(
    ([line, does]) =>
      `  $ mnemograph ${does === undefined ? line : `${line.padEnd(exampleColumns)} ${does}`}`,
  );
  return `
Examples:
${lines.join("\n")}

Exit code: 0 on success; 2 when used wrongly; 1 on any other error, and for \`status\` also when the tables are
not up to date.`;
}

function packageVersion(): string {
  const file = new URL("../../package.json", import.meta.url);
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
