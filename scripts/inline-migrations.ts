import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrationFiles } from "../src/postgres/migration-files.js";

/**
 * Puts the texts of `migrations/` into a built package: run after tsc, with the folder it built into.
 *
 * `npx tsx scripts/inline-migrations.ts dist`
 */
const built = process.argv[2] ?? "dist";
const folders = Object.fromEntries(["", "vector", "isolation"].map((name) => [name, migrationFiles(name)]));
const path = join(built, "postgres/migration-files.js");
writeFileSync(
  path,
  `// Made of migrations/ by scripts/inline-migrations.ts.
const folders = ${JSON.stringify(folders, null, 2)};
export function migrationFiles(folder) {
  return folders[folder];
}
`,
);
rmSync(`${path}.map`, { force: true });
