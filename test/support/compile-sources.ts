import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import ts from "typescript";

const repository = resolve(import.meta.dirname, "../..");

/**
 * Puts the JavaScript of this repository's programs into a new folder, laid out as the repository is.
 *
 * Tests start dozens of them: compiling as each starts would take longer than most of what they do.
 */
export function compileSources(folder: string): void {
  mkdirSync(folder);
  for (const name of ["node_modules", "migrations", "package.json"]) {
    symlinkSync(join(repository, name), join(folder, name));
  }
  const files = ["src", "examples", "test/support"].flatMap((top) =>
    readdirSync(join(repository, top), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => join(repository, top, name)),
  );
  const { diagnostics } = ts
    .createProgram(files, {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      // Each file for itself: the types are not what is tested.
      ...{ noCheck: true, noLib: true, noResolve: true, types: [] },
      rootDir: repository,
      outDir: folder,
    })
    .emit();
  if (diagnostics.length > 0) {
    throw new Error(ts.formatDiagnostics(diagnostics, ts.createCompilerHost({})));
  }
}
