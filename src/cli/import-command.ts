import { accessSync, constants, createReadStream, statSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { MemoryError } from "../errors.js";
import { aligned } from "./aligned.js";
import { type MemoryFlags, type ScopeFlags, scopeOf, useMemory } from "./memory-flags.js";
import { type ProgressBar, progressBar } from "./progress-bar.js";

/**
 * `mnemograph import`: writes an export, from a file or from standard input ("-").
 *
 * @throws MemoryError `INVALID_INPUT` that names the line, `CONFLICT`
 */
export async function importCommand(file: string, flags: MemoryFlags & ScopeFlags): Promise<void> {
  const { tenant, user, app } = flags;
  const remapped = [tenant, user, app].some((id) => id !== undefined);
  const size = file === "-" ? null : sizeOf(file);
  const bar = progressBar(flags);
  const imported = await useMemory(flags, async (memory) => {
    const input = file === "-" ? process.stdin : createReadStream(file);
    try {
      const lines = createInterface({
        input: watched(input, size, bar),
        crlfDelay: Number.POSITIVE_INFINITY,
      });
      return await memory.import(lines, remapped ? { scope: scopeOf(flags) } : {});
    } finally {
      bar.stop();
      input.destroy();
    }
  });
  if (flags.json) {
    console.log(JSON.stringify(imported));
    return;
  }
  const { lines, total, written } = imported;
  console.log(
    [`Imported ${total} of ${lines} lines; the others were there.`, ...aligned(Object.entries(written))].join(
      "\n",
    ),
  );
}

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
