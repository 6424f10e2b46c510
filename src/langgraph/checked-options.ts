import { z } from "zod";
import { parseInput } from "../domain/parse-input.js";
import { MemoryError } from "../errors.js";
import type { Memory } from "../memory.js";
import { recallModeSchema } from "../options.js";
import { injectAsSchema } from "./model-view.js";

/** Options that several ways in share. */
export const sharedOptions = z.strictObject({
  session: z.enum(["full", "bounded"]).optional(),
  injectAs: injectAsSchema.optional(),
  onError: z.enum(["continue", "throw"]).optional(),
  agent: z.string().min(1).optional(),
  memoryMode: recallModeSchema.optional(),
});

/**
 * Sees to it that `memory` is one and that `options` are what `schema` knows: a misspelt option would be left out
 * without a word, and with it an allowlist.
 *
 * @param what whose options they are, for the error: "withMemory".
 * @throws MemoryError `INVALID_INPUT`
 */
export function checkOptions(memory: Memory, schema: z.ZodType, options: unknown, what: string): void {
  if (typeof memory?.recall !== "function") {
    throw new MemoryError("INVALID_INPUT", `${what} needs a memory: pass what createMemory returns.`);
  }
  parseInput(schema, options, `options of ${what}`);
}
