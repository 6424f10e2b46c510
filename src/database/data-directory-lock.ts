import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { MemoryError } from "../errors.js";

const holderSchema = z.object({ pid: z.number().int(), host: z.string(), startedAt: z.string().nullable() });
type Holder = z.infer<typeof holderSchema>;

/** Folders held by this process, since its own pid does not tell two openings apart. */
const heldHere = new Set<string>();

/**
 * Takes the folder `dataDir` for this process, and returns what gives it back.
 *
 * The embedded database has no lock of its own, and two processes writing one folder would ruin it. A lock
 * left by a process that was killed is taken over.
 *
 * @throws MemoryError `DATA_DIRECTORY_LOCKED` when another process, or this one, has it open.
 */
export function lockDataDirectory(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true });
  const file = join(dataDir, "mnemograph.lock");
  const mine: Holder = { pid: process.pid, host: hostname(), startedAt: processStart(process.pid) };
  if (heldHere.has(dataDir)) throw locked(dataDir, file, mine);
  for (;;) {
    try {
      writeFileSync(file, JSON.stringify(mine), { flag: "wx" });
      break;
    } catch (error) {
      if (!isCode(error, "EEXIST")) throw error;
      const holder = readHolder(file);
      if (holder && isAlive(holder)) throw locked(dataDir, file, holder);
      rmSync(file, { force: true });
    }
  }
  heldHere.add(dataDir);
  return () => {
    heldHere.delete(dataDir);
    rmSync(file, { force: true });
  };
}

function locked(dataDir: string, file: string, holder: Holder): MemoryError {
  const who = holder.pid === process.pid ? "this process" : `process ${holder.pid} on ${holder.host}`;
  return new MemoryError(
    "DATA_DIRECTORY_LOCKED",
    `The embedded database in ${dataDir} is open in ${who}. ` +
      "Close it there, choose another dataDir, or use a PostgreSQL server, which many processes can share. " +
      `If nothing has it open, delete ${file}.`,
  );
}

function readHolder(file: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    // Gone meanwhile, or cut short by a crash while it was written: either way nobody holds it.
    return null;
  }
}

function isAlive(holder: Holder): boolean {
  // A process of another machine or container that shares the folder cannot be looked up from here.
  if (holder.host !== hostname()) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return isCode(error, "EPERM");
  }
  // Process ids are reused: the same id with another start time is another process.
  return holder.startedAt === null || holder.startedAt === processStart(holder.pid);
}

/** Start time of a process in clock ticks since boot (proc(5), field 22); null where there is no /proc. */
function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
