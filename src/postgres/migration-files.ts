import { readdirSync, readFileSync } from "node:fs";

/** A numbered `.sql` file. */
export interface MigrationFile {
  /** Without ".sql". */
  readonly name: string;
  readonly statements: string;
}

/**
 * The files of a folder of `migrations/` in their order; "" is that itself.
 *
 * In the published package the build puts a module in the place of this one that has the texts in it
 * (`scripts/bundle.ts`): bundlers leave files behind, and what is bundled is moved.
 */
export function migrationFiles(folder: string): MigrationFile[] {
  const directory = new URL(`../../migrations/${folder && `${folder}/`}`, import.meta.url);
  const files = readdirSync(directory).filter((file) => file.endsWith(".sql"));
  return files.sort().map((file) => ({
    name: file.replace(/\.sql$/, ""),
    // Git on Windows may have changed the line ends.
    statements: readFileSync(new URL(file, directory), "utf8").replaceAll("\r\n", "\n"),
  }));
}
