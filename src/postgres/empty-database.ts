import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, constants } from "node:zlib";

export const emptyDatabaseName = (engineVersion: string): string => `empty-database-${engineVersion}.tar.br`;

/** Large enough to compress the copies of the template database. */
export const windowBits = 26;

/** Next to a built chunk, or in a clone of the repository. */
const places = ["./", "../../dist/", "../../node_modules/.cache/mnemograph/"];

/** Dumps by engine version, 40 MB each. */
const kept = new Map<string, Blob>();

/** The empty database of the build: starting from it takes a fifth of the time. */
export function emptyDatabase(engineVersion: string | undefined): Blob | undefined {
  // Undefined in CommonJS bundles.
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

export function sharedEmptyDatabase(engineVersion: string | undefined): Blob | undefined {
  if (engineVersion === undefined) return undefined;
  const found = kept.get(engineVersion) ?? emptyDatabase(engineVersion);
  if (found) kept.set(engineVersion, found);
  return found;
}

export function shareEmptyDatabase(engineVersion: string | undefined, dump: Blob): void {
  if (engineVersion !== undefined) kept.set(engineVersion, dump);
}
