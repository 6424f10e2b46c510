#!/usr/bin/env node
import { createProgram } from "./program.js";

try {
  await createProgram().parseAsync();
} catch (error) {
  // One line: for people, logs and scripts alike. A stack says nothing to who runs a command.
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`mnemograph: ${message.replaceAll(/\s*\n\s*/g, " ")}\n`);
  process.exitCode = 1;
}
