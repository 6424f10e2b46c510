import { parseArgs } from "node:util";
import { openBenchDatabase } from "./bench-database.js";
import { checkWritten } from "./owners/check-written.js";
import { fillOwners } from "./owners/fill.js";
import { measureCalls, openSchemas } from "./owners/measure.js";
import { readsOfRecalls, sizesPerOwner } from "./owners/weigh.js";
import { printEnvironment, printLoad, printResult } from "./report.js";

/**
 * `npm run bench:owners [-- --owners N --memories M --keep]`: what an owner takes in the tables, and what recall and add
 * take of one among many beside the same owner among a hundred. Needs a server, in `DATABASE_URL`, and about 60 kB of its
 * disk for each owner of ten memories.
 */
const { values } = parseArgs({
  options: {
    owners: { type: "string", default: "1000000" },
    memories: { type: "string", default: "10" },
    keep: { type: "boolean", default: false },
  },
});
const [owners, memories] = [Number(values.owners), Number(values.memories)];
if (!(owners >= 100 && memories >= 1))
  throw new Error("Give --owners of 100 or more and --memories of 1 or more.");
if (!process.env.DATABASE_URL) throw new Error("Set DATABASE_URL to a PostgreSQL server with pgvector.");

const database = await openBenchDatabase();
try {
  printEnvironment(database);
  const schemas = await openSchemas(database, memories);
  const filled = await fillOwners(database, schemas, owners);
  await checkWritten(database, schemas);
  const sizes = await sizesPerOwner(database, filled);
  const calls = await measureCalls(schemas, filled);
  await schemas.close();
  const reads = await readsOfRecalls(database, schemas, filled);
  printLoad();
  printResult({ owners: filled.owners, memories, fillSeconds: filled.seconds, ...sizes, ...calls, ...reads });
} finally {
  if (values.keep) {
    console.log(`Kept: schema ${database.schema}`);
    await database.pool.end();
  } else await database.close();
}
