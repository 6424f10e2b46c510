import type {
  ChildProcess,
  ChildProcessWithoutNullStreams,
  SpawnOptionsWithoutStdio,
} from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterEach } from "vitest";
import { briefly, compiled } from "./compiled.js";

export interface ChildScript {
  readonly pid: number;
  readonly lines: readonly string[];
  readonly stderr: () => string;
  /** Waits for the first line that matches; rejects when the process ends without it. */
  line(fits: string | RegExp): Promise<string>;
  say(line: string): void;
  /** Ends standard input, which stops the scripts. */
  stop(): void;
  kill(): Promise<void>;
  /** Null when a signal ended it. */
  readonly exitCode: Promise<number | null>;
}

/** Kills the given child processes that still run after a test. */
export function useKilledChildren() {
  const running = new Set<ChildProcess>();
  afterEach(async () => {
    for (const child of running) {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "close");
    }
  });
  return <Child extends ChildProcess>(child: Child): Child => {
    running.add(child);
    child.once("close", () => running.delete(child));
    return child;
  };
}

/** Starts programs of test/support/scripts; kills those still running after a test. */
export function useChildScripts() {
  const killed = useKilledChildren();
  return (
    script: string,
    args: readonly string[] = [],
    options: Pick<SpawnOptionsWithoutStdio, "env" | "cwd" | "uid"> = {},
  ): ChildScript => {
    const program = [...briefly, compiled(`test/support/scripts/${script}`)];
    const env = { ...process.env, ...options.env };
    return follow(killed(spawn(process.execPath, [...program, ...args], { ...options, env })));
  };
}

function follow(child: ChildProcessWithoutNullStreams): ChildScript {
  const lines: string[] = [];
  const watchers = new Set<() => void>();
  let errors = "";
  let ended = false;
  child.stdin.on("error", () => {});
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
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
          const found = lines.find((line) =>
            typeof fits === "string" ? line === fits : fits.test(line),
          );
          if (found === undefined && !ended) return;
          watchers.delete(watch);
          if (found !== undefined) resolve(found);
          else
            reject(
              new Error(
                `The script ended without printing ${fits}. It said:\n${lines.join("\n")}\n${errors}`,
              ),
            );
        };
        watchers.add(watch);
        watch();
      }),
    say: (line) => void child.stdin.write(`${line}\n`),
    stop: () => void child.stdin.end(),
    kill: async () => {
      child.kill("SIGKILL");
      await exitCode;
    },
    exitCode,
  };
}
