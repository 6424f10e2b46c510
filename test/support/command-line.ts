import { type ChildProcess, fork, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, inject } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import type { MemoryOptions } from "../../src/create-memory-options.js";
import type { Memory } from "../../src/memory.js";
import { useKilledChildren } from "./child-scripts.js";
import { briefly, compiled } from "./compiled.js";
import { copyEmbedded } from "./copy-embedded.js";
import { silentLogger } from "./silent-logger.js";
import type { TestDatabase } from "./test-database.js";

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface OwnProcess {
  readonly input?: string;
  /** Closes its output after so many bytes. */
  readonly readBytes?: number;
}

/**
 * `mnemograph` in an empty folder, on its own database. Only one process can open the embedded
 * database at a time: fill it with `withMemory`, which closes it.
 *
 * Commands share a process, which saves a second of start-up each. A command with `OwnProcess` gets
 * its own.
 */
export function useCommandLine(db: TestDatabase) {
  const id = randomUUID().slice(0, 8);
  const folder = join(tmpdir(), `mnemograph-cli-${id}`);
  const schema = `cli_${id}`;
  const target = () => {
    const url = inject("databaseUrl");
    return [...(url === null ? ["--data-dir", "data"] : ["--database", url]), "--schema", schema];
  };
  beforeAll(() => {
    mkdirSync(folder);
    if (inject("embedded")) copyEmbedded(join(folder, "data"));
  });
  afterAll(async () => {
    if (inject("databaseUrl") !== null)
      await db.pool.query(`drop schema if exists "${schema}" cascade`);
    rmSync(folder, { recursive: true, force: true });
  });
  const shared = useSharedProcess(folder);
  const killed = useKilledChildren();
  return {
    folder,
    schema,
    target,
    async withMemory<Result>(
      work: (memory: Memory) => Promise<Result>,
      options: MemoryOptions = {},
    ): Promise<Result> {
      const database = inject("databaseUrl") ?? { dataDir: join(folder, "data") };
      const memory = createMemory({ database, schema, logger: silentLogger, ...options });
      try {
        await memory.setup();
        return await work(memory);
      } finally {
        await memory.close();
      }
    },
    run: (args: readonly string[], how?: OwnProcess) =>
      how ? start([...args, ...target()], folder, how) : shared([...args, ...target()]),
    /** Starts a long-running command, killed after the test. Its environment is `env` alone. */
    begin: (args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess =>
      killed(
        spawn(process.execPath, [...program(), ...args, ...target()], {
          cwd: folder,
          env: { PATH: process.env.PATH ?? "", ...env },
        }),
      ),
    /** Runs a command whose arguments name the database. */
    runOn: (args: readonly string[]) => shared(args),
  };
}

const program = () => [...briefly, compiled("packages/server/src/cli/main")];

function environment(): NodeJS.ProcessEnv {
  const { DATABASE_URL: _, ...env } = process.env;
  return env;
}

/** Runs commands one after another in one process, started by the first. */
function useSharedProcess(cwd: string): (args: readonly string[]) => Promise<Ended> {
  let child: ChildProcess | undefined;
  let ended: Promise<unknown[]>;
  let last: Promise<unknown> = Promise.resolve();
  afterAll(async () => {
    child?.kill("SIGKILL");
    await ended;
  });
  const answer = async (args: readonly string[]): Promise<Ended> => {
    if (!child) {
      child = fork(compiled("test/support/scripts/command-line"), {
        cwd,
        env: environment(),
        execArgv: briefly,
      });
      ended = once(child, "exit");
    }
    const answered = once(child, "message");
    child.send(args);
    const [answer] = await Promise.race([answered, ended]);
    if (typeof answer !== "object")
      throw new Error(`The process of the commands ended with ${answer}.`);
    const { code, out, err } = answer as Ended;
    return { code, out: out.trimEnd(), err: err.trimEnd() };
  };
  return (args) => {
    const result = last.then(() => answer(args));
    last = result.catch(() => {});
    return result;
  };
}

function start(
  args: readonly string[],
  cwd: string,
  { input = "", readBytes = Number.POSITIVE_INFINITY }: OwnProcess,
): Promise<Ended> {
  const child = spawn(process.execPath, [...program(), ...args], { cwd, env: environment() });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    if (out.length >= readBytes) child.stdout.destroy();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, out: out.trimEnd(), err: err.trimEnd() }));
  });
}
