import { spawn } from "node:child_process";
import { briefly } from "./compiled.js";
import { limitsMs } from "./timing.js";

export interface Program {
  /** Standard output and error so far, in order of arrival. */
  readonly output: () => string;
  readonly write: (text: string) => void;
  readonly end: () => void;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Resolves when `text` (or a match) was printed; rejects when the program ends without it. */
  readonly printed: (text: string | RegExp) => Promise<void>;
  /** -1 when a signal ended it. */
  readonly exited: Promise<number>;
}

/** Runs `file` with only the environment variables of `env`, and PATH. */
export function runProgram(
  file: string,
  env: Record<string, string> = {},
  cwd = process.cwd(),
): Program {
  const loader = file.endsWith(".ts") ? ["--import", import.meta.resolve("tsx")] : [];
  const child = spawn(process.execPath, [...briefly, ...loader, file], {
    cwd,
    env: { PATH: process.env.PATH ?? "", NODE_OPTIONS: "", ...env },
  });
  let output = "";
  let watch = () => {};
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      watch();
    });
  }
  const exited = new Promise<number>((resolve) => {
    child.once("close", (code) => resolve(code ?? -1));
  });
  return {
    output: () => output,
    write: (text) => void child.stdin.write(text),
    end: () => void child.stdin.end(),
    kill: (signal) => void child.kill(signal),
    printed: (wanted) =>
      new Promise((resolve, reject) => {
        const fail = (how: string) =>
          reject(new Error(`The program ${how} without printing ${wanted}:\n${output}`));
        const timer = setTimeout(() => fail("went on and on"), limitsMs.step);
        watch = () => {
          if (typeof wanted === "string" ? !output.includes(wanted) : !wanted.test(output)) return;
          clearTimeout(timer);
          resolve();
        };
        watch();
        void exited.then(() => {
          clearTimeout(timer);
          fail("ended");
        });
      }),
    exited,
  };
}
