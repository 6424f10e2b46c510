import { cpSync } from "node:fs";
import { inject } from "vitest";

/**
 * Makes `folder` a set-up embedded database, without the seconds that making one from nothing takes. Only in runs on
 * the embedded database.
 */
export function copyEmbedded(folder: string): void {
  const template = inject("embedded");
  if (!template) throw new Error("There are no folders in a run on a server.");
  cpSync(template.dataDir, folder, { recursive: true });
}
