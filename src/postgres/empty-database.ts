import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, constants } from "node:zlib";

/** Where the build puts the empty database of a version of the engine (`scripts/make-empty-database.ts`). */
export const emptyDatabaseName = (engineVersion: string): string => `empty-database-${engineVersion}.tar.br`;

/** The build compresses with a window that finds the copies of the template database in each other. */
export const windowBits = 26;

/** Beside a built chunk; in a clone, what was built there, or what its tests keep. */
const places = ["./", "../../dist/", "../../node_modules/.cache/mnemograph/"];

/** What databases in memory start from, by version of the engine. It takes 40 MB, and none of what each adds. */
const kept = new Map<string, Blob>();

/**
 * An embedded database without tables, made by the build, to start a new one from: that takes a fifth of the processor
 * time that making one does. Undefined where there is none: in a clone that was never built or tested, in a bundle, for
 * another version of the engine.
 */
export function emptyDatabase(engineVersion: string | undefined): Blob | undefined {
  // Undefined where a bundler made CommonJS of this file.
  const place: string | undefined = import.meta.url;
  if (engineVersion === undefined || !place?.startsWith("file:")) return undefined;
  const name = emptyDatabaseName(engineVersion);
  const path = places.map((folder) => fileURLToPath(new URL(folder + name, place))).find(existsSync);
  if (path === undefined) return undefined;
  const params = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 };
  try {
    return new Blob([brotliDecompressSync(readFileSync(path), { params })]);
  } catch {
    return undefined;
  }
}

/** The same, read once in a process: those who want a database in memory seldom want only one. */
export function sharedEmptyDatabase(engineVersion: string | undefined): Blob | undefined {
  if (engineVersion === undefined) return undefined;
  const found = kept.get(engineVersion) ?? emptyDatabase(engineVersion);
  if (found) kept.set(engineVersion, found);
  return found;
}

/** Starts later databases in memory from `dump`, which has no tables. */
export function shareEmptyDatabase(engineVersion: string | undefined, dump: Blob): void {
  if (engineVersion !== undefined) kept.set(engineVersion, dump);
}
