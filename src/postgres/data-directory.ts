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

/** Stands in a folder that was made here, so that it is known as such wherever it is moved or restored to. */
const mark = "mnemograph.folder";

const markText = "Mnemograph made this folder and keeps it closed to all but its owner.\n";

/**
 * Takes the folder `dataDir` for this process, and returns what gives it back.
 *
 * A folder that is not there is made, closed to all but its owner, and stays so: what is remembered of people lies in
 * it. One that somebody else made keeps its permissions.
 *
 * @throws MemoryError as `lockDataDirectory` does.
 */
export function openDataDirectory(dataDir: string): () => void {
  const made = makeClosed(dataDir);
  const unlock = lockDataDirectory(dataDir);
  const path = join(dataDir, mark);
  if (made) writeFileSync(path, markText, { mode: 0o600 });
  else if (existsSync(path)) closeToOthers(realpathSync(dataDir));
  return unlock;
}

/** Whether it was made: false where it was there. */
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

/** What PostgreSQL and the lock keep in a folder; the rest is somebody else's. */
const ours = /^(?:base|global|pg_[\w.]+|PG_VERSION|postgresql\.\S+|postmaster\.\w+|mnemograph\.\S+)$/;

/**
 * Closes what the database keeps in `dataDir` to all but its owner: some thousand files, 20 ms. Its engine gives files
 * the permissions that the process gives to new ones, where PostgreSQL itself would not.
 */
export function closeContents(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  const names = readdirSync(dataDir).filter((name) => ours.test(name));
  for (const name of names) closeTree(join(dataDir, name));
}

function closeTree(path: string): void {
  closeToOthers(path);
  if (!lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const name of readdirSync(path)) closeTree(join(path, name));
}

/** Leaves links, and what belongs to another user of the machine, as they are: then it is theirs to close. */
function closeToOthers(path: string): void {
  try {
    const stats = lstatSync(path);
    if (!stats.isSymbolicLink() && stats.mode & 0o077) chmodSync(path, stats.mode & 0o700);
  } catch {}
}
