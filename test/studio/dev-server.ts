import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, inject } from "vitest";
import { buildInspector } from "../../scripts/build-inspector.js";
import { freePort } from "../support/free-port.js";
import { limitsMs } from "../support/timing.js";

export const repository = resolve(import.meta.dirname, "../..");
const copied =
  "graphs examples src packages migrations langgraph.json package.json tsconfig.json .gitignore".split(
    " ",
  );

/**
 * Databases of their own, since the graphs use the default schema; none for the embedded one. They
 * are dropped when the tests of a file have ended.
 */
export function useFreshDatabases(): () => Promise<string | undefined> {
  const dropping: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const drop of dropping) await drop();
  });
  return () => freshDatabase(dropping);
}

async function freshDatabase(dropping: (() => Promise<void>)[]): Promise<string | undefined> {
  const databaseUrl = inject("databaseUrl");
  if (databaseUrl === null) return undefined;
  const name = `studio_${randomUUID().slice(0, 8)}`;
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await run(`create database ${name}`);
  dropping.push(() => run(`drop database ${name} with (force)`));
  return Object.assign(new URL(databaseUrl), { pathname: `/${name}` }).href;
}

export type DevServer = Awaited<ReturnType<typeof startDevServer>>;

/**
 * Starts the dev server on the graphs of this repository and waits until it answers.
 *
 * It runs on a copy: it writes its state beside its configuration, edits `.gitignore` there, and
 * starts anew when a file changes.
 * @param auth the module that authenticates its users. @default none: all may do everything
 */
export async function startDevServer(env: Record<string, string | undefined>, auth?: string) {
  const folder = mkdtempSync(join(tmpdir(), "mnemograph-studio-"));
  for (const name of copied)
    cpSync(join(repository, name), join(folder, name), { recursive: true });
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  await buildInspector(join(folder, "packages/server/dist/inspector"));
  if (auth !== undefined) {
    writeFileSync(join(folder, "auth.ts"), auth);
    const settings = JSON.parse(readFileSync(join(folder, "langgraph.json"), "utf8"));
    settings.auth = { path: "./auth.ts:auth", disable_studio_auth: true };
    writeFileSync(join(folder, "langgraph.json"), JSON.stringify(settings));
  }

  const port = await freePort();
  const cli = join(repository, "node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs");
  const child = spawn(
    process.execPath,
    [cli, "dev", "--no-browser", "-p", String(port), "--host", "127.0.0.1"],
    {
      cwd: folder,
      // Its own process group, so that the server it starts ends with it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        BROWSER: "none",
        LANGGRAPH_CLI_NO_ANALYTICS: "1",
        LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: "110000",
        NODE_ENV: undefined,
        VITEST: undefined,
        ...env,
      },
    },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    await endGroup(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await waitUntilUp(url, child);
  } catch (cause) {
    await stop();
    throw new Error(`The dev server did not start:\n${output}`, { cause });
  }
  return {
    output: () => output,
    status: async (method: string, path: string, who?: string, body?: unknown) =>
      (await request(url, method, path, body, who)).status,
    text: async (method: string, path: string, who?: string) =>
      (await request(url, method, path, undefined, who)).text(),
    async call<Body>(method: string, path: string, body?: unknown, who?: string) {
      const response = await request(url, method, path, body, who);
      const text = await response.text();
      if (!response.ok)
        throw new Error(`${method} ${path}: ${response.status} ${text}\n${output.slice(-4_000)}`);
      return JSON.parse(text) as Body;
    },
    async stream(path: string, body: unknown) {
      return (await (await request(url, "POST", path, body)).text())
        .split(/\r?\n\r?\n/)
        .flatMap((block) => {
          const event = /^event: (.*)$/m.exec(block)?.[1];
          const data = /^data: (.*)$/m.exec(block)?.[1];
          return event === undefined || data === undefined
            ? []
            : [{ event, data: JSON.parse(data) as unknown }];
        });
    },
    stop,
  };
}

const request = (
  url: string,
  method: string,
  path: string,
  body: unknown,
  who?: string,
): Promise<Response> =>
  fetch(`${url}${path}`, {
    method,
    signal: AbortSignal.timeout(limitsMs.step),
    headers: {
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(who !== undefined && { authorization: who }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

async function waitUntilUp(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + limitsMs.step;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
    const up = await fetch(`${url}/info`).then(
      (response) => response.ok,
      () => false,
    );
    if (up) return;
    await sleep(200);
  }
  throw new Error("it did not answer");
}

/** Ends the group of `child`: by request, then by force. */
async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const signal = (name: NodeJS.Signals | 0) => {
    try {
      return process.kill(-pid, name);
    } catch {
      return false;
    }
  };
  signal("SIGTERM");
  for (let waited = 0; waited < 50 && signal(0); waited++) await sleep(100);
  signal("SIGKILL");
}
