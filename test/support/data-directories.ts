import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, inject } from "vitest";
import { openEmbeddedPool } from "../../src/database/embedded-pool.js";

/**
 * Folders with a set-up embedded database. Only in runs on the embedded database.
 *
 * @returns makes a folder of that name.
 */
export function useDataDirectories(): (name: string) => string {
  let root = "";
  beforeAll(async () => {
    const dump = inject("embeddedDump");
    if (dump === null) return;
    root = mkdtempSync(join(tmpdir(), "mnemograph-data-"));
    // Starting from the dump saves each folder the four seconds that a new database takes.
    const loadDataDir = new Blob([readFileSync(dump)]);
    const template = openEmbeddedPool({ dataDir: join(root, "template"), loadDataDir });
    await template.pool.query("select 1");
    await template.close();
  });
  afterAll(() => {
    if (root !== "") rmSync(root, { recursive: true, force: true });
  });
  return (name) => {
    const dataDir = join(root, name);
    cpSync(join(root, "template"), dataDir, { recursive: true });
    return dataDir;
  };
}
