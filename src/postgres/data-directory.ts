import { randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { MemoryError, type MemoryErrorCode } from "../errors.js";
import { attempt } from "../input/plain-json.js";

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

const processIdentitySchema = z.object({
  pid: z.number().int(),
  host: z.string(),
  /** Clock ticks since boot; null without /proc. */
  startedAt: z.string().nullable(),
});
type ProcessIdentity = z.infer<typeof processIdentitySchema>;

/** Processes of other machines and containers count as running. */
function isRunning({ pid, host, startedAt }: ProcessIdentity): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (fileErrorCode(error) !== "EPERM") return false;
  }
  const stat = procStat(pid);
  // A zombie still accepts signals.
  if (stat?.state === "Z" || stat?.state === "X") return false;
  return startedAt === null || stat === undefined || stat.startedAt === startedAt;
}

/** Fields 3 and 22 of proc(5); undefined without /proc. */
function procStat(pid: number) {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The second field, the program's name in parentheses, may contain anything.
  const [state, ...fields] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  return state === undefined ? undefined : { state, startedAt: fields[18] ?? "" };
}

/**
 * Locks the folder `dataDir`, since the embedded database does not; returns the unlock function. A
 * process that finds the holder dead creates `<lock>.next` first: two processes that replaced one
 * file could remove each other's.
 * @throws MemoryError `DATA_DIRECTORY_LOCKED`, `INVALID_INPUT`, `PERMISSION_DENIED`
 */
export function lockDataDirectory(dataDir: string): () => void {
  const lock = join(dataDir, "mnemograph.lock");
  const draft = `${lock}.${randomUUID()}`;
  const { startedAt = null } = procStat(process.pid) ?? {};
  const mine = JSON.stringify({
    pid: process.pid,
    host: hostname(),
    startedAt,
  } satisfies ProcessIdentity);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(draft, mine, { mode: 0o600 });
    chmodSync(draft, 0o600);
  } catch (error) {
    throw folderError(dataDir, error);
  }
  try {
    while (!tryLock(dataDir, lock, draft)) {}
  } catch (error) {
    throw folderError(dataDir, error);
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    if (readIfExists(lock) === mine) rmSync(lock, { force: true });
  };
}

/** One attempt; false when another process changed the lock meanwhile. */
function tryLock(dataDir: string, lock: string, draft: string): boolean {
  const { dead, holder } = findHolder(lock);
  if (holder) throw lockedError(dataDir, holder);
  const mine = successor(lock, dead.length);
  // Atomic: nobody reads a partial file.
  if (!unless("EEXIST", () => [linkSync(draft, mine)])) return false;
  if (dead.length === 0) return true;
  // Another process may have replaced the same dead holders.
  if (findHolder(lock).holder?.file !== mine) {
    rmSync(mine, { force: true });
    return false;
  }
  renameSync(draft, lock);
  for (const file of [...dead.slice(1), mine]) rmSync(file, { force: true });
  return true;
}

type Holder = ProcessIdentity & { readonly file: string };

function findHolder(lock: string): { dead: string[]; holder: Holder | null } {
  const dead: string[] = [];
  for (;;) {
    const file = successor(lock, dead.length);
    const text = readIfExists(file);
    if (text === null) return { dead, holder: null };
    // A file may be incomplete after a power failure.
    const identity = attempt(() => processIdentitySchema.parse(JSON.parse(text)));
    if (identity && isRunning(identity)) return { dead, holder: { ...identity, file } };
    dead.push(file);
  }
}

const successor = (lock: string, generations: number) => lock + ".next".repeat(generations);

const readIfExists = (file: string) => unless("ENOENT", () => readFileSync(file, "utf8"));

function unless<Result>(code: string, work: () => Result): Result | null {
  try {
    return work();
  } catch (error) {
    if (fileErrorCode(error) === code) return null;
    throw error;
  }
}

function lockedError(dataDir: string, { pid, host, file }: Holder): MemoryError {
  const who = pid === process.pid ? "this process" : `process ${pid} on ${host}`;
  return new MemoryError(
    "DATA_DIRECTORY_LOCKED",
    `The embedded database in ${dataDir} is open in ${who}. ` +
      "Close it there, choose another dataDir, or use a PostgreSQL server, which many processes can share. " +
      `If nothing has it open, delete ${file}.`,
  );
}

function folderError(dataDir: string, cause: unknown): unknown {
  const code = fileErrorCode(cause);
  const failed = (as: MemoryErrorCode, message: string) => new MemoryError(as, message, { cause });
  if (code === "EEXIST" || code === "ENOTDIR") {
    return failed("INVALID_INPUT", `dataDir ${dataDir} is or lies in a file: it must be a folder.`);
  }
  if (code !== "EACCES" && code !== "EPERM" && code !== "EROFS") return cause;
  return failed(
    "PERMISSION_DENIED",
    `This process may not write in dataDir ${dataDir}. Give its user the right, or choose another dataDir.`,
  );
}

const fileErrorCode = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;
