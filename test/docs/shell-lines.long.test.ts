import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { createMemory } from "../../src/create-memory.js";
import { docPages } from "../support/doc-pages.js";
import { freePort } from "../support/free-port.js";
import { newProject } from "../support/packed.js";
import { type ShellLine, shellLines } from "../support/shell-lines.js";
import { silentLogger } from "../support/silent-logger.js";
import { onServer } from "../support/test-database.js";
import { limitsMs } from "../support/timing.js";

const pages = docPages();
const lines = shellLines(pages);

/** Lines that are not run here, by their beginning. `npm install` is the install test's. */
const exceptions: readonly (readonly [page: string, begins: string, reason: string])[] = [
  ["README.md", "npm ci && npm run demo", "test/examples/demo.long.test.ts runs the demo"],
  ["README.md", "npm ci && npm test", "this test is one of these"],
  ["docs/studio.md", "npx langgraphjs dev", "test/studio/dev-server.long.test.ts starts it"],
  ["docs/recall-by-meaning.md", "curl -fL", "a download of 34 MB from another host"],
];
const exceptionOf = ({ page, command }: ShellLine) =>
  exceptions.find(([path, begins]) => path === page && command.startsWith(begins));
const isInstall = ({ command }: ShellLine) => command.startsWith("npm install ");
const toRun = lines.filter((line) => !isInstall(line) && !exceptionOf(line));
const pagesToRun = [...new Set(toRun.map(({ page }) => page))];

/** A folder with the package installed, where npx finds its command, and curl fails on errors. */
let project = "";
const created: string[] = [];
beforeAll(async () => {
  project = await newProject();
  const bin = join(project, "node_modules/.bin");
  mkdirSync(bin);
  for (const [name, file] of [
    ["mnemograph", "@mnemograph/server/dist/cli/main.js"],
    ["tsx", "tsx/dist/cli.mjs"],
  ] as const) {
    symlinkSync(join("..", file), join(bin, name));
    chmodSync(join(project, "node_modules", file), 0o755);
  }
  const model = 'import { OfflineChatModel } from "mnemograph/testing";\n';
  writeFileSync(
    join(project, "model.js"),
    `${model}export const model = new OfflineChatModel();\n`,
  );
  writeFileSync(join(project, ".curlrc"), "fail\nsilent\nshow-error\n");
});
const begun: ChildProcess[] = [];
afterEach(async () => {
  for (const child of begun.splice(0)) await end(child);
});
afterAll(async () => {
  for (const name of created) await ask(`drop database if exists "${name}" with (force)`);
});

