import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach } from "vitest";
import { briefly, compiled } from "./compiled.js";

/** A program in a process of its own. */
export interface ChildScript {
  readonly pid: number;
  /** Lines of standard output so far. */
  readonly lines: readonly string[];
  readonly stderr: () => string;
  /** The first line that fits, waiting for it; rejects when the process ends without it. */
  line(fits: string | RegExp): Promise<string>;
  /** Writes a line to its standard input. */
  say(line: string): void;
  /** Ends standard input, which the scripts take as "stop". */
  stop(): void;
  kill(): Promise<void>;
  /** Its exit code once it ended; null when a signal ended it. */
  readonly exitCode: Promise<number | null>;
}

export interface ChildScriptOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
}

/** Starts programs of test/support/scripts; those still running after a test are killed. */
export function useChildScripts() {
  const running = new Set<ChildProcess>();
  afterEach(async () => {
    for (const child of running) {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    }
  });
  return (script: string, args: readonly string[] = [], options: ChildScriptOptions = {}): ChildScript => {
    const program = [...briefly, compiled(`test/support/scripts/${script}`)];
    const child = spawn(process.execPath, [...program, ...args], {
      ...options,
      env: { ...process.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    running.add(child);
    child.once("close", () => running.delete(child));
    return follow(child);
  };
}

function follow(child: ChildProcess): ChildScript {
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  let errors = "";
  let ended = false;
  child.stdin?.on("error", () => {});
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on("line", (line) => {
    lines.push(line);
    for (const watch of watchers) watch();
  });
  const exitCode = once(child, "close").then(([code]) => {
    ended = true;
    for (const watch of watchers) watch();
    return code as number | null;
  });
  return {
    pid: child.pid ?? -1,
    lines,
    stderr: () => errors,
    line: (fits) =>
      new Promise((resolve, reject) => {
        const watch = () => {
          const found = lines.find((line) => (typeof fits === "string" ? line === fits : fits.test(line)));
          if (found === undefined && !ended) return;
          watchers.delete(watch);
          if (found !== undefined) resolve(found);
          else reject(new Error(`The script ended without printing ${fits}. It said:\n${lines.join("\n")}\n${errors}`));
        };
        watchers.add(watch);
        watch();
      }),
    say: (line) => void child.stdin?.write(`${line}\n`),
    stop: () => child.stdin?.end(),
    kill: async () => {
      child.kill("SIGKILL");
      await exitCode;
    },
    exitCode,
  };
}
