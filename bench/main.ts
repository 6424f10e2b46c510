import { openBenchDatabase } from "./bench-database.js";
import { checkpointGrowth } from "./checkpoint-growth.js";
import { printEnvironment, printLoad, printResult } from "./report.js";
import { turnCost } from "./turn-cost.js";

const database = await openBenchDatabase();
try {
  printEnvironment(database);
  const cost = await turnCost(database);
  const growth = await checkpointGrowth(database);
  printLoad();
  printResult({ ...growth, ...cost });
} finally {
  await database.close();
}
