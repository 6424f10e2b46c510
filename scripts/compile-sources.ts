import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const repository = resolve(import.meta.dirname, "..");

/**
 * Puts the JavaScript of this repository's programs into a new folder, laid out as the repository
 * is, and their packages beside it.
 *
 * Compiled as they start, each would take longer than most tests, and what a loader wraps its
 * functions in would be measured.
 */
export async function compileSources(folder: string): Promise<void> {
  mkdirSync(folder);
  for (const name of ["src/transcript", "src/search", "src/screening", "src/text"])
    mkdirSync(join(folder, name), { recursive: true });
  const functions = ["src/transcript", "src/search"].flatMap((name) =>
    readdirSync(join(repository, name)).flatMap((file) =>
      file.endsWith(".sql") ? `${name}/${file}` : [],
    ),
  );
  // What is not in the folder's own packages is found beside the folder.
  const packages = join(folder, "../node_modules");
  if (!existsSync(packages)) symlinkSync(join(repository, "node_modules"), packages);
  for (const name of [
    ...["migrations", "src/screening/screening.json", "src/text/letters.json", "package.json"],
    ...functions,
  ]) {
    symlinkSync(join(repository, name), join(folder, name));
  }
  // The packages import each other by name: there their builds are what is compiled here.
  symlinkSync("src", join(folder, "dist"));
  mkdirSync(join(folder, "node_modules/@mnemograph"), { recursive: true });
  symlinkSync(folder, join(folder, "node_modules/mnemograph"));
  for (const name of ["server", "ai-sdk"]) {
    const place = join(folder, "packages", name);
    mkdirSync(place, { recursive: true });
    symlinkSync(join(repository, "packages", name, "package.json"), join(place, "package.json"));
    symlinkSync("src", join(place, "dist"));
    symlinkSync(place, join(folder, "node_modules/@mnemograph", name));
  }
  const compiler = join(repository, "node_modules/typescript/bin/tsc");
  const project = join(repository, "tsconfig.programs.json");
  await promisify(execFile)(process.execPath, [compiler, "-p", project, "--outDir", folder]);
}
