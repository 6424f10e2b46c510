import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

// How much longer a program takes to load with the package than with what it is built on alone:
// fresh processes in turn. `npm run build`, then `npm run bench:import [-- ROUNDS]`.

const built = resolve(import.meta.dirname, "../dist/index.js");
if (!existsSync(built)) throw new Error("There is no dist/: run `npm run build` first.");
const rounds = Number(process.argv[2] ?? 15);

/** What is imported, and a function of each that shows that it was. */
const bases: [module: string, name: string][] = [
  ["@langchain/langgraph", "StateGraph"],
  ["@langchain/langgraph-checkpoint-postgres", "PostgresSaver"],
  ["pg", "Pool"],
  ["zod", "z"],
];

/** Milliseconds that importing takes in a process of its own. */
function importMs(modules: readonly [module: string, name: string][]): number {
  const program = `
    const start = performance.now();
    const loaded = [${modules.map(([module]) => `await import(${JSON.stringify(module)})`)}];
    const ms = performance.now() - start;
    const names = ${JSON.stringify(modules.map(([, name]) => name))};
    for (const [index, name] of names.entries()) {
      if (!/function|object/.test(typeof loaded[index][name])) throw new Error(name + " was not loaded.");
    }
    console.log(ms);`;
  const options = ["--input-type=module", "--eval", program];
  return Number(
    execFileSync(process.execPath, options, { cwd: resolve(import.meta.dirname, "..") }),
  );
}

const median = (values: number[]) =>
  values.toSorted((one, other) => one - other)[values.length >> 1] as number;

const [own, base]: [number[], number[]] = [[], []];
for (let round = 0; round < rounds; round++) {
  own.push(importMs([[pathToFileURL(built).href, "createMemory"]]));
  base.push(importMs(bases));
}
const [ownMs, baseMs] = [median(own), median(base)];
console.log(
  `mnemograph ${ownMs.toFixed(0)} ms, LangGraph, its saver, pg and zod ${baseMs.toFixed(0)} ms: ratio ${(ownMs / baseMs).toFixed(2)}`,
);
