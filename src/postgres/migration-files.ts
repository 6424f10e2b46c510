import { readdirSync, readFileSync } from "node:fs";

/** A file of `migrations/`, or of `src/postgres/upgrade/`. */
export interface MigrationFile {
  /** Without ".sql". */
  readonly name: string;
  readonly text: string;
}

/**
 * The files of `migrations/` and `upgrade/`, each in the order of their names.
 *
 * In the published package the build puts a module in the place of this one that has the texts in it
 * (`scripts/bundle.ts`): bundlers leave files behind, and what is bundled is moved.
 */
export function migrationFiles(): MigrationFile[] {
  return ["../../migrations/", "upgrade/"].flatMap((folder) => {
    const directory = new URL(folder, import.meta.url);
    const files = readdirSync(directory).filter((file) => file.endsWith(".sql"));
    return files.sort().map((file) => ({
      name: file.replace(/\.sql$/, ""),
      // Git on Windows may have changed the line ends.
      text: readFileSync(new URL(file, directory), "utf8").replaceAll("\r\n", "\n"),
    }));
  });
}
