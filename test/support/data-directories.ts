import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, inject } from "vitest";

/**
 * Folders with a set-up embedded database. Only in runs on the embedded database.
 *
 * @returns makes a folder of that name.
 */
export function useDataDirectories(): (name: string) => string {
  let root = "";
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "mnemograph-data-"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return (name) => {
    const template = inject("embedded");
    if (!template) throw new Error("There are no folders in a run on a server.");
    const dataDir = join(root, name);
    cpSync(template.dataDir, dataDir, { recursive: true });
    return dataDir;
  };
}
