import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compileSources } from "./compile-sources.js";

/**
 * Runs a program of this repository as the package is published: compiled, and without the wrapper
 * that tsx puts around each function. A benchmark would measure that too, and only of our code.
 *
 * Usage: tsx scripts/run-compiled.ts [options of node] bench/recall.ts [arguments]
 */
const args = process.argv.slice(2);
const at = args.findIndex((arg) => arg.endsWith(".ts"));
if (at < 0) throw new Error("Name the program to run: tsx scripts/run-compiled.ts bench/recall.ts");
const parent = await mkdtemp(join(tmpdir(), "mnemograph-compiled-"));
try {
  const folder = join(parent, "compiled");
  await compileSources(folder);
  const program = join(folder, (args[at] as string).replace(/\.ts$/, ".js"));
  const run = [...args.slice(0, at), program, ...args.slice(at + 1)];
  const child = spawn(process.execPath, run, { stdio: "inherit" });
  // The terminal tells both: this one waits until the program has closed what it opened.
  process.on("SIGINT", () => {});
  const [code] = await once(child, "exit");
  process.exitCode = code ?? 1;
} finally {
  await rm(parent, { recursive: true, force: true });
}
