import {
  createReadStream,
  createWriteStream,
  fchmodSync,
  openSync,
  renameSync,
  rmSync,
} from "node:fs";
import { pipeline } from "node:stream/promises";
import type { Forgotten, Imported } from "mnemograph";
import { type CliCommand, type MemoryFlags, unreadable, withDatabase, withScope } from "./flags.js";
import { aligned, counted, oneLine, print, WrongUse } from "./output.js";
import { useMemory, useScope } from "./use-memory.js";

export const exportCommand: CliCommand = {
  name: "export",
  description: "write what is kept of a user or an app, as JSON lines",
  examples: [["export --user ana --out ana.jsonl", "what is kept of a user, as JSON lines"]],
  flags: (command) =>
    withDatabase(withScope(command)).option(
      "--out <file>",
      "write to a file instead of standard output",
    ),
  run: exportFile,
};

async function exportFile(flags: MemoryFlags & { readonly out?: string }): Promise<void> {
  const { out } = flags;
  await useScope(flags, async (memory, scope) => {
    let count = 0;
    const texts = async function* () {
      for await (const line of memory.export({ scope })) {
        count++;
        yield `${JSON.stringify(line)}\n`;
      }
    };
    if (out === undefined) return pipeline(texts, process.stdout, { end: false });
    // A killed run may have left this file.
    const part = `${out}.part`;
    rmSync(part, { force: true });
    try {
      const fd = openSync(part, "wx", 0o600);
      // Overrides the umask.
      fchmodSync(fd, 0o600);
      await pipeline(texts, createWriteStream(part, { fd }));
      renameSync(part, out);
    } finally {
      rmSync(part, { force: true });
    }
    print(
      flags,
      { file: out, lines: count },
      () => `Exported ${counted(count, "line")} to ${out}.`,
    );
  });
}

export const importCommand: CliCommand = {
  name: "import",
  description: "restore an export into an empty scope; an interrupted import is run again",
  examples: [
    ["import ana.jsonl", "into this database; - reads standard input"],
    ["import ana.jsonl --user eve", "for another user"],
  ],
  flags: (command) =>
    withDatabase(withScope(command, "the new owner (default: the exported one)"))
      .argument("<file>", 'the export, or "-" for standard input')
      .option("--config <file>", "YAML file with the application's settings, such as its language"),
  run: importFile,
};

/** @throws MemoryError as `memory.import` does; `INVALID_INPUT` for an unreadable file */
async function importFile(file: string, flags: MemoryFlags): Promise<void> {
  const { splitLines } = await import("mnemograph/contract");
  const { scopeOfFlags } = await import("./open-memory.js");
  const named = [flags.tenant, flags.user, flags.app].some((id) => id !== undefined);
  const scope = named ? scopeOfFlags(flags) : undefined;
  const imported = await useMemory(flags, (memory) =>
    memory.import({
      lines: splitLines(file === "-" ? process.stdin : bytesOfFile(file)),
      ...(scope && { scope }),
    }),
  );
  print(flags, imported, () => describeImported(imported));
}

async function* bytesOfFile(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file);
  } catch (cause) {
    if ((cause as { readonly syscall?: unknown }).syscall === undefined) throw cause;
    throw unreadable(file, cause);
  }
}

function describeImported({ lines, total, written, quarantined }: Imported): string {
  const listed = `npx @mnemograph/server call listMemories --json '{"states":["quarantined"]}'`;
  const waiting = quarantined > 0 ? [`Waiting in quarantine: ${quarantined} (${listed})`] : [];
  const summary = `Imported ${total} of ${counted(lines, "line")}.`;
  return [summary, ...aligned(Object.entries(written)), ...waiting].join("\n");
}

export const forgetCommand: CliCommand = {
  name: "forget",
  description:
    "delete everything of a user or an app, or one conversation, for good; run it again after an interruption",
  examples: [
    ["forget --user ana --dry-run", "what would go with a user; --yes deletes it for good"],
    ["forget --user ana --thread t1", "one conversation; what was learned in it stays"],
  ],
  flags: (command) =>
    withDatabase(withScope(command))
      .option("--thread <id>", "only this conversation: what was learned in it stays")
      .option("--with-memories", "with --thread: also what was learned in it")
      .option("--dry-run", "only count what would go")
      .option("--yes", "delete for good"),
  run: forgetOwner,
};

type ForgetFlags = MemoryFlags & {
  dryRun?: true;
  yes?: true;
  thread?: string;
  withMemories?: true;
};

/** @throws MemoryError `NOT_FOUND` for an unknown thread; `INVALID_INPUT` without --yes; `BUSY` */
async function forgetOwner(flags: ForgetFlags): Promise<void> {
  const { thread: threadId, withMemories } = flags;
  const needed =
    "--with-memories needs --thread ID. Without --thread, all memories are deleted anyway.";
  if (withMemories && threadId === undefined) throw new WrongUse(needed);
  await useScope(flags, async (memory, scope) => {
    const erase = (dryRun: boolean): Promise<Forgotten> => {
      if (threadId === undefined) return memory.forget({ scope, dryRun, actor: "cli" });
      const memories = withMemories ? "remove" : "keep";
      return memory.threads.delete({ scope, threadId, memories, dryRun });
    };
    const preview = await erase(true);
    if (flags.dryRun)
      return print(flags, preview, () => describeForgotten(preview, "Would forget"));
    const rows = counted(preview.total, "row");
    if (!flags.yes) throw new WrongUse(`This deletes ${rows} for good. To do so, add --yes.`);
    const forgotten = await erase(false);
    print(flags, forgotten, () => describeForgotten(forgotten, "Forgot"));
    if (!forgotten.complete) throw new Error("Others kept writing: run it again.");
  });
}

function describeForgotten({ removed, total, sharedThreads }: Forgotten, verb: string): string {
  const shared =
    `The checkpoints of ${counted(sharedThreads.length, "thread")} stay: another tenant uses the same thread ids ` +
    `(${oneLine(sharedThreads.slice(0, 5).join(", "))}).`;
  const rows = [`${verb} ${counted(total, "row")}.`, ...aligned(Object.entries(removed))];
  return [...rows, ...(sharedThreads.length > 0 ? [shared] : [])].join("\n");
}
