import { accessSync, constants, createReadStream, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { MemoryError } from "../errors.js";
import type { ImportTrust } from "../transfer/lower-line.js";
import { splitLines } from "../transfer/read-export.js";
import { type MemoryFlags, type ScopeFlags, scopeOf, useMemory } from "./memory-flags.js";
import { aligned, type ProgressBar, progressBar } from "./output.js";

/** Flags of `import`. */
export interface ImportFlags extends MemoryFlags, ScopeFlags {
  readonly trust?: ImportTrust;
}

/**
 * `mnemograph import`: writes an export, from a file or from standard input ("-").
 *
 * @throws MemoryError `INVALID_INPUT` that names the line, `ID_TAKEN`, `THREAD_DIFFERS`
 */
export async function importCommand(file: string, flags: ImportFlags): Promise<void> {
  const { tenant, user, app, trust } = flags;
  const remapped = [tenant, user, app].some((id) => id !== undefined);
  const size = file === "-" ? null : sizeOf(file);
  const bar = progressBar(flags);
  const imported = await useMemory(flags, async (memory) => {
    const input = file === "-" ? process.stdin : createReadStream(file);
    try {
      const lines = splitLines(watched(input, size, bar));
      return await memory.import(lines, { trust, ...(remapped && { scope: scopeOf(flags) }) });
    } finally {
      bar.stop();
      input.destroy();
    }
  });
  if (flags.json) {
    console.log(JSON.stringify(imported));
    return;
  }
  const { lines, total, written, withheld } = imported;
  const printed = [
    `Imported ${total} of ${lines} lines; the others were there.`,
    ...aligned(Object.entries(written)),
    ...(withheld ? [heldBack, ...aligned(Object.entries(withheld))] : []),
  ];
  console.log(printed.join("\n"));
}

const heldBack =
  "Not taken at their word, since nobody vouches for the file (memories wait: see `mnemograph quarantine`):";

/** `input`, which moves the bar by the bytes that were read; of standard input nobody knows how many will come. */
function watched(input: Readable, size: number | null, bar: ProgressBar): Readable {
  if (size === null) return input;
  let done = 0;
  input.on("data", (chunk: Buffer) => {
    done += chunk.length;
    bar.update({ done, total: size });
  });
  return input;
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
