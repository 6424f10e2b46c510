import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync, constants } from "node:zlib";
import { attempt } from "../input/plain-json.js";

export const emptyDatabaseName = (engineVersion: string): string =>
  `empty-database-${engineVersion}.tar.br`;

/** Large enough to compress the copies of the template database. */
export const windowBits = 26;

const dumpPlaces = ["./", "../../dist/", "../../node_modules/.cache/mnemograph/"];

/** Dumps by engine version, 40 MB each. In a bundle the version is unknown, and the same. */
const dumps = new Map<string | undefined, Blob>();

/** The empty database of the build: starting from it takes a fifth of the time. */
export function emptyDatabase(engineVersion: string | undefined): Blob | undefined {
  // Undefined in CommonJS bundles.
  const place: string | undefined = import.meta.url;
  if (engineVersion === undefined || !place?.startsWith("file:")) return undefined;
  const name = emptyDatabaseName(engineVersion);
  const path = dumpPlaces
    .map((folder) => fileURLToPath(new URL(folder + name, place)))
    .find(existsSync);
  if (path === undefined) return undefined;
  const params = { [constants.BROTLI_DECODER_PARAM_LARGE_WINDOW]: 1 };
  return attempt(() => new Blob([brotliDecompressSync(readFileSync(path), { params })]));
}

export function sharedEmptyDatabase(engineVersion: string | undefined): Blob | undefined {
  const found = dumps.get(engineVersion) ?? emptyDatabase(engineVersion);
  if (found) dumps.set(engineVersion, found);
  return found;
}

export function shareEmptyDatabase(engineVersion: string | undefined, dump: Blob): void {
  dumps.set(engineVersion, dump);
}
