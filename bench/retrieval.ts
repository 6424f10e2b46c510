import { openBenchDatabase } from "./bench-database.js";
import { printEnvironment, printLoad } from "./report.js";
import { benchmarks, runRetrieval } from "./retrieval/run-retrieval.js";

const words = process.argv.slice(2);
const hasVectors = words.includes("--vectors");
const [folder, ...names] = words.filter((word) => word !== "--vectors");
if (folder === undefined || !names.every((name) => benchmarks.includes(name))) {
  console.log(`npm run bench:retrieval -- FOLDER [NAME ...] [--vectors]

Measures what searches and recalls find. The data of the benchmarks are not part of this package:
FOLDER holds them, and what is not there is skipped. With --vectors also by the local model that
\`npm run test:model\` brings; turns are memories where nothing was learned. NAME selects some:

  locomo.json            LoCoMo (Maharana et al., ACL 2024; CC BY-NC 4.0),
  realtalk.json          REALTALK (danny911kr/REALTALK) and
  beam.json              BEAM (mohammadtavakoli78/BEAM), in the form of bench/retrieval/retrieval-data.ts
  realmem                zhiyuan5986/RealMemBench: dataset/*_dialogues_256k.json
  memdaily               nuster1128/MemSim: data_generation/final_dataset/messages_and_QAs/*_hybrid.json;
                         the first 50 trajectories of each kind are asked
  madial                 hejunqing/MADial-Bench: data/*/MADial-Bench-{en,zh}-{memory,dialogue}.json
  factconsolidation.json MemoryAgentBench (HUST-AI-HYZ/MemoryAgentBench), as Conflict_Resolution.json
                         of DSAIL-Memory/EvoMemBench has it
  precisionmembench      tenurehq/precisionMemBench: fixtures/{beliefs.seed,retrieval.cases}.json`);
} else {
  const database = await openBenchDatabase();
  try {
    printEnvironment(database);
    await runRetrieval(database, folder, names.length > 0 ? names : benchmarks, hasVectors);
    printLoad();
  } finally {
    await database.close();
  }
}
