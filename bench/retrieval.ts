import { existsSync } from "node:fs";
import { openBenchDatabase } from "./bench-database.js";
import { printEnvironment, printLoad } from "./report.js";
import { benchmarkFiles, runRetrieval } from "./retrieval/run-retrieval.js";

const [folder, ...names] = process.argv.slice(2);
const unknown = names.filter((name) => !benchmarkFiles.has(name));
if (folder === undefined || !existsSync(folder) || unknown.length > 0) {
  if (folder !== undefined && !existsSync(folder)) console.log(`There is no ${folder}.`);
  if (unknown.length > 0) console.log(`There is no benchmark ${unknown.join(", ")}.`);
  printUsage();
} else {
  const database = await openBenchDatabase();
  try {
    printEnvironment(database);
    await runRetrieval(database, folder, names.length > 0 ? names : [...benchmarkFiles.keys()]);
    printLoad();
  } finally {
    await database.close();
  }
}

/** The data are not part of this package. */
function printUsage(): void {
  const files = [...benchmarkFiles].map(([name, paths]) => `  ${name}: ${paths.join(", ")}`);
  console.log(
    `npm run bench:retrieval -- FOLDER [NAME ...]

Measures what searches and recalls find. FOLDER holds the data of the benchmarks, which are not part
of this package; a benchmark without data is skipped. NAME selects benchmarks. By name, with files:

${files.join("\n")}

LoCoMo (Maharana et al., ACL 2024; CC BY-NC 4.0), REALTALK (danny911kr/REALTALK) and BEAM
(mohammadtavakoli78/BEAM) are converted to the form of bench/retrieval/retrieval-data.ts. The others
are files of their GitHub repositories: zhiyuan5986/RealMemBench, nuster1128/MemSim (the first 50
trajectories of each kind), hejunqing/MADial-Bench, tenurehq/precisionMemBench, and, for
FactConsolidation of MemoryAgentBench, DSAIL-Memory/EvoMemBench.`,
  );
}
