import { createRequire } from "node:module";
import { Command } from "commander";
import { callCommand } from "./call-command.js";
import { migrateCommand, reembedCommand, upkeepCommand } from "./database-commands.js";
import { doctorCommand } from "./doctor-command.js";
import { evalCommand } from "./eval-command.js";
import { oneLine } from "./output.js";
import { searchCommand } from "./search-command.js";
import { inspectCommand, mcpCommand, serveCommand } from "./serve-commands.js";
import { exportCommand, forgetCommand, importCommand } from "./transfer-commands.js";
import { verifyCommand } from "./verify-command.js";
import { workerCommand } from "./worker-command.js";

const { version } = createRequire(import.meta.url)("@mnemograph/server/package.json");

const commands = [
  migrateCommand,
  doctorCommand,
  searchCommand,
  callCommand,
  inspectCommand,
  serveCommand,
  mcpCommand,
  workerCommand,
  upkeepCommand,
  reembedCommand,
  exportCommand,
  importCommand,
  forgetCommand,
  verifyCommand,
  evalCommand,
];

/** Its actions throw; callers report the errors. */
export function createProgram(): Command {
  const program = new Command("mnemograph")
    .description("Long-term memory for LangGraph.js agents, kept in PostgreSQL.")
    .version(version)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(`${oneLine(text)}\n`) })
    .addHelpText("after", helpEnd());
  for (const { name, description, flags, run } of commands) {
    const command = flags(program.command(name).description(description));
    command.action(run as (...given: unknown[]) => Promise<void>);
  }
  return program;
}

const exampleColumns = 40;

function helpEnd(): string {
  const examples = commands.flatMap((command) => command.examples);
  const lines = examples.map(([line, does = ""]) =>
    `  $ npx @mnemograph/server ${line.padEnd(exampleColumns)} ${does}`.trimEnd(),
  );
  return `
Examples:
${lines.join("\n")}

Exit code: 0 on success; 2 when used wrongly; 1 on any other error, and for \`doctor\` when anything is bad.`;
}
