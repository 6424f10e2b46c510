import { CommanderError } from "commander";
import { MemoryError } from "../errors.js";

/** 0 when help or the version was asked for, 2 when the program was used wrongly, else 1. */
export function exitCodeOf(error: unknown): 0 | 1 | 2 {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  return MemoryError.is(error, "INVALID_INPUT") || MemoryError.is(error, "SCOPE_REQUIRED") ? 2 : 1;
}
