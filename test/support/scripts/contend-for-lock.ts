/**
 * Takes and gives back the lock of a data directory over and over, in competition with its like.
 *
 * argv: dataDir, times. Every other time it leaves the lock as a killed process would. Prints "held
 * N".
 */
import { linkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { MemoryError } from "../../../src/errors.js";
import { lockDataDirectory } from "../../../src/postgres/data-directory.js";

const [dataDir = "", times = "0"] = process.argv.slice(2);
const inside = join(dataDir, "inside");
const own = join(dataDir, `own-${process.pid}`);
writeFileSync(own, "");

let held = 0;
while (held < Number(times)) {
  try {
    const unlock = lockDataDirectory(dataDir);
    held++;
    // Exclusive: fails when another process is inside as well.
    linkSync(own, inside);
    rmSync(inside);
    if (held % 2 === 0) unlock();
    else abandon();
  } catch (error) {
    if (!MemoryError.is(error, "DATA_DIRECTORY_LOCKED")) throw error;
  }
}
console.log(`held ${held}`);

/** A process that was killed leaves a lock with an id that nobody has. */
function abandon(): void {
  const left = join(dataDir, `left-${process.pid}`);
  writeFileSync(left, JSON.stringify({ pid: 2 ** 30, host: hostname(), startedAt: "1" }));
  renameSync(left, join(dataDir, "mnemograph.lock"));
}
