import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from "node:fs";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Packages of other locks than the working tree's, by the hash of the lock. They are kept. */
const packageCache = join(tmpdir(), "mnemograph-bench-packages");

/** The hash of a commit that can be compared. */
export async function commitOf(ref: string): Promise<string> {
  const hash = await run("git", ["rev-parse", "--verify", "--end-of-options", `${ref}^{commit}`])
    .then(({ stdout }) => stdout.trim())
    .catch(() => {
      throw new Error(`"${ref}" is no commit of this repository.`);
    });
  await run("git", [
    "grep",
    "--quiet",
    "--fixed-strings",
    "-e",
    "--slices",
    hash,
    "--",
    "*.ts",
  ]).catch(() => {
    throw new Error(`"${ref}" has no benchmark with --slices. Name a later commit.`);
  });
  return hash;
}

/** Throws unless the packages of the working tree are those of its committed lock. */
export async function checkPackages(): Promise<void> {
  await run("git", ["diff", "--quiet", "HEAD", "--", "package-lock.json"]).catch(() => {
    throw new Error("package-lock.json has changes that are not committed. Commit them first.");
  });
  const packagesIn = (file: string): Readonly<Record<string, LockedPackage>> =>
    JSON.parse(readFileSync(file, "utf8")).packages;
  const { "": _, ...locked } = packagesIn("package-lock.json");
  const installed = packagesIn("node_modules/.package-lock.json");
  const isLocked = Object.entries(installed).every(
    ([path, { version }]) => path in locked && locked[path]?.version === version,
  );
  const isComplete = Object.entries(locked).every(
    ([path, { optional, devOptional }]) => path in installed || optional || devOptional,
  );
  if (!isLocked || !isComplete)
    throw new Error("node_modules has other packages than package-lock.json. Run `npm ci` first.");
}

interface LockedPackage {
  readonly version?: string;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

/** Writes the files of a commit and their packages into a new folder, and says which. */
export async function makeRefFolder(commit: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "mnemograph-bench-ref-"));
  try {
    const archive = join(folder, "commit.tar");
    await run("git", ["archive", "--output", archive, commit]);
    await run("tar", ["--extract", "--file", archive, "--directory", folder]);
    await rm(archive);
    linkPackages(await packagesFor(folder), join(folder, "node_modules"));
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
}

/** The folder with the packages of a folder's lock. */
async function packagesFor(folder: string): Promise<string> {
  const lockOf = (path: string) => readFileSync(join(path, "package-lock.json"));
  const lock = lockOf(folder);
  if (lock.equals(lockOf("."))) return join(process.cwd(), "node_modules");
  // Packages find each other only in a folder of this name.
  const cached = join(
    packageCache,
    createHash("sha256").update(lock).digest("hex"),
    "node_modules",
  );
  if (existsSync(cached)) return cached;
  console.error("Installing the packages of the commit");
  await run("npm", ["ci"], { cwd: folder }).catch((error: { stderr: string }) => {
    throw new Error(`\`npm ci\` failed in the commit: ${error.stderr.trim()}`);
  });
  mkdirSync(dirname(cached), { recursive: true });
  await rename(join(folder, "node_modules"), cached);
  return cached;
}

/**
 * Links the packages one by one: npm links those of workspaces to folders next to `node_modules`,
 * which must be this commit's.
 */
function linkPackages(from: string, to: string): void {
  mkdirSync(to);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, link] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), link);
    else if (entry.name.startsWith("@")) linkPackages(source, link);
    else symlinkSync(source, link);
  }
}
