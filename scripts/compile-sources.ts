import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const repository = resolve(import.meta.dirname, "..");

/**
 * Puts the JavaScript of this repository's programs into a new folder, laid out as the repository
 * is.
 *
 * Compiled as they start, each would take longer than most tests, and what a loader wraps its
 * functions in would be measured.
 */
export async function compileSources(folder: string): Promise<void> {
  mkdirSync(folder);
  for (const name of ["src/conversation", "src/search", "src/text"])
    mkdirSync(join(folder, name), { recursive: true });
  const functions = ["src/conversation", "src/search"].flatMap((name) =>
    readdirSync(join(repository, name)).flatMap((file) =>
      file.endsWith(".sql") ? `${name}/${file}` : [],
    ),
  );
  for (const name of [
    ...["node_modules", "migrations", "src/text/screening.json", "package.json"],
    ...functions,
  ]) {
    symlinkSync(join(repository, name), join(folder, name));
  }
  // Examples import the package by its name: there its build is what is compiled here.
  symlinkSync("src", join(folder, "dist"));
  const compiler = join(repository, "node_modules/typescript/bin/tsc");
  const project = join(repository, "tsconfig.programs.json");
  await promisify(execFile)(process.execPath, [compiler, "-p", project, "--outDir", folder]);
}