describe("shell lines of the documentation", () => {
  it("At most ten lines are not run, and each exception is a line of its page", () => {
    expect(lines.filter(exceptionOf).length).toBeLessThanOrEqual(10);
    for (const exception of exceptions)
      expect(lines.map(exceptionOf), String(exception)).toContain(exception);
    expect(toRun.length).toBeGreaterThan(15);
  });

  it.each(pagesToRun)("The commands of %s run in their order", async (page) => {
    const place = await newPlace(page);
    for (const line of toRun.filter((each) => each.page === page)) {
      if (/postgresql:\/\//.test(line.command) && !onServer()) continue;
      await place.prepare(line.command);
      const { code, output } = await run(place.filledIn(line.command), place.env);
      expect(code, `${line.at}: ${line.command}\n${output}`).toBe(0);
    }
  });
});

/** An empty database, and what a reader of the page has done and fills in. */
async function newPlace(page: string) {
  const port = String(await freePort());
  const database = await emptyDatabase();
  const url = database.url ?? "";
  const env: NodeJS.ProcessEnv = { PATH: process.env.PATH ?? "", HOME: project };
  env.npm_config_offline = "true";
  env.npm_config_update_notifier = "false";
  if (url) env.DATABASE_URL = url;
  const fill: Record<string, string> = {
    "postgresql://memory@db.example.org/app": url,
    "/home/ana": project,
    "127.0.0.1:8787": `127.0.0.1:${port}`,
    "port: 8787": `port: ${port}`,
    "serve --mcp": `serve --mcp --port ${port}`,
  };
  const filledIn = (command: string) =>
    Object.entries(fill).reduce((text, [from, to]) => text.replaceAll(from, to), command);
  const ready = async (flags = "") => {
    expect(await run(`node_modules/.bin/mnemograph migrate${flags}`, env)).toMatchObject({
      code: 0,
    });
  };
  return {
    env,
    filledIn,
    /** What the page says before the command, in words. */
    async prepare(command: string) {
      if (page === "docs/http.md") await begin(serverOf(filledIn), `127.0.0.1:${port}`, env);
      if (page === "docs/inspector.md") await ready();
      if (page === "docs/erasing.md") await saveReceipt(url);
      if (page === "docs/testing-memory.md") saveCases();
      if (command.endsWith("doctor --vectors")) await ready(" --vectors");
      if (command.includes('"id":"6f1c…"')) fill["6f1c…"] = await requestConsent(url);
      if (command === "npx @mnemograph/server import ana.jsonl") {
        await database.empty();
        await ready();
      }
    },
  };
}

/** On a server a database of its own; embedded, the folder that commands use without flags. */
async function emptyDatabase(): Promise<{ url: string | null; empty(): Promise<void> }> {
  const folder = join(project, ".mnemograph");
  const server = inject("databaseUrl");
  rmSync(folder, { recursive: true, force: true });
  if (server === null)
    return { url: null, empty: async () => rmSync(folder, { recursive: true, force: true }) };
  const name = `shell_lines_${process.pid}_${created.length}`;
  created.push(name);
  await ask(`create database "${name}"`);
  const url = new URL(server);
  url.pathname = name;
  return { url: url.href, empty: () => ask('drop schema "mnemograph" cascade', url.href) };
}

async function ask(statement: string, url = inject("databaseUrl")): Promise<void> {
  const client = new pg.Client({ connectionString: url ?? "" });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** The id of a request that waits. */
async function requestConsent(url: string): Promise<string> {
  const database = url || { dataDir: join(project, ".mnemograph") };
  const memory = createMemory({ database, logger: silentLogger });
  const draft = { text: "Lives in Porto.", category: "profile", key: "city", value: "Porto" };
  const [proposed] = await memory.memories.add({ scope: { userId: "ana" }, memories: draft });
  await memory.close();
  return proposed?.consentId ?? "";
}

/** Saves the receipt of an erasure, and the key that it is checked with. */
async function saveReceipt(url: string): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const receipts = { privateKey: String(privateKey.export({ type: "pkcs8", format: "pem" })) };
  const database = url || { dataDir: join(project, ".mnemograph") };
  const memory = createMemory({ database, config: { receipts }, logger: silentLogger });
  await memory.setup();
  const scope = { userId: "ana" };
  await memory.memories.add({ scope, memories: { text: "The user sails." } });
  await memory.forget({ scope });
  const [erasure] = await memory.erasures.list();
  const receipt = await memory.erasures.receipt({ id: erasure?.id ?? "" });
  await memory.close();
  writeFileSync(join(project, "receipt.json"), JSON.stringify(receipt));
  writeFileSync(join(project, "receipts.pem"), publicKey.export({ type: "spki", format: "pem" }));
}

/** Saves the first cases of the page about testing. */
function saveCases(): void {
  const text = pages.find(({ path }) => path === "docs/testing-memory.md")?.text ?? "";
  const [, cases = ""] = /^```yaml cases\n([\s\S]*?)^```$/m.exec(text) ?? [];
  writeFileSync(join(project, "cases.yaml"), cases);
}

/** Saves docs/http.md's server, and gives the command that starts it. */
function serverOf(filledIn: (text: string) => string): string {
  const text = pages.find(({ path }) => path === "docs/http.md")?.text ?? "";
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
  const program = blocks.find((code) => code.includes("serve({")) ?? "";
  writeFileSync(join(project, "server.mts"), filledIn(program));
  return /^ANA_TOKEN=.*$/m.exec(text)?.[0] ?? "";
}

const start = (command: string, env: NodeJS.ProcessEnv): ChildProcess =>
  spawn("bash", ["-c", command], { cwd: project, env, detached: true });

/** Ends the command and those that it started, by the id of their group. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  process.kill(-(child.pid as number), "SIGTERM");
  await closed;
}

/** Begins a server, and waits until its port answers. */
async function begin(command: string, host: string, env: NodeJS.ProcessEnv): Promise<void> {
  begun.push(start(command, env));
  const answers = () =>
    fetch(`http://${host}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(answers, { timeout: limitsMs.step, interval: 200 }).toBe(true);
}

/** What a command that serves prints when it is ready. */
const isReady = /Listening at http|\/inspector\/#/;

/** Runs a command until it ends, or, where it serves, until it is ready. */
async function run(
  command: string,
  env: NodeJS.ProcessEnv,
): Promise<{ code: number | null; output: string }> {
  const child = start(command, env);
  let output = "";
  const closed = once(child, "close");
  const ready = new Promise<"ready">((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (isReady.test(output)) resolve("ready");
      });
  });
  const ended = await Promise.race([ready, closed]);
  if (ended !== "ready") return { code: ended[0], output };
  await end(child);
  return { code: 0, output };
}
