import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { heading, tell } from "./demo/story.js";

// A supervisor with planner and executor over ten rounds, then another process on the same
// database, and an app. Nothing but this repository is needed: no key, no server. `npm run chat`
// talks to a real model.

heading("Mnemograph: a supervisor, a planner and an executor that remember");
tell(
  "No key and no server: all models are offline stand-ins that follow rules or a script. A summary is “caught up” when " +
    "the user paused long enough for it to be made. Numbers are those of messages.",
  "dim",
);
tell("An embedded PostgreSQL is created. Then five parts follow.");

const folder = mkdtempSync(join(tmpdir(), "mnemograph-demo-"));
process.on("exit", (code) => {
  // What came to nothing is nothing to look at.
  if (code !== 0) rmSync(folder, { recursive: true, force: true });
});
process.on("SIGINT", () => process.exit(130));

heading("1  Ten rounds, and a summary that slides along");
// Loaded when something stands there to read: it takes a second or two.
const { playFirstPart } = await import("./demo/first-part.js");
await playFirstPart(folder);

heading("2  Another process goes on");
tell(`Process ${process.pid} has closed the database; another opens it.`);
const program = fileURLToPath(new URL("./demo/continue.ts", import.meta.url));
const { status } = spawnSync(process.execPath, [...process.execArgv, program, folder], {
  stdio: "inherit",
});
process.exitCode = status ?? 1;

if (status === 0) {
  heading("5  Look at what it made");
  tell("Threads, summaries, memories and why they were shown, in a browser on this machine:");
  tell(`npx @mnemograph/server inspect --user ana --data-dir ${join(folder, "database")}`, "bold");
  tell("In a clone it is `npm run inspect --`. The folder is yours to delete.", "dim");
}
