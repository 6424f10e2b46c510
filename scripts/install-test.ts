import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { installCases } from "./install/cases.js";
import { checkTypes } from "./install/check-types.js";
import { tryInstall } from "./install/project.js";

// Installs the packed packages beside what projects have, each in an empty folder by the page's own
// install line, and runs the page's first program; then compiles these programs with each supported
// compiler. Needs `npm run build`, and the registry.
//   npm run test:install [-- --all] [-- WORD]    --all: every pair and compiler; without it, what CI
//                                                runs. WORD: the pairs that have it in their name

const isAll = process.argv.includes("--all");
const word = process.argv.slice(2).find((argument) => !argument.startsWith("--"));
const folder = mkdtempSync(join(tmpdir(), "mnemograph-packed-"));
let failures = 0;

/** Packs the package in `home`, and returns the archive's path. */
function packIn(home: string): string {
  const pack = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const [{ filename }] = JSON.parse(execFileSync("npm", pack, { cwd: home, encoding: "utf8" }));
  return join(folder, filename);
}

/** Runs one row of the table and prints it. */
async function row(name: string, work: () => Promise<void>): Promise<void> {
  const start = Date.now();
  let problem = "";
  try {
    await work();
  } catch (error) {
    failures++;
    problem = error instanceof Error ? error.message : String(error);
  }
  const seconds = ((Date.now() - start) / 1_000).toFixed(0);
  console.log(`${problem ? "FAILED" : "ok    "}  ${seconds.padStart(4)} s  ${name}`);
  if (problem) console.log(problem.replace(/^/gm, "    "));
}

try {
  // 1. Packed once, for all rows.
  const root = resolve(import.meta.dirname, "..");
  const archives = new Map<string, string>();
  for (const home of [".", "packages/server", "packages/ai-sdk"]) {
    const { name } = JSON.parse(readFileSync(join(root, home, "package.json"), "utf8"));
    archives.set(name, packIn(join(root, home)));
  }
  console.log(`Node ${process.version}. The packages are installed after:`);

  // 2. Beside what projects have.
  for (const tried of installCases) {
    const name = `${tried.has.join(" ") || "nothing"}, by ${tried.manager ?? "npm"} (${tried.page})`;
    const isChosen = word === undefined ? isAll || tried.inCi : name.includes(word);
    if (isChosen) await row(name, () => tryInstall(archives, tried));
  }

  // 3. Its types.
  if (isAll && word === undefined) {
    for (const { compiler, resolution, problems } of await checkTypes(archives))
      await row(`TypeScript ${compiler}, moduleResolution ${resolution}`, async () => {
        if (problems.length > 0) throw new Error(problems.join("\n"));
      });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? "All green." : `${failures} failed.`);
process.exitCode = failures === 0 ? 0 : 1;
