import { createWriteStream, fchmodSync, openSync, renameSync, rmSync, type WriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
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
    let count = 0;
    const texts = async function* () {
      for await (const line of memory.export(scope)) {
        count++;
        yield `${JSON.stringify(line)}\n`;
      }
    };
    if (out === undefined) return pipeline(texts, process.stdout, { end: false });
    // Under its name only when it is whole.
    const part = `${out}.part`;
    try {
      await pipeline(texts, privateFile(part));
      renameSync(part, out);
    } finally {
      rmSync(part, { force: true });
    }
    print(flags, { file: out, lines: count }, () => `Exported ${count} lines to ${out}.`);
  });
}

/** A new file that only its owner may read, whatever the umask; what a killed run left there goes. */
function privateFile(path: string): WriteStream {
  rmSync(path, { force: true });
  const file = openSync(path, "wx", 0o600);
  fchmodSync(file, 0o600);
  return createWriteStream(path, { fd: file });
}
