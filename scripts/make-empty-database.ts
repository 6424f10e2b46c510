import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { openEmbeddedPool } from "../src/postgres/embedded-pool.js";
import { emptyDatabaseName, windowBits } from "../src/postgres/empty-database.js";

/**
 * Puts an embedded database without tables into a built package, 1.3 MB: run after tsc, with the folder it built into.
 *
 * `npx tsx scripts/make-empty-database.ts dist`
 */
const built = process.argv[2] ?? "dist";
const { pool, engine, engineVersion, close } = openEmbeddedPool({});
await pool.query("checkpoint");
const dump = Buffer.from(await (await engine().dumpDataDir("none")).arrayBuffer());
await close();
if (engineVersion === undefined) throw new Error("The version of @electric-sql/pglite is not known.");
const path = join(built, emptyDatabaseName(engineVersion));
rmSync(path, { force: true });
writeFileSync(
  path,
  brotliCompressSync(dump, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 5,
      [constants.BROTLI_PARAM_LARGE_WINDOW]: 1,
      [constants.BROTLI_PARAM_LGWIN]: windowBits,
      [constants.BROTLI_PARAM_SIZE_HINT]: dump.length,
    },
  }),
);
