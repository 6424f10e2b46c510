import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compilers, resolutions } from "./cases.js";
import {
  type Archives,
  firstProgram,
  inEmptyFolder,
  install,
  installLines,
  runCommand,
} from "./project.js";

/** Pages whose first programs are compiled: together they use each way in. */
const pages = [
  "README",
  "state-graph",
  "supervisor",
  "teams",
  "http",
  "mcp",
  "ai-sdk",
  "deepagents",
];

/** Those that are compiled to CommonJS too: what else they import has declarations for it. */
const commonJsPages = ["README", "state-graph", "supervisor", "teams"];

/** What the pages' programs import besides what the first lines of the pages install. */
const others = [
  ...["@modelcontextprotocol/server", "@modelcontextprotocol/client", "hono"],
  ...["@types/node@24"],
];

export interface TypeCheck {
  readonly compiler: string;
  readonly resolution: string;
  readonly problems: readonly string[];
}

/**
 * Compiles the pages' first programs with each compiler under `strict`, declarations of packages
 * included; what other packages declare wrongly is not counted.
 */
export async function checkTypes(archives: Archives): Promise<TypeCheck[]> {
  return await inEmptyFolder(async (folder) => {
    const names = pages.flatMap((page) =>
      installLines(page).flatMap((line) => line.split(/\s+/).slice(2)),
    );
    const packages = [...new Set(names)].map((name) => archives.get(name) ?? name);
    const aliases = compilers.map((version) => `typescript-${version}@npm:typescript@${version}`);
    await install(folder, "npm", [...packages, ...aliases, ...others]);
    for (const page of pages) writeFileSync(join(folder, `${page}.mts`), firstProgram(page).code);
    for (const page of commonJsPages)
      writeFileSync(join(folder, `${page}.cts`), inFunction(firstProgram(page).code));
    const checks: TypeCheck[] = [];
    for (const compiler of compilers) {
      for (const resolution of resolutions)
        checks.push({
          compiler,
          resolution,
          problems: await problemsOf(folder, compiler, resolution),
        });
    }
    return checks;
  });
}

/** CommonJS knows no `await` outside of a function. */
function inFunction(code: string): string {
  const imports = code.match(/^import [^;]+;/gm) ?? [];
  const rest = imports.reduce((text, line) => text.replace(line, ""), code);
  return `${imports.join("\n")}\nexport async function main() {\n${rest}\n}\n`;
}

async function problemsOf(folder: string, compiler: string, moduleResolution: string) {
  const module = moduleResolution === "bundler" ? "esnext" : "nodenext";
  const compilerOptions = {
    ...{ strict: true, noEmit: true, target: "es2022", types: ["node"] },
    ...{ module, moduleResolution },
  };
  const include = ["*.mts"];
  // Before 5.8 a CommonJS program could not load ES modules, of which we depend on some.
  if (moduleResolution === "nodenext" && compiler !== "5.6") include.push("*.cts");
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, include }));
  const tsc = `node_modules/typescript-${compiler}/bin/tsc`;
  const printed = await runCommand(folder, [process.execPath, tsc]).catch(
    (error: Error) => error.message,
  );
  // A line `path(line,column): error …` for each; a crash prints none.
  const errors = printed.split("\n").filter((line) => /error TS\d+/.test(line));
  const isOurs = (line: string) =>
    !line.includes("node_modules/") || /node_modules\/@?mnemograph\//.test(line);
  return errors.filter(isOurs);
}
