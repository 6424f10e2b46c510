import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { docExamples, docPages } from "../../test/support/doc-pages.js";
import { freePort } from "../../test/support/free-port.js";
import { type InstallCase, queueProgram } from "./cases.js";

const run = promisify(execFile);
// pnpm asks its user first whether esbuild, which tsx brings, may run an install script.
const managers = {
  npm: ["npm", "install"],
  pnpm: ["pnpm", "add", "--config.strict-dep-builds=false"],
  yarn: ["yarn", "add"],
} as const;
/** Ends what hangs; a slow registry takes a minute. */
const timeoutMs = 600_000;

/** The environment of programs that use the embedded database. */
const { DATABASE_URL: databaseUrl, ...embedded } = process.env;

const peanuts = "The user is allergic to peanuts.";

/** Packages of this repository, by name: the paths of what npm packed. */
export type Archives = ReadonlyMap<string, string>;

/** Installs in an empty folder as a user would, and runs what the page prints. @throws what failed */
export async function tryInstall(archives: Archives, tried: InstallCase): Promise<void> {
  await inEmptyFolder(async (folder) => {
    const manager = tried.manager ?? "npm";
    if (tried.has.length > 0) await install(folder, manager, tried.has);
    await install(folder, manager, packagesOf(tried, archives));
    const { file, code, output } = firstProgram(tried.page);
    expectOutput(await runProgram(folder, file, code), output);
    if (tried.also === "queue") await queues(folder);
    if (tried.also === "serve") await serves(folder);
  });
}

/** A folder that has a package.json as `npm init` makes it, removed afterwards. */
export async function inEmptyFolder<Result>(
  work: (folder: string) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "mnemograph-install-"));
  try {
    writeFileSync(join(folder, "package.json"), '{ "name": "project", "version": "1.0.0" }\n');
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function install(
  folder: string,
  manager: keyof typeof managers,
  packages: readonly string[],
): Promise<void> {
  const [name, ...verb] = managers[manager];
  // npm starts the other managers in their newest version.
  const command = manager === "npm" ? [name, ...verb] : ["npx", "--yes", `${name}@latest`, ...verb];
  await runCommand(folder, [...command, ...packages]);
}

/** @throws with what the command printed, since its exit code alone explains nothing. */
export async function runCommand(
  folder: string,
  [command = "", ...args]: readonly string[],
  env: NodeJS.ProcessEnv = embedded,
): Promise<string> {
  try {
    const { stdout } = await run(command, args, {
      cwd: folder,
      env,
      timeout: timeoutMs,
      maxBuffer: 100_000_000,
    });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")}\n${stdout}${stderr}`, { cause: error });
  }
}

/** The packages of the page's install line, those of this repository as archives, without what the project has. */
function packagesOf({ page, has }: InstallCase, archives: Archives): string[] {
  const lines = installLines(page).length > 0 ? installLines(page) : installLines("README");
  const names = lines.flatMap((line) => line.split(/\s+/).slice(2));
  const nameOf = (spec: string) => spec.replace(/(?!^)@.*$/, "");
  const missing = names.filter((spec) => !has.some((had) => nameOf(had) === nameOf(spec)));
  return missing.map((spec) => archives.get(spec) ?? spec);
}

/** The lines `npm install …` of a page's first shell block, with their continuations. */
export function installLines(page: string): string[] {
  const [, block = ""] = /^```sh\n([\s\S]*?)^```/m.exec(pageText(page)) ?? [];
  const lines = block.replace(/\\\n/g, " ").replace(/#.*$/gm, "").split("\n");
  return lines.map((line) => line.trim()).filter((line) => line.startsWith("npm install"));
}

function pageText(page: string): string {
  const path = page === "README" ? "README.md" : `docs/${page}.md`;
  return readFileSync(resolve(import.meta.dirname, "../..", path), "utf8");
}

/** The first program of a page, the name that the page gives it, and what it prints. */
export function firstProgram(page: string): { file: string; code: string; output: string } {
  const text = pageText(page);
  const [, file = "first.mts"] = /npx tsx ([\w.-]+\.mts)/.exec(text) ?? [];
  if (page === "README") {
    const [, code = ""] = /<!-- example:start -->\s*```ts\n([\s\S]*?)```/.exec(text) ?? [];
    return { file, code, output: peanuts };
  }
  const [example] = docExamples(docPages().filter(({ path }) => path === `docs/${page}.md`));
  if (!example) throw new Error(`docs/${page}.md has no block "ts run".`);
  return { file, code: example.code, output: example.output ?? "" };
}

async function runProgram(
  folder: string,
  file: string,
  code: string,
  env?: NodeJS.ProcessEnv,
): Promise<string> {
  writeFileSync(join(folder, file), code);
  return await runCommand(folder, [process.execPath, "node_modules/tsx/dist/cli.mjs", file], env);
}

async function queues(folder: string): Promise<void> {
  if (!databaseUrl) return console.log("        DATABASE_URL is not set: no queue is tried.");
  expectOutput(await runProgram(folder, "queue.mts", queueProgram, process.env), peanuts);
}

function expectOutput(printed: string, expected: string): void {
  if (!printed.includes(expected.trim()))
    throw new Error(`It printed\n${printed}\ninstead of\n${expected}`);
}

/** Starts the HTTP server by the command line, and asks it once. */
async function serves(folder: string): Promise<void> {
  const port = await freePort();
  const main = "node_modules/@mnemograph/server/dist/cli/main.js";
  const child = spawn(process.execPath, [main, "serve", "--port", String(port)], {
    cwd: folder,
    env: embedded,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (text: Buffer) => {
      printed += text;
    });
  try {
    while (!printed.includes(String(port))) {
      if (child.exitCode !== null) throw new Error(printed);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const answer = await fetch(`http://127.0.0.1:${port}/openapi.json`);
    if (!answer.ok) throw new Error(`/openapi.json answered ${answer.status}.\n${printed}`);
  } finally {
    child.kill();
    if (child.exitCode === null) await once(child, "exit");
  }
}
