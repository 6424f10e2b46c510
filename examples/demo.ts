import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createGate } from "../src/testing/index.js";
import { address, openShop } from "./demo/open-shop.js";
import { playRound, rounds } from "./demo/play-round.js";

// A supervisor with planner and executor over ten rounds, then another process on the same database.
// Nothing but this repository is needed: no key, no server. `npm run chat` talks to a real model.

console.log(`Ten rounds with a supervisor, its planner and its executor, on an embedded PostgreSQL.
All models are offline stand-ins that follow rules or a script.
A summary is "caught up" when the user paused long enough for it to be completed.
`);

const folder = mkdtempSync(join(tmpdir(), "mnemograph-demo-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
process.on("SIGINT", () => process.exit(130));

await firstProcess();
process.exitCode = secondProcess();

async function firstProcess(): Promise<void> {
  const summaries = createGate();
  const shop = await openShop(folder, summaries);
  const pause = async () => {
    summaries.open();
    await shop.memory.idle();
    summaries.close();
  };
  try {
    for (const [index, { says, afterPause }] of rounds.entries()) {
      if (afterPause) await pause();
      await playRound(shop, index + 1, says);
    }
    await pause();
    console.log("\nThe memory table, as it is in the database now:\n");
    console.log("| id | start_seq | end_seq | base_id | status    |");
    console.log("|----|-----------|---------|---------|-----------|");
    for (const { id, startSeq, endSeq, baseId, status } of await shop.memory.summaries.list(address)) {
      const cells = [
        `${id}`.padEnd(2),
        `${startSeq}`.padEnd(9),
        `${endSeq}`.padEnd(7),
        `${baseId}`.padEnd(7),
      ];
      console.log(`| ${cells.join(" | ")} | ${status} |`);
    }
  } finally {
    summaries.open();
    await shop.memory.close();
  }
}

/** Its exit code. */
function secondProcess(): number {
  console.log(`\nProcess ${process.pid} has closed the database. Another one opens it:\n`);
  const program = fileURLToPath(new URL("./demo/continue.ts", import.meta.url));
  const { status } = spawnSync(process.execPath, [...process.execArgv, program, folder], {
    stdio: "inherit",
  });
  return status ?? 1;
}
