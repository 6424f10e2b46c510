import { MemoryError } from "../errors.js";
import type { Memory } from "../memory.js";
import { type CliCommand, type MemoryFlags, wholeNumber, withMemory } from "./flags.js";
import { print, progressBar } from "./output.js";
import { useMemory } from "./use-memory.js";

/** `mnemograph reembed`: the vectors that memories and items lack; what `memory.reembed()` does. */
export const reembedCommand: CliCommand = {
  name: "reembed",
  description:
    "make the vectors that active memories and items of the store lack; interrupted, it goes on where it was",
  examples: [["reembed --embeddings ./embeddings.js", "after a change of the embedding model"]],
  flags: (command) =>
    withMemory(
      command,
      "file or package that exports LangChain embeddings as default or as `embeddings` (required)",
    ).option("--batch-size <count>", "texts in one call of the model (default: 100)", wholeNumber(1_000)),
  run: reembed,
};

type ReembedFlags = MemoryFlags & { readonly batchSize?: number };

/** @throws MemoryError as `memory.reembed()` does. */
async function reembed(flags: ReembedFlags): Promise<void> {
  if (flags.embeddings === undefined) {
    throw new MemoryError("INVALID_INPUT", "reembed needs --embeddings MODULE.");
  }
  const result = await useMemory(flags, (memory) => fillIn(memory, flags));
  const { space, dimensions, embedded, remaining } = result;
  const left = remaining > 0 ? ` ${remaining} were being changed: run it again.` : "";
  print(
    flags,
    result,
    () => `Embedded ${embedded} memories and items in ${space} (${dimensions} dimensions).${left}`,
  );
}

async function fillIn(memory: Memory, flags: ReembedFlags) {
  const bar = progressBar(flags);
  try {
    return await memory.reembed({ batchSize: flags.batchSize, onProgress: bar.update });
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
