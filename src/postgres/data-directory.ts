import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { folderError, lockDataDirectory } from "./data-directory-lock.js";

const markName = "mnemograph.folder";

const markText = "Mnemograph made this folder and keeps it closed to all but its owner.\n";

/** Locks `dataDir` and returns the unlock function. Closes a folder created here to other users. */
export function openDataDirectory(dataDir: string): () => void {
  const made = makeClosed(dataDir);
  const unlock = lockDataDirectory(dataDir);
  const path = join(dataDir, markName);
  if (made) writeFileSync(path, markText, { mode: 0o600 });
  else if (existsSync(path)) closeToOthers(realpathSync(dataDir));
  return unlock;
}

function makeClosed(dataDir: string): boolean {
  try {
    mkdirSync(dirname(dataDir), { recursive: true });
    mkdirSync(dataDir, { mode: 0o700 });
  } catch (error) {
    if (existsSync(dataDir)) return false;
    throw folderError(dataDir, error);
  }
  chmodSync(dataDir, 0o700);
  return true;
}

const ours =
  /^(?:base|global|pg_[\w.]+|PG_VERSION|postgresql\.\S+|postmaster\.\w+|mnemograph\.\S+)$/;

// Some thousand files, 20 ms: the engine, unlike PostgreSQL, creates them with the umask of the
// process.
export function restrictContents(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  const names = readdirSync(dataDir).filter((name) => ours.test(name));
  for (const name of names) closeTree(join(dataDir, name));
}

function closeTree(path: string): void {
  closeToOthers(path);
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const name of readdirSync(path)) closeTree(join(path, name));
}

function closeToOthers(path: string): void {
  try {
    const stats = lstatSync(path);
    if (!stats.isSymbolicLink() && stats.mode & 0o077) chmodSync(path, stats.mode & 0o700);
  } catch {}
}
