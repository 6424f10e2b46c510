import { openBenchDatabase } from "./bench-database.js";
import { checkpointGrowth } from "./checkpoint-growth.js";
import { turnCost } from "./turn-cost.js";

const database = await openBenchDatabase();
console.log(`Database: ${database.name}`);
try {
  const cost = await turnCost(database);
  const growth = await checkpointGrowth(database);
  console.log();
  console.log(JSON.stringify({ ...growth, ...cost }));
} finally {
  await database.close();
}
