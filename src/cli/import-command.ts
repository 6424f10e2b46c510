import { accessSync, constants, createReadStream, statSync } from "node:fs";
import { MemoryError } from "../errors.js";
import type { Imported } from "../transfer/import-lines.js";
import { type CliCommand, type MemoryFlags, withDatabase, withScope } from "./flags.js";
import { aligned, print, progressBar } from "./output.js";
import { useMemory } from "./use-memory.js";

/** `mnemograph import`: writes an export, from a file or from standard input ("-"). */
export const importCommand: CliCommand = {
  name: "import",
  description: "restore an export into an empty scope; an interrupted import is run again",
  examples: [
    ["import ana.jsonl", "into this database; - reads standard input"],
    ["import ana.jsonl --user eve", "as another user's"],
  ],
  flags: (command) =>
    withDatabase(withScope(command, "make it this user's (default: whose it was)"))
      .argument("<file>", 'the export, or "-" for standard input')
      .option("--config <file>", "YAML file with the application's settings, such as its language"),
  run: importLines,
};

/** @throws MemoryError as `memory.import` does. */
async function importLines(file: string, flags: MemoryFlags): Promise<void> {
  const total = file === "-" ? null : sizeOf(file);
  const bar = progressBar(flags);
  const { splitLines } = await import("../transfer/read-export.js");
  const { scopeOf } = await import("./open-memory.js");
  const named = [flags.tenant, flags.user, flags.app].some((id) => id !== undefined);
  const scope = named ? scopeOf(flags) : undefined;
  const imported = await useMemory(flags, async (memory) => {
    const input = file === "-" ? process.stdin : createReadStream(file);
    let done = 0;
    // Of standard input nobody knows how many bytes will come.
    if (total !== null)
      input.on("data", (chunk: Buffer) => {
        done += chunk.length;
        bar.update({ done, total });
      });
    try {
      return await memory.import(splitLines(input), scope && { scope });
    } finally {
      bar.stop();
      input.destroy();
    }
  });
  print(flags, imported, () => describe(imported));
}

function describe(imported: Imported): string {
  const { lines, total, written, quarantined } = imported;
  return [
    `Imported ${total} of ${lines} lines.`,
    ...aligned(Object.entries(written)),
    ...(quarantined > 0
      ? [
          `${quarantined} memories wait in quarantine: mnemograph call listMemories --json '{"states":["quarantined"]}'`,
        ]
      : []),
  ].join("\n");
}

/** @throws MemoryError `INVALID_INPUT` */
function sizeOf(file: string): number {
  try {
    accessSync(file, constants.R_OK);
    const stats = statSync(file);
    if (stats.isFile()) return stats.size;
  } catch (cause) {
    throw new MemoryError("INVALID_INPUT", `${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
  throw new MemoryError("INVALID_INPUT", `${file} is no file. For standard input write "-".`);
}
