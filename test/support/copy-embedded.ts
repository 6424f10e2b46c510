import { cpSync } from "node:fs";
import { inject } from "vitest";

/** Makes `folder` a set-up embedded database, by a copy. Only in runs on the embedded database. */
export function copyEmbedded(folder: string): void {
  const template = inject("embedded");
  if (!template)
    throw new Error("A run on a server has no embedded database to copy. Skip this test there.");
  cpSync(template.dataDir, folder, { recursive: true });
}
