import { mkdirSync, realpathSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { openEmbeddedPool } from "../src/postgres/embedded-pool.js";
import { emptyDatabaseName, windowBits } from "../src/postgres/empty-database.js";

/** Puts an embedded database without tables into `folder`, 1.3 MB; from where new ones start. */
export async function makeEmptyDatabase(folder: string): Promise<void> {
  const { pool, engine, engineVersion, close } = openEmbeddedPool({});
  await pool.query("checkpoint");
  const dump = Buffer.from(await (await engine().dumpDataDir("none")).arrayBuffer());
  await close();
  if (engineVersion === undefined)
    throw new Error("The version of @electric-sql/pglite is not known.");
  const path = join(folder, emptyDatabaseName(engineVersion));
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: 5,
    [constants.BROTLI_PARAM_LARGE_WINDOW]: 1,
    [constants.BROTLI_PARAM_LGWIN]: windowBits,
    [constants.BROTLI_PARAM_SIZE_HINT]: dump.length,
  };
  mkdirSync(folder, { recursive: true });
  // Another process may read it, or make it too.
  writeFileSync(`${path}.${process.pid}`, brotliCompressSync(dump, { params }));
  renameSync(`${path}.${process.pid}`, path);
}

// Run after tsc, with the folder that it built into: `npx tsx scripts/make-empty-database.ts dist`
const [, program, folder = "dist"] = process.argv;
if (program && import.meta.url === pathToFileURL(realpathSync(program)).href)
  await makeEmptyDatabase(folder);
