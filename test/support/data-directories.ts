import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { copyEmbedded } from "./copy-embedded.js";

/** Makes folders with a set-up embedded database. Only in runs on the embedded database. */
export function useDataDirectories(): (name: string) => string {
  let root = "";
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "mnemograph-data-"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return (name) => {
    const dataDir = join(root, name);
    copyEmbedded(dataDir);
    return dataDir;
  };
}
