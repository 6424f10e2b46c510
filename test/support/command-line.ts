import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, inject } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import type { Memory } from "../../src/memory.js";
import { silentLogger } from "./silent-logger.js";
import type { TestDatabase } from "./test-database.js";

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const source = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
const tsx = import.meta.resolve("tsx");

/**
 * `mnemograph` in an empty folder on a database of its own. Its processes open the embedded database one after
 * another: fill it by `withMemory`, which closes it.
 */
export function useCommandLine(db: TestDatabase) {
  const folder = mkdtempSync(join(tmpdir(), "mnemograph-cli-"));
  const schema = `cli_${randomUUID().slice(0, 8)}`;
  afterAll(async () => {
    if (inject("databaseUrl") !== null) await db.pool.query(`drop schema if exists "${schema}" cascade`);
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    schema,
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
    /** Runs a command on the database of its own. `readBytes`: closes its output after so many. */
    run(args: readonly string[], how: { readonly input?: string; readonly readBytes?: number } = {}) {
      const url = inject("databaseUrl");
      const target = [...(url === null ? ["--data-dir", "data"] : ["--database", url]), "--schema", schema];
      return start([...args, ...target], folder, how);
    },
    /** Runs a command that says itself on which database. */
    runOn: (args: readonly string[]) => start(args, folder),
  };
}

function start(
  args: readonly string[],
  cwd: string,
  {
    input = "",
    readBytes = Number.POSITIVE_INFINITY,
  }: { readonly input?: string; readonly readBytes?: number } = {},
): Promise<Ended> {
  const { DATABASE_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, ["--import", tsx, source, ...args], { cwd, env });
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
