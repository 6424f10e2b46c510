import { type ChildProcess, fork, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, inject } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import type { Memory } from "../../src/memory.js";
import { briefly, compiled } from "./compiled.js";
import { copyEmbedded } from "./copy-embedded.js";
import { silentLogger } from "./silent-logger.js";
import type { TestDatabase } from "./test-database.js";

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** How a command is run in a process of its own. */
export interface OwnProcess {
  readonly input?: string;
  /** Closes its output after so many. */
  readonly readBytes?: number;
}

/**
 * `mnemograph` in an empty folder on a database of its own. Its commands open the embedded database one after
 * another: fill it by `withMemory`, which closes it.
 *
 * The commands share a process, which saves each the second that loading its code and compiling PostgreSQL takes.
 * Those that read standard input or lose their reader get one of their own.
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
    if (inject("databaseUrl") !== null) await db.pool.query(`drop schema if exists "${schema}" cascade`);
    rmSync(folder, { recursive: true, force: true });
  });
  // Ended first, since hooks that end run in reverse.
  const shared = useSharedProcess(folder);
  const begin = useLastingCommands(folder);
  return {
    folder,
    schema,
    /** The flags that say on which database. */
    target,
    async withMemory<Result>(work: (memory: Memory) => Promise<Result>): Promise<Result> {
      const database = inject("databaseUrl") ?? { dataDir: join(folder, "data") };
      const memory = createMemory({ database, schema, logger: silentLogger });
      try {
        await memory.setup();
        return await work(memory);
      } finally {
        await memory.close();
      }
    },
    /** Runs a command on the database of its own. */
    run: (args: readonly string[], how?: OwnProcess) =>
      how ? start([...args, ...target()], folder, how) : shared([...args, ...target()]),
    /** Begins a command that goes on until it is told to end, which it is after the test. Of the environment it knows `env`. */
    begin: (args: readonly string[], env: Readonly<Record<string, string>> = {}) => begin([...args, ...target()], env),
    /** Runs a command that says itself on which database. */
    runOn: (args: readonly string[]) => shared(args),
  };
}

function environment(): NodeJS.ProcessEnv {
  const { DATABASE_URL: _, ...env } = process.env;
  return env;
}

/** A process that starts with the first of its commands, and runs them one after another. */
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
      const script = compiled("test/support/scripts/command-line");
      child = fork(script, { cwd, env: environment(), execArgv: briefly });
      ended = once(child, "exit");
    }
    const answered = once(child, "message");
    child.send(args);
    const [answer] = await Promise.race([answered, ended]);
    if (typeof answer !== "object") throw new Error(`The process of the commands ended with ${answer}.`);
    const { code, out, err } = answer as Ended;
    return { code, out: out.trimEnd(), err: err.trimEnd() };
  };
  return (args) => {
    const result = last.then(() => answer(args));
    last = result.catch(() => {});
    return result;
  };
}

/** Commands that go on, each in a process of its own; those still running after a test are killed. */
function useLastingCommands(cwd: string) {
  const running = new Set<ChildProcess>();
  afterEach(async () => {
    for (const child of running) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
  });
  return (args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess => {
    const program = [...briefly, compiled("src/cli/main")];
    const child = spawn(process.execPath, [...program, ...args], {
      cwd,
      env: { PATH: process.env.PATH ?? "", ...env },
    });
    running.add(child);
    child.once("close", () => running.delete(child));
    return child;
  };
}

/** A command in a process of its own. */
function start(
  args: readonly string[],
  cwd: string,
  { input = "", readBytes = Number.POSITIVE_INFINITY }: OwnProcess,
): Promise<Ended> {
  const program = [...briefly, compiled("src/cli/main")];
  const child = spawn(process.execPath, [...program, ...args], { cwd, env: environment() });
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
