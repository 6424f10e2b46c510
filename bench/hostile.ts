import { openBenchDatabase } from "./bench-database.js";
import { hostileCalls } from "./hostile/calls.js";
import { hostileInputs } from "./hostile/inputs.js";
import { type Measured, measureCall, measureRule } from "./hostile/measure.js";
import { hostileRules } from "./hostile/rules.js";
import { printTable } from "./report.js";

/** Inputs for calls, which take longer than rules: one of each kind of trouble. */
const forCalls = new Set([
  "a letter",
  "empty lines",
  "different words",
  "different ideographs",
  "marks",
  "tags of memory",
  "open tags",
  "ligatures",
  "halves",
  "escapes",
]);

/** `npm run bench:hostile -- recall` measures only what has "recall" in its name. */
const only = process.argv[2] ?? "";

const database = await openBenchDatabase();
console.log(`Database: ${database.name}`);
const rules: Measured[] = [];
const calls: Measured[] = [];
try {
  for (const rule of hostileRules.filter(({ name }) => name.includes(only))) {
    const measured: Measured[] = [];
    for (const input of hostileInputs) measured.push(await measureRule(rule, input));
    rules.push(...measured);
    show(rule.name, measured);
  }
  const hostile = await hostileCalls(database);
  for (const call of hostile.calls.filter(({ name }) => name.includes(only))) {
    const measured: Measured[] = [];
    for (const input of hostileInputs) {
      if (forCalls.has(input.name)) measured.push(await measureCall(call, input));
    }
    calls.push(...measured);
    show(call.name, measured);
  }
  await hostile.close();
} finally {
  await database.close();
}

const all = [...rules, ...calls];
printTable(
  "Worst of each, in ms",
  [...new Set(all.map(({ what }) => what))].map((what) => {
    const of = all.filter((measured) => measured.what === what);
    const slowest = worst(of, ({ longMs }) => longMs);
    const steepest = worst(of, ({ growth }) => growth);
    return {
      what,
      "10 kB": slowest.shortMs,
      "100 kB": slowest.longMs,
      of: `${slowest.input}${slowest.reckoned ? " (reckoned)" : ""}`,
      "most growth": steepest.growth,
      with: steepest.input,
    };
  }),
);
const problems = all.filter(({ problem }) => problem !== undefined);
for (const { what, input, problem } of problems) console.log(`${what} with ${input}: ${problem}`);
const result = {
  growth: worst(all, ({ growth }) => growth).growth,
  worstBlockMs: worst(all, ({ longMs }) => longMs).longMs,
  problems: problems.length,
};
console.log(`\n${JSON.stringify(result)}`);
if (problems.length > 0) process.exitCode = 1;

function worst(of: readonly Measured[], measure: (measured: Measured) => number): Measured {
  return of.reduce((one, other) => (measure(other) > measure(one) ? other : one));
}

function show(what: string, measured: readonly Measured[]): void {
  const { longMs, input } = worst(measured, (each) => each.longMs);
  console.error(`${what}: at most ${longMs.toFixed(1)} ms (${input})`);
}
