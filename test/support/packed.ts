import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, inject } from "vitest";
import { briefly } from "./compiled.js";
import { docExamples, docPages, repository } from "./doc-pages.js";

/** A folder with each package as `npm pack` makes it, built once for all test files. */
export async function packed(): Promise<string> {
  const folder = join(inject("compiled"), "../packed");
  const isReady = join(folder, "ready");
  try {
    mkdirSync(folder);
  } catch {
    while (!existsSync(isReady)) await wait(200);
    return folder;
  }
  for (const { name, home } of packages) pack(join(repository, home), join(folder, name));
  writeFileSync(isReady, "");
  return folder;
}

export const packages = [
  { name: "mnemograph", home: "." },
  { name: "@mnemograph/server", home: "packages/server" },
  { name: "@mnemograph/ai-sdk", home: "packages/ai-sdk" },
];

/** Puts the package whose sources are in `home` into `place`. */
function pack(home: string, place: string): void {
  const source = `${place}.source`;
  for (const path of ["package.json", "README.md", "migrations"]) {
    if (existsSync(join(home, path)))
      cpSync(join(home, path), join(source, path), { recursive: true });
  }
  const run = (script: string, ...args: string[]) =>
    execFileSync(process.execPath, [tsx, join("scripts", script), ...args], { cwd: repository });
  const dist = join(source, "dist");
  run("bundle.ts", home, dist);
  if (home === repository) run("make-empty-database.ts", dist);
  execFileSync("npm", ["pack", "--ignore-scripts"], { cwd: source });
  const [archive = ""] = readdirSync(source).filter((name) => name.endsWith(".tgz"));
  execFileSync("tar", ["xzf", archive], { cwd: source });
  renameSync(join(source, "package"), place);
}

const tsx = join(repository, "node_modules/tsx/dist/cli.mjs");

/**
 * An empty project that has the packages and what they can be used with installed; removed after the
 * tests of the file.
 */
export async function newProject(): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), "mnemograph-page-"));
  afterAll(() => rmSync(project, { recursive: true, force: true }));
  const installed = join(project, "node_modules");
  mkdirSync(installed);
  for (const name of readdirSync(join(repository, "node_modules"))) {
    if (!name.startsWith(".") && !/^@?mnemograph$/.test(name))
      symlinkSync(join(repository, "node_modules", name), join(installed, name));
  }
  const archives = await packed();
  for (const { name } of packages)
    cpSync(join(archives, name), join(installed, name), { recursive: true });
  writeFileSync(join(project, "package.json"), "{}"); // as `npm install` makes it: without a type of module
  return project;
}

/** The first program of a page, and what the page says that it prints. */
export function firstProgram(page: string): {
  readonly code: string;
  readonly output: string | null;
} {
  const [example] = docExamples(docPages().filter(({ path }) => path === `docs/${page}.md`));
  if (!example) throw new Error(`docs/${page}.md has no block "ts run".`);
  return example;
}

/**
 * What the first program of a page prints in an empty project under the page's name for it, on the
 * embedded database.
 */
export async function printedBy(page: string): Promise<string> {
  const project = await newProject();
  const { text = "" } = docPages().find(({ path }) => path === `docs/${page}.md`) ?? {};
  const [, file = ""] = /`npx tsx ([^`]+)`/.exec(text) ?? [];
  writeFileSync(join(project, file), firstProgram(page).code);
  const { DATABASE_URL: _, ...env } = process.env;
  const child = spawn(
    process.execPath,
    [...briefly, "--import", import.meta.resolve("tsx"), file],
    {
      cwd: project,
      env,
    },
  );
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  return code === 0 ? output : `${output}\n${errors}`;
}
