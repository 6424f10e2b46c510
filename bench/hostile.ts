import { openBenchDatabase } from "./bench-database.js";
import { hostileCalls } from "./hostile/calls.js";
import { callInputs, hostileInputs } from "./hostile/inputs.js";
import { type Measured, measureCall, measureRule } from "./hostile/measure.js";
import { hostileRules } from "./hostile/rules.js";
import { printEnvironment, printLoad, printResult, printTable } from "./report.js";

/** `npm run bench:hostile -- recall` measures only what has "recall" in its name. */
const only = process.argv[2] ?? "";

const database = await openBenchDatabase();
const all: Measured[] = [];
try {
  printEnvironment(database);
  for (const rule of hostileRules.filter(({ name }) => name.includes(only))) {
    const measured: Measured[] = [];
    for (const input of hostileInputs) measured.push(await measureRule(rule, input));
    all.push(...measured);
    show(rule.name, measured);
  }
  const { calls, close } = await hostileCalls(database);
  for (const call of calls.filter(({ name }) => name.includes(only))) {
    const measured: Measured[] = [];
    for (const input of callInputs) measured.push(await measureCall(call, input));
    all.push(...measured);
    show(call.name, measured);
  }
  await close();
} finally {
  await database.close();
}
if (all.length === 0) throw new Error(`Nothing has "${only}" in its name.`);

printTable(
  "Worst of each, in ms",
  [...new Set(all.map(({ what }) => what))].map((what) => {
    const of = all.filter((measured) => measured.what === what);
    const slowest = worst(of, ({ longMs }) => longMs);
    const steepest = worst(of, ({ growth }) => growth);
    return {
      ...{ what, inputs: of.length, "10 kB": slowest.shortMs, "100 kB": slowest.longMs },
      of: `${slowest.input}${slowest.reckoned ? " (reckoned)" : ""}`,
      ...{ "most growth": steepest.growth, with: steepest.input },
    };
  }),
);
const problems = all.filter(({ problem }) => problem !== undefined);
for (const { what, input, problem } of problems) console.log(`${what} with ${input}: ${problem}`);
printLoad();
printResult({
  growth: worst(all, ({ growth }) => growth).growth,
  worstBlockMs: worst(all, ({ longMs }) => longMs).longMs,
  problems: problems.length,
});
if (problems.length > 0) process.exitCode = 1;

function worst(of: readonly Measured[], measure: (measured: Measured) => number): Measured {
  return of.reduce((one, other) => (measure(other) > measure(one) ? other : one));
}

function show(what: string, measured: readonly Measured[]): void {
  const { longMs, input } = worst(measured, (each) => each.longMs);
  console.error(`${what}: at most ${longMs.toFixed(1)} ms (${input})`);
}
