import { once } from "node:events";
import { createWriteStream, fchmodSync, openSync, renameSync, rmSync, type WriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import type { Memory } from "../memory.js";
import { type CliCommand, type MemoryFlags, withDatabase, withScope } from "./flags.js";
import { print } from "./output.js";
import { useScope } from "./use-memory.js";

/**
 * `mnemograph export`: what is kept of a user or an app as JSON lines, on standard output, or in a file that only its
 * owner may read.
 */
export const exportCommand: CliCommand = {
  name: "export",
  description: "write what is kept of a user or an app, as JSON lines",
  examples: [["export --user ana --out ana.jsonl", "what is kept of a user, as JSON lines"]],
  flags: (command) =>
    withDatabase(withScope(command)).option("--out <file>", "write to a file instead of standard output"),
  run: exportLines,
};

async function exportLines(flags: MemoryFlags & { readonly out?: string }): Promise<void> {
  const { out } = flags;
  await useScope(flags, async (memory, scope) => {
    const lines = memory.export(scope);
    if (out === undefined) {
      await write(lines, process.stdout, false);
      return;
    }
    const visible = !flags.json && process.stderr.isTTY === true;
    const count = await writePrivately(out, (file) => write(lines, file, visible));
    print(flags, { file: out, lines: count }, () => `Exported ${count} lines to ${out}.`);
  });
}

/** Has `write` fill a file that only its owner may read, and that is under its name only when it is whole. */
async function writePrivately<Result>(
  out: string,
  write: (file: WriteStream) => Promise<Result>,
): Promise<Result> {
  const part = `${out}.part`;
  try {
    const result = await write(privateFile(part));
    renameSync(part, out);
    return result;
  } finally {
    rmSync(part, { force: true });
  }
}

/** A new file that only its owner may read, whatever the umask; what a killed run left there goes. */
function privateFile(path: string): WriteStream {
  rmSync(path, { force: true });
  const file = openSync(path, "wx", 0o600);
  fchmodSync(file, 0o600);
  return createWriteStream(path, { fd: file });
}

async function write(
  lines: ReturnType<Memory["export"]>,
  to: NodeJS.WritableStream,
  visible: boolean,
): Promise<number> {
  let count = 0;
  const failed =
    to === process.stdout ? new Promise<never>(() => {}) : once(to, "error").then(([error]) => fail(error));
  failed.catch(() => {});
  for await (const line of lines) {
    if (!to.write(`${JSON.stringify(line)}\n`)) await Promise.race([once(to, "drain"), failed]);
    // How many there will be is known only at the end.
    if (++count % 1_000 === 0 && visible) process.stderr.write(`\r${count} lines`);
  }
  if (visible) process.stderr.write("\r\u001b[K");
  if (to === process.stdout) return count;
  to.end();
  await Promise.race([finished(to), failed]);
  return count;
}

function fail(error: unknown): never {
  throw error;
}
