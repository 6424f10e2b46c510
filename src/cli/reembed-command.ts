import { MemoryError } from "../errors.js";
import type { Memory } from "../memory.js";
import { type MemoryFlags, useMemory } from "./memory-flags.js";
import { progressBar } from "./output.js";

/**
 * `mnemograph reembed`: the vectors that memories lack; what `memory.reembed()` does.
 *
 * @throws MemoryError as `memory.reembed()` does.
 */
export async function reembedCommand(flags: MemoryFlags & { readonly batchSize?: number }): Promise<void> {
  if (flags.embeddings === undefined) {
    throw new MemoryError("INVALID_INPUT", "reembed needs --embeddings MODULE.");
  }
  const result = await useMemory(flags, (memory) => reembed(memory, flags));
  if (flags.json) {
    console.log(JSON.stringify(result));
    return;
  }
  const { space, dimensions, embedded, remaining } = result;
  const left = remaining > 0 ? ` ${remaining} were being changed: run it again.` : "";
  console.log(`Embedded ${embedded} memories in ${space} (${dimensions} dimensions).${left}`);
}

async function reembed(memory: Memory, { json, batchSize }: MemoryFlags & { readonly batchSize?: number }) {
  const bar = progressBar({ ...(json && { json }) });
  try {
    return await memory.reembed({ batchSize, onProgress: bar.update });
  } catch (error) {
    if (!MemoryError.is(error, "SETUP_REQUIRED")) throw error;
    throw new MemoryError(
      "SETUP_REQUIRED",
      "The tables of memories or of their vectors are missing. Run `mnemograph migrate --vectors`.",
      { cause: error },
    );
  } finally {
    bar.stop();
  }
}
