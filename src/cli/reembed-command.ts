import { MemoryError } from "../errors.js";
import { type CliCommand, type MemoryFlags, withMemory } from "./flags.js";
import { print, progressBar } from "./output.js";
import { useMemory } from "./use-memory.js";

/** `mnemograph reembed`: the vectors that memories and items lack; what `memory.reembed()` does. */
export const reembedCommand: CliCommand = {
  name: "reembed",
  description:
    "make the vectors that active memories and items of the store lack; interrupted, it goes on where it was",
  examples: [["reembed --embeddings ./embeddings.js", "after a change of the embedding model"]],
  flags: withMemory,
  run: reembed,
};

/** @throws MemoryError as `memory.reembed()` does. */
async function reembed(flags: MemoryFlags): Promise<void> {
  if (flags.embeddings === undefined)
    throw new MemoryError("INVALID_INPUT", "reembed needs --embeddings MODULE.");
  const bar = progressBar(flags);
  const result = await useMemory(flags, (memory) =>
    memory.reembed({ onProgress: bar.update }).finally(bar.stop),
  ).catch((error: unknown) => {
    if (!MemoryError.is(error, "SETUP_REQUIRED")) throw error;
    const what =
      "The tables of memories or of their vectors are missing. Run `mnemograph migrate --vectors`.";
    throw new MemoryError("SETUP_REQUIRED", what, { cause: error });
  });
  const { space, dimensions, embedded, remaining } = result;
  const left = remaining > 0 ? ` ${remaining} were being changed: run it again.` : "";
  print(
    flags,
    result,
    () => `Embedded ${embedded} memories and items in ${space} (${dimensions} dimensions).${left}`,
  );
}
