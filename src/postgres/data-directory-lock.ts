import { randomUUID } from "node:crypto";
import { chmodSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { MemoryError } from "../errors.js";

/** What tells one process from every other, also after its id is used again. */
const processIdentitySchema = z.object({
  pid: z.number().int(),
  host: z.string(),
  /** Clock ticks since boot; null where there is no /proc. */
  startedAt: z.string().nullable(),
});
type ProcessIdentity = z.infer<typeof processIdentitySchema>;

/** This process. */
function thisProcess(): ProcessIdentity {
  return { pid: process.pid, host: hostname(), startedAt: procStat(process.pid)?.startedAt ?? null };
}

/** Whether that very process still runs; one on another machine or in another container is taken to. */
function isRunning({ pid, host, startedAt }: ProcessIdentity): boolean {
  if (host !== hostname()) return true;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, as another user.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  const now = procStat(pid);
  // A killed process that its parent has not waited for can still be signalled.
  if (now?.state === "Z" || now?.state === "X") return false;
  return startedAt === null || now === null || now.startedAt === startedAt;
}

/** State and start time from proc(5), fields 3 and 22; null where there is no /proc. */
function procStat(pid: number): { state: string; startedAt: string } | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field, the program's name, is in parentheses and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", startedAt: fields[19] ?? "" };
  } catch {
    return null;
  }
}

/**
 * Takes the folder `dataDir` for this process, making it if need be, and returns what gives it back.
 *
 * The embedded database has no lock of its own, and two processes writing one folder would ruin it. A lock
 * left by a process that was killed is taken over.
 *
 * Node has no file lock that ends with its process, so the lock is a file that names its holder, and a holder
 * that is dead is succeeded: the first process to create `<lock>.next` beside it, unless that one is dead too,
 * and so on. Removing a dead holder's file first would not do: of two processes that both saw it, the slower
 * one could remove the faster one's.
 *
 * @throws MemoryError `DATA_DIRECTORY_LOCKED` when another process, or this one, has it open; `INVALID_INPUT`
 *   when it is not a folder; `PERMISSION_DENIED` when this process may not write there.
 */
export function lockDataDirectory(dataDir: string): () => void {
  const lock = join(dataDir, "mnemograph.lock");
  const draft = `${lock}.${randomUUID()}`;
  const mine = JSON.stringify(thisProcess());
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(draft, mine, { mode: 0o600 });
    chmodSync(draft, 0o600);
  } catch (error) {
    throw folderError(dataDir, error);
  }
  try {
    while (!takeOnce(dataDir, lock, draft)) {}
  } catch (error) {
    throw folderError(dataDir, error);
  } finally {
    rmSync(draft, { force: true });
  }
  return () => {
    if (readOrNull(lock) === mine) rmSync(lock, { force: true });
  };
}

/** One try; false when another process changed the lock meanwhile. `draft` is this process's lock file to be. */
function takeOnce(dataDir: string, lock: string, draft: string): boolean {
  const { dead, holder } = inspect(lock);
  if (holder) throw lockedError(dataDir, holder);
  const mine = successor(lock, dead.length);
  if (!linkIfFree(draft, mine)) return false;
  if (dead.length === 0) return true;
  // Between reading and linking, another may have succeeded the same dead holders and tidied up after them.
  if (inspect(lock).holder?.file !== mine) {
    rmSync(mine, { force: true });
    return false;
  }
  renameSync(draft, lock);
  for (const file of [...dead.slice(1), mine]) rmSync(file, { force: true });
  return true;
}

interface Holder extends ProcessIdentity {
  readonly file: string;
}

/** The files of dead holders, from the lock itself on, and the living one after them. */
function inspect(lock: string): { dead: string[]; holder: Holder | null } {
  const dead: string[] = [];
  for (;;) {
    const file = successor(lock, dead.length);
    const text = readOrNull(file);
    if (text === null) return { dead, holder: null };
    const identity = parseIdentity(text);
    if (identity && isRunning(identity)) return { dead, holder: { ...identity, file } };
    dead.push(file);
  }
}

const successor = (lock: string, generations: number) => lock + ".next".repeat(generations);

/** Creates `file` with all its content at once, so that nobody reads half of it. */
function linkIfFree(draft: string, file: string): boolean {
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Null for what no process wrote to its end, as after a power failure: then nobody holds it. */
function parseIdentity(text: string): ProcessIdentity | null {
  try {
    return processIdentitySchema.parse(JSON.parse(text));
  } catch {
    return null;
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

/** What is wrong with a folder that cannot be made or written in, as an error that says so. */
export function folderError(dataDir: string, cause: unknown): unknown {
  switch (codeOf(cause)) {
    case "EEXIST":
    case "ENOTDIR":
      return new MemoryError(
        "INVALID_INPUT",
        `dataDir ${dataDir} is or lies in a file: it must be a folder.`,
        { cause },
      );
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new MemoryError("PERMISSION_DENIED", `This process may not write in dataDir ${dataDir}.`, {
        cause,
      });
    default:
      return cause;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
