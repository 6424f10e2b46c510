import { execFileSync, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
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

/** A folder with the package as `npm pack` makes it, built once for all test files. */
async function packed(): Promise<string> {
  const folder = join(inject("compiled"), "../packed");
  const isReady = join(folder, "ready");
  try {
    mkdirSync(folder);
  } catch {
    while (!existsSync(isReady)) await wait(200);
    return join(folder, "package");
  }
  const source = join(folder, "source");
  for (const path of ["package.json", "README.md", "migrations"]) {
    cpSync(join(repository, path), join(source, path), { recursive: true });
  }
  const tsx = join(repository, "node_modules/tsx/dist/cli.mjs");
  for (const script of ["bundle", "make-empty-database"]) {
    execFileSync(process.execPath, [tsx, `scripts/${script}.ts`, join(source, "dist")], {
      cwd: repository,
    });
  }
  execFileSync("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: source });
  const [archive = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  execFileSync("tar", ["xzf", archive], { cwd: folder });
  writeFileSync(isReady, "");
  return join(folder, "package");
}

/**
 * An empty project that has the package and what it can be used with installed; removed after the
 * tests of the file.
 */
export async function newProject(): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), "mnemograph-page-"));
  afterAll(() => rmSync(project, { recursive: true, force: true }));
  const installed = join(project, "node_modules");
  mkdirSync(installed);
  for (const name of readdirSync(join(repository, "node_modules"))) {
    if (!name.startsWith("."))
      symlinkSync(join(repository, "node_modules", name), join(installed, name));
  }
  cpSync(await packed(), join(installed, "mnemograph"), { recursive: true });
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
