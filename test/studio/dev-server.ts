import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { limitsMs } from "../support/timing.js";

/** The folder of this project. */
export const repository = resolve(import.meta.dirname, "../..");

/** All that the graphs are made of. */
const copied = [
  "graphs",
  "examples",
  "src",
  "migrations",
  "langgraph.json",
  "package.json",
  "tsconfig.json",
  ".gitignore",
];

/** A running `langgraphjs dev`. */
export interface DevServer {
  readonly url: string;
  /** What it printed so far. */
  output(): string;
  /** The JSON that a request is answered with. */
  call<Body>(method: "GET" | "POST", path: string, body?: unknown): Promise<Body>;
  /** The events of a streamed run. */
  stream(path: string, body: unknown): Promise<{ event: string; data: unknown }[]>;
  /** Ends every process of it. */
  stop(): Promise<void>;
}

/**
 * Starts the dev server on the graphs of this repository and waits until it answers.
 *
 * It runs on a copy: it writes its state beside its configuration, edits `.gitignore` there, and starts anew
 * when a file changes.
 */
export async function startDevServer(env: Record<string, string | undefined>): Promise<DevServer> {
  const folder = mkdtempSync(join(tmpdir(), "mnemograph-studio-"));
  for (const name of copied) cpSync(join(repository, name), join(folder, name), { recursive: true });
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));

  const port = await freePort();
  const cli = join(repository, "node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs");
  const args = [cli, "dev", "--no-browser", "-p", String(port), "--host", "127.0.0.1"];
  const child = spawn(process.execPath, args, {
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
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
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
    url,
    output: () => output,
    async call<Body>(method: "GET" | "POST", path: string, body?: unknown) {
      const response = await request(url, method, path, body);
      const text = await response.text();
      if (!response.ok)
        throw new Error(`${method} ${path}: ${response.status} ${text}\n${output.slice(-4_000)}`);
      return JSON.parse(text) as Body;
    },
    async stream(path, body) {
      const text = await (await request(url, "POST", path, body)).text();
      return text.split(/\r?\n\r?\n/).flatMap((block) => {
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

function request(url: string, method: string, path: string, body: unknown): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    signal: AbortSignal.timeout(limitsMs.step),
    ...(body !== undefined && {
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  });
}

async function waitUntilUp(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + limitsMs.step;
  while (Date.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`it ended with code ${child.exitCode}`);
    const up = await fetch(`${url}/ok`).then(
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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
