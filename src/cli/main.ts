#!/usr/bin/env node
import { CommanderError } from "commander";
import { MemoryError, messageOf } from "../errors.js";
import { oneLine } from "./output.js";
import { createProgram } from "./program.js";

/** 0 when help or the version was asked for, 2 when the program was used wrongly, else 1. */
export function exitCodeOf(error: unknown): 0 | 1 | 2 {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return MemoryError.is(error, "INVALID_INPUT") || MemoryError.is(error, "SCOPE_REQUIRED") ? 2 : 1;
}

// `mnemograph search … | head` closes the pipe: nobody is left to tell.
process.stdout.on("error", () => process.exit(1));

try {
  await createProgram().parseAsync();
} catch (error) {
  // One line: for people, logs and scripts alike. A stack says nothing to who runs a command.
  const message = messageOf(error);
  // What is wrong with the arguments was said already.
  if (!(error instanceof CommanderError)) process.stderr.write(`mnemograph: ${oneLine(message)}\n`);
  process.exitCode = exitCodeOf(error);
}
// A module of embeddings may hold timers or connections; what was printed goes out first.
process.stdout.write("", () => process.exit());
