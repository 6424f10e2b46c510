import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { MemoryError } from "./errors.js";
import { attempt } from "./text/plain-json.js";

interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const readManifest = (path: string | URL): Manifest => JSON.parse(readFileSync(path, "utf8"));

/** Where packages are looked for. Bundlers may have moved this file or changed its format. */
const places = () =>
  [import.meta.url, process.argv[1], join(process.cwd(), "package.json")].flatMap(
    (place) => place || [],
  );

/** Loads an optional package, hidden from bundlers. @throws the error of the first place */
export function requirePeer<Module>(path: string): Module {
  let failure: unknown;
  for (const place of places()) {
    try {
      return createRequire(place)(path);
    } catch (error) {
      failure ??= error;
    }
  }
  throw failure;
}

export function installedVersion(name: string): string | undefined {
  const path = places()
    .flatMap((place) => attempt(() => createRequire(place).resolve.paths(name)) ?? [])
    .map((folder) => join(folder, name, "package.json"))
    .find(existsSync);
  return path && readManifest(path).version;
}

const checked = new Set<string>();

/**
 * Refuses a version that this package does not work with. In a bundle it checks nothing: the
 * versions there are not known.
 * @throws MemoryError `PEER_MISSING`
 */
export function checkPeer(name: string): void {
  if (checked.has(name)) return;
  const own = attempt(() => readManifest(new URL("../package.json", import.meta.url)));
  // In a bundle it is the one of an app.
  const range = own?.name === "mnemograph" ? own.peerDependencies?.[name] : undefined;
  const version = range && installedVersion(name);
  if (!version || isInRange(version, range)) return void checked.add(name);
  throw new MemoryError(
    "PEER_MISSING",
    `Mnemograph works with ${name} ${range}, but ${version} is installed: ` +
      `run \`npm install "${name}@${range}"\`.`,
  );
}

/** For ranges such as "^0.5.14" and "^1.19.9 || ^2.0.5". */
export function isInRange(version: string, range: string): boolean {
  const given = numbersOf(version);
  return range.split("||").some((part) => {
    const least = numbersOf(part);
    // A caret keeps the first number that is not 0.
    const kept = least.findIndex((number) => number > 0);
    const changed = least.findIndex((number, at) => number !== given[at]);
    return changed < 0 || (changed > kept && (given[changed] ?? 0) > (least[changed] ?? 0));
  });
}

const numbersOf = (version: string) => (version.match(/\d+/g) ?? []).slice(0, 3).map(Number);

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
