#!/usr/bin/env node
import { CommanderError } from "commander";
import { oneLine } from "./output.js";

/** 0: help or version; 2: wrong usage; 1: any other error. */
function exitCodeOf(error: unknown): 0 | 1 | 2 {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const { code } = Object(error) as { readonly code?: unknown };
  return code === "INVALID_INPUT" || code === "SCOPE_REQUIRED" ? 2 : 1;
}

// The reader closed the pipe, such as `head`.
process.stdout.on("error", () => process.exit(1));

try {
  // Not at the top: on a Node that is too old, what it imports says so in an error.
  const { createProgram } = await import("./program.js");
  await createProgram().parseAsync();
} catch (error) {
  // Commander has already reported wrong arguments.
  if (!(error instanceof CommanderError))
    process.stderr.write(
      `mnemograph: ${oneLine(error instanceof Error ? error.message : String(error))}\n`,
    );
  process.exitCode = exitCodeOf(error);
}
// Exits after printing, since modules of embeddings may hold timers or connections.
process.stdout.write("", () => process.exit());
