import { openBenchDatabase } from "./bench-database.js";
import { energyShare } from "./notes/energy-share.js";
import { type NoteSizes, noteTimes } from "./notes/note-times.js";
import { printEnvironment, printLoad, printResult, printTable } from "./report.js";

const fullSizes: NoteSizes = { apps: 1_000, notesEach: 10, rounds: 200, warmUps: 20 };
const smallSizes: NoteSizes = { apps: 20, notesEach: 10, rounds: 10, warmUps: 2 };

/** `npm run bench:notes -- --small` only shows that the benchmark works: its times mean nothing. */
const sizes = process.argv.includes("--small") ? smallSizes : fullSizes;

/** Most of each, as it was asked for. */
const limits = { createP95Ms: 5_000, contextP95Ms: 100, energyShare: 0.05 } as const;

const database = await openBenchDatabase();
try {
  printEnvironment(database);
  const times = await noteTimes(database, sizes);
  const measured = { ...times, energyShare: await energyShare(database) };
  printTable(
    "App memories",
    Object.entries(limits).map(([what, most]) => {
      const value = measured[what as keyof typeof limits];
      return {
        what,
        measured: value.toPrecision(3),
        "at most": most,
        met: value <= most ? "yes" : "no",
      };
    }),
  );
  printLoad();
  printResult(measured);
} finally {
  await database.close();
}
