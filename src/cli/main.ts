#!/usr/bin/env node
import { CommanderError } from "commander";
import { exitCodeOf } from "./exit-code.js";
import { oneLine } from "./one-line.js";
import { createProgram } from "./program.js";

// `mnemograph search … | head` closes the pipe: nobody is left to tell.
process.stdout.on("error", () => process.exit(1));

try {
  await createProgram().parseAsync();
} catch (error) {
  // One line: for people, logs and scripts alike. A stack says nothing to who runs a command.
  const message = error instanceof Error ? error.message : String(error);
  // What is wrong with the arguments was said already.
  if (!(error instanceof CommanderError)) process.stderr.write(`mnemograph: ${oneLine(message)}\n`);
  process.exitCode = exitCodeOf(error);
}
// A module of embeddings may hold timers or connections; what was printed goes out first.
process.stdout.write("", () => process.exit());
