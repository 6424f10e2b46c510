import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { z } from "zod";

/** What tells one process from every other, also after its id is used again. */
export const processIdentitySchema = z.object({
  pid: z.number().int(),
  host: z.string(),
  /** Clock ticks since boot; null where there is no /proc. */
  startedAt: z.string().nullable(),
});
export type ProcessIdentity = z.infer<typeof processIdentitySchema>;

/** This process. */
export function thisProcess(): ProcessIdentity {
  return { pid: process.pid, host: hostname(), startedAt: procStat(process.pid)?.startedAt ?? null };
}

/** Whether that very process still runs; one on another machine or in another container is taken to. */
export function isRunning({ pid, host, startedAt }: ProcessIdentity): boolean {
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
