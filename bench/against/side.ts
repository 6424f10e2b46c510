import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Announcement, Figures } from "../slices.js";

/** A commit's benchmark, loaded and waiting: see slices.ts. */
export interface Side extends Announcement {
  measure(slice: string): Promise<Figures>;
}

/** Starts a benchmark in the folder of a commit. */
export function startSide(folder: string, bench: string, options: readonly string[]) {
  const child = spawn("npm", ["run", "--silent", bench, "--", "--slices", ...options], {
    cwd: folder,
    stdio: ["pipe", "pipe", "inherit"],
    // A terminal's interrupt is for the comparison, which ends the benchmark: it drops its schemas.
    detached: true,
  });
  // It fails when the benchmark has ended, which `answer` reports.
  child.stdin.on("error", () => {});
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`${bench} ended in ${folder} before it was measured.`);
    return JSON.parse(value);
  };
  return {
    async loaded(): Promise<Side> {
      const { slices } = (await answer()) as Announcement;
      return {
        slices,
        measure(slice) {
          child.stdin.write(`${slice}\n`);
          return answer();
        },
      };
    },
    async close(): Promise<void> {
      child.stdin.end();
      await exited;
    },
  };
}
