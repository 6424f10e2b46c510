import { readFileSync } from "node:fs";

// The build replaces this module with one that contains the version (`scripts/bundle.ts`).
const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");

export const packageVersion = (JSON.parse(manifest) as { version: string }).version;
