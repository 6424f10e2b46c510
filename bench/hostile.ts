import { openBenchDatabase } from "./bench-database.js";
import { hostileCalls } from "./hostile/calls.js";
import { callInputs, hostileInputs } from "./hostile/inputs.js";
import { languageCalls } from "./hostile/language-calls.js";
import { type Measured, type MeasuredCall, measureCall, measureRule } from "./hostile/measure.js";
import { hostileRules } from "./hostile/rules.js";
import { workCalls } from "./hostile/work-calls.js";
import { printEnvironment, printLoad, printResult, printTable } from "./report.js";

/** `npm run bench:hostile -- recall` measures only what has "recall" in its name. */
const only = process.argv[2] ?? "";

const database = await openBenchDatabase();
const all: Measured[] = [];
const blocks: MeasuredCall[] = [];
try {
  printEnvironment(database);
  for (const rule of hostileRules.filter(({ name }) => name.includes(only))) {
    const measured: Measured[] = [];
    for (const input of rule.inputs ?? hostileInputs) measured.push(await measureRule(rule, input));
    all.push(...measured);
    show(rule.name, measured);
  }
  const { calls, close } = await hostileCalls(database);
  const work = await workCalls(database);
  for (const call of [...calls, ...work.calls].filter(({ name }) => name.includes(only))) {
    const measured: MeasuredCall[] = [];
    for (const input of callInputs) measured.push(await measureCall(call, input));
    blocks.push(...measured);
    show(call.name, measured);
  }
  await work.close();
  await close();
  const languages = await languageCalls(database);
  for (const call of languages.calls.filter(({ name }) => name.includes(only))) {
    const measured: MeasuredCall[] = [];
    for (const input of call.inputs) measured.push(await measureCall(call, input));
    blocks.push(...measured);
    show(call.name, measured);
  }
  await languages.close();
} finally {
  await database.close();
}
if (all.length + blocks.length === 0) throw new Error(`Nothing has "${only}" in its name.`);

const table = <Of extends Measured>(
  title: string,
  of: readonly Of[],
  columns: (slowest: Of) => Row,
) => {
  const rows = [...new Set(of.map(({ what }) => what))].map((what) => {
    const measured = of.filter((each) => each.what === what);
    const slowest = worst(measured, ({ longMs }) => longMs);
    const steepest = worst(measured, ({ growth }) => growth);
    return {
      what,
      inputs: measured.length,
      ...columns(slowest),
      of: `${slowest.input}${slowest.reckoned ? " (reckoned)" : ""}`,
      "most growth": steepest.growth,
      with: steepest.input,
    };
  });
  if (rows.length > 0) printTable(title, rows);
};
type Row = Readonly<Record<string, string | number>>;
table("Worst of each rule, in ms", all, ({ shortMs, longMs }) => ({
  "10 kB": shortMs,
  "100 kB": longMs,
}));
table("Longest block of each call, in ms", blocks, ({ shortMs, longMs, maxMs }) => {
  return { "100 kB": shortMs, "1 MB": longMs, "4 MB": maxMs };
});
const everything: readonly Measured[] = [...all, ...blocks];
const problems = everything.filter(({ problem }) => problem !== undefined);
for (const { what, input, problem } of problems) console.log(`${what} with ${input}: ${problem}`);
printLoad();
printResult({
  growth: worst(everything, ({ growth }) => growth).growth,
  worstBlockMs: Math.max(0, ...blocks.map(({ longMs }) => longMs)),
  problems: problems.length,
});
if (problems.length > 0) process.exitCode = 1;

function worst<Of extends Measured>(of: readonly Of[], measure: (measured: Of) => number): Of {
  return of.reduce((one, other) => (measure(other) > measure(one) ? other : one));
}

function show(what: string, measured: readonly Measured[]): void {
  const { longMs, input } = worst(measured, (each) => each.longMs);
  console.error(`${what}: at most ${longMs.toFixed(1)} ms (${input})`);
}
