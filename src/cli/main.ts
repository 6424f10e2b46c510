#!/usr/bin/env node
import { CommanderError } from "commander";
import { MemoryError, messageOf } from "../errors.js";
import { oneLine } from "./output.js";
import { createProgram } from "./program.js";

/** 0: help or version; 2: wrong usage; 1: any other error. */
export function exitCodeOf(error: unknown): 0 | 1 | 2 {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return MemoryError.is(error, "INVALID_INPUT") || MemoryError.is(error, "SCOPE_REQUIRED") ? 2 : 1;
}

// The reader closed the pipe, such as `head`.
process.stdout.on("error", () => process.exit(1));

try {
  await import("../node-version.js");
  await createProgram().parseAsync();
} catch (error) {
  // Commander has already reported wrong arguments.
  if (!(error instanceof CommanderError))
    process.stderr.write(`mnemograph: ${oneLine(messageOf(error))}\n`);
  process.exitCode = exitCodeOf(error);
}
// Exits after printing, since modules of embeddings may hold timers or connections.
process.stdout.write("", () => process.exit());
