import { readdirSync, readFileSync } from "node:fs";

export interface MigrationFile {
  readonly name: string;
  readonly text: string;
}

// The build replaces this module with one that contains the texts (`scripts/bundle.ts`).
export function migrationFiles(): MigrationFile[] {
  return ["../../migrations/", "../transcript/", "../search/"].flatMap((folder) => {
    const directory = new URL(folder, import.meta.url);
    const files = readdirSync(directory).filter((file) => file.endsWith(".sql"));
    return files.sort().map((file) => ({
      name: file.replace(/\.sql$/, ""),
      // Git on Windows changes line endings.
      text: readFileSync(new URL(file, directory), "utf8").replaceAll("\r\n", "\n"),
    }));
  });
}
