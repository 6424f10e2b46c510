import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import satisfies from "semver/functions/satisfies.js";
import { MemoryError } from "./errors.js";
import { attempt } from "./input/plain-json.js";

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const readManifest = (path: string | URL): Manifest => JSON.parse(readFileSync(path, "utf8"));

/** Where packages are looked for. Bundlers may have moved this file or changed its format. */
const lookupPlaces = () =>
  [import.meta.url, process.argv[1], join(process.cwd(), "package.json")].flatMap(
    (place) => place || [],
  );

/** @throws the error of the first place */
function fromFirstPlace<Found>(find: (require: NodeJS.Require) => Found): Found {
  let failure: unknown;
  for (const place of lookupPlaces()) {
    try {
      return find(createRequire(place));
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

/** Loads an optional package, hidden from bundlers. @throws the error of the first place */
export const requirePeer = <Module>(path: string): Module =>
  fromFirstPlace((require) => require(path));

/** The file that `requirePeer` would load. @throws the error of the first place */
export const resolvePeer = (path: string): string =>
  fromFirstPlace((require) => require.resolve(path));

export function installedVersion(name: string): string | undefined {
  const path = lookupPlaces()
    .flatMap((place) => attempt(() => createRequire(place).resolve.paths(name)) ?? [])
    .map((folder) => join(folder, name, "package.json"))
    .find(existsSync);
  return path && readManifest(path).version;
}

/** Each request over MCP makes a server, which asks again. */
const checkedPeers = new Set<string>();

/**
 * Refuses a version that this package does not work with. In a bundle it checks nothing: the
 * versions there are not known.
 * @throws MemoryError `PEER_MISSING`
 */
export function checkPeer(name: string): void {
  if (checkedPeers.has(name)) return;
  const own = attempt(() => readManifest(new URL("../package.json", import.meta.url)));
  // In a bundle it is the one of an app.
  const range = own?.name === "mnemograph" ? own.peerDependencies?.[name] : undefined;
  const version = range && installedVersion(name);
  if (!version || satisfies(version, range, { includePrerelease: true }))
    return void checkedPeers.add(name);
  throw new MemoryError(
    "PEER_MISSING",
    `Mnemograph works with ${name} ${range}, but ${version} is installed: ` +
      `run \`npm install "${name}@${range}"\`.`,
  );
}

/**
 * For the `catch` of an import: with one, bundlers build without the package.
 * @param names as in `npm install`
 * @param orElse another way than `npm install`
 * @throws MemoryError `PEER_MISSING`
 */
export function refuseMissing(purpose: string, names: string, orElse = "") {
  return (cause: unknown): never => {
    const { code } = cause as { code?: unknown };
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw cause;
    const needed = `${purpose} needs ${names.replace(" ", " and ")}, which cannot be found`;
    const message = `${needed}: run \`npm install ${names}\`${orElse}.`;
    throw new MemoryError("PEER_MISSING", message, { cause });
  };
}
